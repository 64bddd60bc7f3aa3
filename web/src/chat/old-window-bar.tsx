import { useController, usePageState } from "../page-context.ts";
import { HistoryIcon } from "../parts/icons.tsx";
import { fullTime } from "../parts/time.ts";

/** Nothing can be said in an earlier window, and nobody shall try. */
export function OldWindowBar({ sessionKey, windowId }: { sessionKey: string; windowId: string }) {
  const controller = useController();
  const shown = usePageState(({ windows }) => windows?.windows.find(({ sessionId }) => sessionId === windowId));
  return (
    <div className="old-window" role="status">
      <HistoryIcon />
      <p>
        <strong>Old window.</strong> {shown === undefined ? "" : `${span(shown.openedAt, shown.closedAt)}. `}
        <span className="wide-only">It can be read, not continued.</span>
      </p>
      <button type="button" onClick={() => controller.open({ key: sessionKey })}>
        Back to the current window
      </button>
    </div>
  );
}

function span(openedAt: number, closedAt: number | undefined): string {
  return closedAt === undefined ? `Begun ${fullTime(openedAt)}` : `Closed ${fullTime(closedAt)}`;
}
