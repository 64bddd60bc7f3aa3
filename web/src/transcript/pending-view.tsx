import { useController, usePageState } from "../page-context.ts";
import type { LiveTurn, PendingMessage } from "../state/state.ts";
import { UserMessage } from "./user-message.tsx";

export function PendingView({ message, live }: { message: PendingMessage; live: LiveTurn | undefined }) {
  const controller = useController();
  const isOnline = usePageState(({ link }) => link.state === "open");
  const { id, problem } = message;
  return (
    <div className="pending" data-failed={problem !== undefined}>
      <UserMessage text={message.text} />
      {problem === undefined ? (
        <p className="pending-state">{stateText(message, live, isOnline)}</p>
      ) : (
        <p className="pending-state problem" role="alert">
          {problem}
          <button type="button" className="quiet" onClick={() => controller.chat.retry(id)}>
            Try again
          </button>
          <button type="button" className="quiet" onClick={() => controller.chat.discard(id)}>
            Discard
          </button>
        </p>
      )}
    </div>
  );
}

function stateText({ itemId, hasEnded }: PendingMessage, live: LiveTurn | undefined, isOnline: boolean): string {
  if (itemId === undefined) return isOnline ? "Sending…" : "Is sent when the gateway is back";
  if (hasEnded === true || (live !== undefined && itemId <= live.itemId)) return "";
  return live === undefined ? "Received" : "Queued: answered after the present one";
}
