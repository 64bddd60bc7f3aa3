/** The turn that runs, as it is told. */
import { Markdown } from "../markdown/markdown.tsx";
import type { LivePart, LiveTurn } from "../state/state.ts";

export function LiveTurnView({ turn }: { turn: LiveTurn }) {
  const { parts, isWhole, isStopping, hasEnded } = turn;
  const last = parts.at(-1);
  const isWaiting = !hasEnded && (last === undefined || last.kind !== "text");
  return (
    <article className="message assistant live" aria-label="Agent" data-ended={hasEnded}>
      {!isWhole && parts.length > 0 && <p className="mark">Its first words are shown when it is done.</p>}
      {parts.map((part, index) => (
        // Parts are only ever added at the end.
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
