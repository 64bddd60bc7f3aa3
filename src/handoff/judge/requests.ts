/** What a person asked for and that is not finished: the structure of the conversation decides. */
import { excerpt } from "../patterns/content.ts";
import type { Conversation, Line, Spoken, Turn } from "./conversation.ts";
import { hasCue, isRequest } from "./cues.ts";
import type { Situation } from "./signals.ts";

const LONGEST_PART = 110;
const MOST_LINES = 3;
/** In messages of people and turns of the agent. */
const LONG = 8;

/** Requests that nobody answered, else one line: what was asked for at first, and what of it is open now. */
export function openRequests(
  conversation: Conversation,
  situation: Situation,
  { taken, nextStep }: { taken: ReadonlySet<Spoken>; nextStep: Spoken | undefined },
): Line[] {
  const unanswered = unansweredRequests(conversation).filter((one) => !taken.has(one));
  const asked = unanswered.filter(({ said }) => isRequest(said.text));
  if (conversation.isSolo && unanswered.length > 0) {
    return unanswered.slice(-MOST_LINES).map((one) => lineOf([one]));
  }
  if (!situation.isUnfinished && asked.length === 0) return [];
  const opening = firstRequest(conversation, taken);
  const current = currentMatter(conversation, situation, { taken, nextStep });
  const parts = [opening, current].filter((one) => one !== undefined);
  return parts.length === 0 ? [] : [lineOf(Array.from(new Set(parts)))];
}

/** An answer that says nothing answers questions at most. */
function unansweredRequests({ turns, outcomeOf, isUncontested }: Conversation): Spoken[] {
  return turns
    .filter(({ digest, isChat }) => digest.role === "user" && !isChat)
    .filter((turn) => {
      const outcome = outcomeOf(turn);
      return outcome === "none" || outcome === "cut" || (isUncontested(turn) && !turn.asks);
    })
    .flatMap((turn) => requestIn(turn) ?? []);
}

/** The first message of a person that asks for something, and of it the sentence that does. */
function firstRequest({ turns }: Conversation, taken: ReadonlySet<Spoken>): Spoken | undefined {
  const people = turns.filter(({ digest, isChat }) => digest.role === "user" && !isChat && digest.said.length > 0);
  const found = people
    .slice(0, 2)
    .map(requestIn)
    .find((one) => one !== undefined);
  return found === undefined || taken.has(found) ? undefined : found;
}

/** The first sentence that asks for something, else the first that says something. */
function requestIn({ spoken }: Turn): Spoken | undefined {
  const telling = spoken.filter(
    ({ matter, said }) => matter.size >= (hasCue(said.text, "chats") ? 4 : 2) && !hasCue(said.text, "goesOn"),
  );
  const asking = telling.filter(({ said }) => isRequest(said.text));
  return (
    asking.find(({ matter }) => matter.size >= 3) ??
    telling.find(isPlain) ??
    asking[0] ??
    telling.find(({ said }) => said.isQuestion === true)
  );
}

/** Neither a question nor news of another kind. */
function isPlain({ said }: Spoken): boolean {
  const [blocker = -1, decision = -1, done = -1] = said.scores ?? [];
  return said.isQuestion !== true && Math.max(blocker, decision, done) < 0;
}

/** An accepted offer, the last request without a completed answer, or the agent's words on what is left. */
function currentMatter(
  { turns, outcomeOf, before }: Conversation,
  { lastUser, lastAgent }: Situation,
  { taken, nextStep }: { taken: ReadonlySet<Spoken>; nextStep: Spoken | undefined },
): Spoken | undefined {
  const isFree = (one: Spoken): boolean => !taken.has(one) && one.said.isQuestion !== true && one.matter.size >= 2;
  const offer = lastUser?.agrees === true && outcomeOf(lastUser) === "none" ? before(lastUser) : undefined;
  const offered = offer?.spoken.findLast(({ said }) => said.isQuestion === true && hasCue(said.text, "offers"));
  if (offered !== undefined) return offered;
  const left = lastAgent?.spoken.filter(isFree) ?? [];
  const remaining = left.find(({ said, matter }) => hasCue(said.text, "remains") && matter.size >= 3);
  if (remaining !== undefined) return remaining;
  // In a long conversation the opening alone does not say where it stands.
  if (nextStep !== undefined && turns.length > LONG) return nextStep;
  const request = lastUser === undefined || lastUser.isChat ? undefined : requestIn(lastUser);
  const isOpen = request !== undefined && outcomeOf(request.turn) !== "done" && !taken.has(request);
  return isOpen ? request : left.find(({ matter }) => matter.size >= 3);
}

function lineOf(parts: readonly Spoken[]): Line {
  const { entryId = "", timestamp = "" } = parts[0]?.turn.digest ?? {};
  return {
    text: excerpt(parts.length === 1 ? (parts[0]?.said.text ?? "") : parts.map(partOf).join(" — ")),
    entryId,
    timestamp,
  };
}

function partOf({ said: { text } }: Spoken): string {
  if (text.length <= LONGEST_PART) return text.replace(/[.\s]+$/, "");
  return `${text.slice(0, LONGEST_PART).replace(/\s+\S*$/, "")}…`;
}
