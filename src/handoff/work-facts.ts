/** Facts about the work, from tools and to-do lists alone: no sentence is read, so they are right in every language. */
import { redactText } from "../base/redact.ts";
import { printableLine } from "../base/text.ts";
import { excerpt } from "./patterns/content.ts";
import type { CarriedState, Digest, Run, SessionState, SummaryItem } from "./state.ts";

const MOST_FILES = 6;
const MOST_LINES = 3;

/** Counts, names and hashes, which the lines of the sections do not have. */
export function workFacts(carried: CarriedState, digests: readonly Digest[], project: string): SummaryItem[] {
  return [
    ...todoFact(carried, project),
    ...failureFact(digests),
    ...commitFacts(digests),
    ...editedFact(digests),
    ...pullRequestFact(digests),
  ];
}

function todoFact({ todos }: CarriedState, project: string): SummaryItem[] {
  if (todos === undefined || todos.project !== project || todos.items.length === 0) return [];
  const done = todos.items.filter(({ status }) => status === "completed").length;
  const { entryId, timestamp } = todos;
  return [{ kind: "todo", text: `${done} of ${todos.items.length} to-dos done`, entryId, timestamp }];
}

/** Open to-dos, those begun first. */
export function openTodos(
  { todos }: CarriedState,
  project: string,
): Pick<SummaryItem, "text" | "entryId" | "timestamp">[] {
  if (todos === undefined || todos.project !== project) return [];
  const { entryId, timestamp } = todos;
  const open = todos.items.filter(({ text, status }) => text !== "" && status !== "completed");
  const begun = open.filter(({ status }) => status === "in_progress");
  const pending = open.filter(({ status }) => status !== "in_progress");
  return [...begun, ...pending].slice(0, MOST_LINES).map(({ text }) => ({ text, entryId, timestamp }));
}

function failureFact(digests: readonly Digest[]): SummaryItem[] {
  const failure = openFailure(digests);
  if (failure === undefined) return [];
  const { command, entryId, timestamp } = failure.run;
  return [
    {
      kind: "failure",
      // Not an excerpt: underscores in a command are no markup.
      text: printableLine(`\`${command.replaceAll("`", "'")}\` failed and did not pass since`, 200),
      entryId,
      timestamp,
    },
  ];
}

/** Programs that only look: that they find nothing is no failure. */
const LOOKS =
  /^(?:grep|rg|ls|cat|find|which|diff|head|tail|test|stat|ps|pgrep|echo|pwd|wc|file|type|command|git (?:diff|log|status|show|grep|branch))\b/;

/** The last failure that was not seen to pass since. */
export function openFailure(digests: readonly Digest[]): { run: Run; digest: Digest } | undefined {
  const passed = new Set<string>();
  for (const digest of digests.toReversed()) {
    for (const run of (digest.runs ?? []).toReversed()) {
      const name = programOf(run.command);
      if (LOOKS.test(name)) continue;
      if (!run.failed) passed.add(name).add(name.split(" ")[0] ?? name);
      else if (!passed.has(name) && passed.size === 0) return { run, digest };
    }
  }
  return undefined;
}

/** The program and what it is asked to do: `FOO=1 cd x && npm test -- --watch` → `npm test`. */
function programOf(command: string): string {
  const part = command.split(/\s*(?:&&|;|\|\|)\s*/).find((one) => !/^(?:cd|export|set|source)\b/.test(one));
  const words = (part ?? command).replace(/^(?:\w+=\S*\s+)+/, "").split(/\s+/);
  const sub = words[1] !== undefined && /^[a-z][\w:-]*$/i.test(words[1]) ? ` ${words[1]}` : "";
  return `${words[0] ?? ""}${sub}`;
}

function commitFacts(digests: readonly Digest[]): SummaryItem[] {
  const commits = digests.flatMap((digest) => digest.commits ?? []);
  return commits.slice(-3).map(({ hash, branch, entryId, timestamp }) => {
    return { kind: "commit", text: excerpt(`${hash} on ${branch}`), entryId, timestamp };
  });
}

/** Files edited since the last commit. */
function editedFact(digests: readonly Digest[]): SummaryItem[] {
  const lastCommit = digests.findLastIndex(({ commits }) => commits !== undefined);
  const since = digests.slice(Math.max(0, lastCommit)).filter(({ edits }) => edits !== undefined);
  const last = since.at(-1);
  if (last === undefined) return [];
  const files = Array.from(new Set(since.flatMap(({ edits }) => edits ?? [])));
  const names = files.slice(-MOST_FILES).map((file) => file.split("/").slice(-2).join("/"));
  const more = files.length - names.length;
  const text = `Edited, no commit seen since: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return [{ kind: "edited", text: excerpt(text), entryId: last.entryId, timestamp: last.timestamp }];
}

function pullRequestFact(digests: readonly Digest[]): SummaryItem[] {
  const digest = digests.findLast(({ pullRequest }) => pullRequest !== undefined);
  if (digest?.pullRequest === undefined) return [];
  return [{ kind: "pull-request", text: digest.pullRequest, entryId: digest.entryId, timestamp: digest.timestamp }];
}

/** How the answer to the last request ended, if it did not complete it. */
export const UNANSWERED = {
  none: "The last message was not answered.",
  cut: "The last answer was cut short.",
} as const;

const WORK_KINDS: ReadonlySet<string> = new Set(["edited", "commit", "failure", "todo"]);

/** Adds the branch as a fact. */
export function withBranch(
  { items, carried, lastMessageAt }: Pick<SessionState, "items" | "carried" | "lastMessageAt">,
  branch: string | undefined,
): SummaryItem[] {
  const last = carried.digests.at(-1);
  const isWork = items.some(({ kind }) => WORK_KINDS.has(kind));
  if (branch === undefined || branch === "HEAD" || last === undefined || !isWork) return items;
  const text = printableLine(redactText(branch), 120);
  return [...items, { kind: "branch", text, entryId: last.entryId, timestamp: lastMessageAt }];
}
