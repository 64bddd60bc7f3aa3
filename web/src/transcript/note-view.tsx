import { Markdown } from "../markdown/markdown.tsx";
import type { Note } from "../state/state.ts";
import { UserMessage } from "./user-message.tsx";

/** What stands in no transcript: a command and its answer, a turn that failed before it began. */
export function NoteView({ note: { question, text, kind } }: { note: Note }) {
  return (
    <>
      {question !== undefined && <UserMessage text={question} />}
      {kind === "answer" && text !== "" && (
        <article className="message aside" aria-label="Holdfast">
          <Markdown text={text} />
        </article>
      )}
      {kind === "stopped" && <p className="mark">Stopped</p>}
      {kind === "failed" && (
        <div className="error-box">
          <p>{text}</p>
        </div>
      )}
    </>
  );
}
