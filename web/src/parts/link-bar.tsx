/** Says that the gateway is away, for as long as it is. */
import { useEffect, useState } from "react";
import { useController, usePageState } from "../page-context.ts";

/** A connection that is back at once is not worth a word. */
const GRACE_MS = 300;

export function LinkBar() {
  const controller = useController();
  const link = usePageState((state) => state.link);
  const isDown = link.state === "waiting" || link.state === "connecting";
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(isDown), isDown ? GRACE_MS : 0);
    return () => clearTimeout(timer);
  }, [isDown]);
  if (!isShown || !isDown) return null;
  return (
    <div className="link-bar" role="status">
      <span className="spinner" aria-hidden="true" />
      <span>
        {link.state === "waiting" ? "The gateway cannot be reached. Connecting again by itself" : "Connecting"}…
      </span>
      {link.state === "waiting" && (
        <button type="button" className="quiet" onClick={() => controller.retryNow()}>
          Try now
        </button>
      )}
    </div>
  );
}
