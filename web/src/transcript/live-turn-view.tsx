/** The running turn, as its events arrive, and messages that are not in the transcript yet. */
import { useController, usePageState } from "../page-context.ts";
import { Button } from "../parts/button.tsx";
import { Markdown } from "../parts/markdown.tsx";
import type { LivePart, LiveTurn, PendingMessage } from "../state/state.ts";
import { UserMessage } from "./item-view.tsx";

export function LiveTurnView({ turn }: { turn: LiveTurn }) {
  const { parts, isWhole, isStopping, hasEnded } = turn;
  const last = parts.at(-1);
  const isWaiting = !hasEnded && (last === undefined || last.kind !== "text");
  return (
    <article className="message assistant live" aria-label="Agent" data-ended={hasEnded}>
      {!isWhole && parts.length > 0 && <p className="mark">The beginning is shown when the answer is complete.</p>}
      {parts.map((part, index) => (
        // Parts are only added at the end.
        <PartView key={index} part={part} />
      ))}
      {isStopping && !hasEnded ? (
        <p className="mark">Stopping…</p>
      ) : (
        isWaiting && (
          <p className="working" role="status">
            <span className="dots" aria-hidden="true">
              <i />
              <i />
              <i />
            </span>
            <span className="hidden">The agent is answering</span>
          </p>
        )
      )}
    </article>
  );
}

function PartView({ part }: { part: LivePart }) {
  switch (part.kind) {
    case "text":
      return <Markdown text={part.text} />;
    case "tool":
      return (
        <p className="live-tool" data-state={part.state}>
          <span className="tool-name">{part.name}</span>
          <span className="tool-state">{part.state === "running" ? "running…" : part.state}</span>
        </p>
      );
    case "notice":
      return <p className="aside">{part.text}</p>;
    case "compaction":
      return <p className="mark">{part.isOver ? "The context was shortened" : "Shortening the context…"}</p>;
    default:
      return part satisfies never;
  }
}

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
          <Button onClick={() => controller.chat.retry(id)}>Try again</Button>
          <Button onClick={() => controller.chat.discard(id)}>Discard</Button>
        </p>
      )}
    </div>
  );
}

function stateText({ itemId, hasEnded }: PendingMessage, live: LiveTurn | undefined, isOnline: boolean): string {
  if (itemId === undefined) return isOnline ? "Sending…" : "Will be sent when the gateway is back";
  if (hasEnded === true || (live !== undefined && itemId <= live.itemId)) return "";
  return live === undefined ? "Received" : "Queued: answered after the current message";
}
