/** Facts as items of their own kinds. They say what the lines of the sections do not: counts, names, hashes. */
import { printableLine } from "../../base/text.ts";
import { excerpt } from "../patterns/content.ts";
import type { CarriedState, SummaryItem } from "../state.ts";
import type { Conversation, Turn } from "./conversation.ts";
import { isRequest } from "./cues.ts";

const MOST_FILES = 6;

export function factItems(carried: CarriedState, conversation: Conversation, project: string): SummaryItem[] {
  return [
    ...requestFact(conversation),
    ...todoFact(carried, project),
    ...failureFact(conversation),
    ...commitFacts(conversation),
    ...editedFact(conversation),
    ...pullRequestFact(conversation),
  ];
}

/** The last request, if no completed answer followed. */
function requestFact({ turns, outcomeOf, failure }: Conversation): SummaryItem[] {
  const last = turns.findLast(({ digest, isChat }) => digest.role === "user" && !isChat && digest.sentences > 0);
  if (last === undefined || isRemark(last)) return [];
  const { entryId, timestamp } = last.digest;
  const outcome = outcomeOf(last);
  // Words of trouble are not a fact; a failed command is.
  if (outcome === "failed" && failure === undefined) return [];
  const text = REQUESTS[outcome];
  return text === undefined ? [] : [{ kind: "request", text, entryId, timestamp }];
}

/** Praise, or a statement: nobody has to answer it. In other languages, a statement cannot be told from a request. */
function isRemark({ agrees, asks, spoken }: Turn): boolean {
  const isRequesting = spoken.some(({ said }) => isRequest(said.text) || said.scores === undefined);
  return !asks && !isRequesting && (agrees || spoken.every(({ said }) => (said.scores?.[TASK] ?? 0) < 0));
}

/** Of a sentence's scores: asks for a piece of work. */
const TASK = 3;

const REQUESTS: Partial<Record<string, string>> = {
  none: "The last message was not answered.",
  cut: "The last answer was cut short.",
  asked: "The agent asked back and got no answer.",
  failed: "The last answer ended with a failure.",
};

function todoFact({ todos }: CarriedState, project: string): SummaryItem[] {
  if (todos === undefined || todos.project !== project || todos.items.length === 0) return [];
  const done = todos.items.filter(({ status }) => status === "completed").length;
  const { entryId, timestamp } = todos;
  return [{ kind: "todo", text: `${done} of ${todos.items.length} to-dos done`, entryId, timestamp }];
}

function failureFact({ failure }: Conversation): SummaryItem[] {
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

function commitFacts({ turns }: Conversation): SummaryItem[] {
  const commits = turns.flatMap(({ digest }) => digest.commits ?? []);
  return commits.slice(-3).map(({ hash, branch, entryId, timestamp }) => {
    return { kind: "commit", text: excerpt(`${hash} on ${branch}`), entryId, timestamp };
  });
}

/** Files edited since the last commit. */
function editedFact({ turns }: Conversation): SummaryItem[] {
  const lastCommit = turns.findLastIndex(({ digest }) => digest.commits !== undefined);
  const since = turns.slice(Math.max(0, lastCommit)).filter(({ digest }) => digest.edits !== undefined);
  const last = since.at(-1)?.digest;
  if (last === undefined) return [];
  const files = Array.from(new Set(since.flatMap(({ digest }) => digest.edits ?? [])));
  const names = files.slice(-MOST_FILES).map((file) => file.split("/").slice(-2).join("/"));
  const more = files.length - names.length;
  const text = `Edited, no commit seen since: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return [{ kind: "edited", text: excerpt(text), entryId: last.entryId, timestamp: last.timestamp }];
}

function pullRequestFact({ turns }: Conversation): SummaryItem[] {
  const digest = turns.findLast((turn) => turn.digest.pullRequest !== undefined)?.digest;
  if (digest?.pullRequest === undefined) return [];
  return [{ kind: "pull-request", text: digest.pullRequest, entryId: digest.entryId, timestamp: digest.timestamp }];
}
