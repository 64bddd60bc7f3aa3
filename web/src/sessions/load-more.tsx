/** Stands at the end of the list and reads the next page when it comes near. */
import { useEffect, useRef } from "react";
import { useController, usePageState } from "../page-context.ts";

export function LoadMore({ shown, total }: { shown: number; total: number }) {
  const controller = useController();
  const isLoading = usePageState(({ sessions }) => sessions.isLoading);
  const problem = usePageState(({ sessions }) => sessions.problem);
  const mark = useRef<HTMLDivElement>(null);
  const isWanted = shown < total && problem === undefined;
  useEffect(() => {
    if (mark.current === null || !isWanted) return undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting === true) void controller.sessions.loadMore();
      },
      { root: mark.current.closest(".session-scroll"), rootMargin: "800px" },
    );
    watcher.observe(mark.current);
    return () => watcher.disconnect();
    // Watched anew after each page: the mark may be near still.
  }, [controller, isWanted, shown, isLoading]);

  if (problem !== undefined) {
    return (
      <div className="list-note problem" role="alert">
        {problem}
        <button type="button" className="quiet" onClick={() => void controller.sessions.refresh()}>
          Try again
        </button>
      </div>
    );
  }
  if (!isWanted) return null;
  return (
    <div ref={mark} className="list-note">
      {shown} of {total}
    </div>
  );
}
