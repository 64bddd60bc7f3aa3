/** Conversations, Claude Code sessions and memory files that contain the words of the search field. */
import { type ReactNode, useState } from "react";
import { errorMessage } from "../../../src/base/errors.ts";
import { useController, usePageState } from "../page-context.ts";
import { CopyButton } from "../parts/markdown.tsx";
import { RowHead } from "../parts/time.tsx";
import type { FoundSession } from "../state/state.ts";

export function FoundList() {
  const found = usePageState((state) => state.found);
  if (found === undefined) return <p className="list-note">Searching…</p>;
  if ("problem" in found) {
    return (
      <p className="list-note problem" role="alert">
        {found.problem}
      </p>
    );
  }
  const { results, note, total } = found;
  return (
    <section className="session-group" aria-label="Found">
      <h2>{results.length === 0 ? "Nothing found in messages" : "In messages"}</h2>
      <ul>
        {results.map((result) => (
          <FoundRow key={result.path} found={result} />
        ))}
      </ul>
      {total > results.length && (
        <p className="list-note">
          {results.length} of {total}. More words narrow it down.
        </p>
      )}
      {note !== undefined && <p className="list-note">{note}</p>}
    </section>
  );
}

/** A chat opens at the passage. The page cannot show other sessions and files, so they unfold their commands. */
function FoundRow({ found }: { found: FoundSession }) {
  const controller = useController();
  const [isUnfolded, setUnfolded] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isChat = found.in === "chats";
  const open = (): void => {
    if (isChat) controller.openFound(found).catch((error: unknown) => setProblem(errorMessage(error)));
    else setUnfolded(!isUnfolded);
  };
  return (
    <li className="found">
      <button type="button" className="session-row" aria-expanded={isChat ? undefined : isUnfolded} onClick={open}>
        <RowHead title={found.title === "" ? "(no title)" : found.title} at={Date.parse(found.at ?? "")} />
        <span className="row-preview">{originText(found)}</span>
        {found.passages.map(({ role, line, text }) => (
          <span key={line} className="passage" data-role={role} dir="auto">
            {withMarks(text)}
          </span>
        ))}
      </button>
      {isUnfolded && <Commands found={found} />}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

function originText({ in: place, agentId, repo, branch, archived }: FoundSession): string {
  const origin = { chats: "Chat", claude: "Claude Code", memory: "Memory" }[place];
  const folder = repo?.split("/").findLast((name) => name !== "");
  const facts = [origin, agentId, place === "claude" ? folder : undefined, branch, archived && "archived"];
  return facts.filter((fact) => fact !== undefined).join(" · ");
}

/** Matches are between `**`. */
function withMarks(text: string): ReactNode[] {
  return text.split("**").map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}

function Commands({ found: { open, path, passages } }: { found: FoundSession }) {
  const { show, resume } = open;
  const commands = [show, resume].flatMap((words) => (words === undefined ? [] : [["holdfast", ...words].join(" ")]));
  const lines = commands.length === 0 ? [`${path}:${passages[0]?.line ?? 1}`] : commands;
  return (
    <ul className="commands">
      {lines.map((line) => (
        <li key={line}>
          <code>{line}</code>
          <CopyButton text={line} label={`Copy ${line}`} />
        </li>
      ))}
    </ul>
  );
}
