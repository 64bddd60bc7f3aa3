/** Facts as items of their own kinds: how the last request was answered, and what tools say about the work. */
import type { CarriedState, SummaryItem } from "../state.ts";
import { UNANSWERED, workFacts } from "../work-facts.ts";
import type { Conversation, Turn } from "./conversation.ts";
import { isRequest } from "./cues.ts";

export function factItems(carried: CarriedState, conversation: Conversation, project: string): SummaryItem[] {
  const digests = conversation.turns.map(({ digest }) => digest);
  return [...requestFact(conversation), ...workFacts(carried, digests, project)];
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
  ...UNANSWERED,
  asked: "The agent asked back and got no answer.",
  failed: "The last answer ended with a failure.",
};
