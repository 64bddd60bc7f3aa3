/**
 * What speaks for and against listing a sentence: its shape, its place, what was said before it and what came of it.
 * Most signals need no words, so they hold in every language. Their weights are data (data/handoff-weights.json).
 */
import { type Matter, overlap } from "../matter.ts";
import type { Said } from "../state.ts";
import type { Spoken, Turn } from "./conversation.ts";
import { type Cue, cuesIn, hasCue, isRequest } from "./cues.ts";
import { type Denial, scoreOf, type Situation } from "./situation.ts";

export type Signals = Map<string, number>;

export function signalsOf(spoken: Spoken, situation: Situation): Signals {
  const { conversation } = situation;
  const found: Signals = new Map();
  const add = (name: string, value: number | boolean | undefined): void => {
    const number = Number(value ?? 0);
    if (number !== 0) found.set(name, number);
  };
  add("bias", 1);
  addShape(spoken, add);
  addPlace(spoken, situation, add);
  addCues(spoken, add);
  addWords(spoken, situation, add);
  const before = partnerIn(spoken.matter, conversation.before(spoken.turn));
  const after = partnerIn(spoken.matter, conversation.after(spoken.turn));
  const shares = { before: before?.share ?? 0, after: after?.share ?? 0 };
  if (spoken.turn.digest.role === "user") addAnswer(spoken, shares, situation, add);
  else addReport(spoken, shares, situation, add);
  addLater(spoken, situation, add);
  addDenied(spoken, situation, add);
  addNeighbour(spoken, -1, "prev", add);
  addNeighbour(spoken, 1, "next", add);
  addPartner(spoken, before, "before", add);
  addPartner(spoken, after, "after", add);
  return found;
}

type Add = (name: string, value: number | boolean | undefined) => void;

const SCORES = ["blocker", "decision", "done", "task"];

function addShape({ said, turn, matter }: Spoken, add: Add): void {
  const words = wordCount(said);
  add("tiny", words <= 2);
  add("short", words > 2 && words <= 5);
  add("long", words > 25);
  add("fewWords", matter.size <= 1);
  add("manyWords", matter.size >= 5);
  add("size", Math.min(matter.size, 10) / 10);
  add("question", said.isQuestion);
  add("item", said.isItem);
  add("checked", said.checked);
  add("unchecked", said.checked === false);
  add("first", said.at === 0);
  add("last", said.at === turn.digest.sentences - 1);
  add("alone", turn.digest.sentences === 1);
  add("shortTurn", turn.digest.sentences <= 2);
  add("ofMany", turn.digest.sentences > 5);
  add("number", /\d/.test(said.text));
  add("name", /`|[\w-]+\.\w{2,4}\b|\w_\w|\w\/\w/.test(said.text));
  add("quote", /["“”„«»]/.test(said.text));
  add("colon", /:(?:\s|$)/.test(said.text));
  add("ellipsis", /…$|\.\.\.$/.test(said.text));
  add("foreign", said.scores === undefined);
  for (const [index, name] of SCORES.entries()) {
    const score = scoreOf(said, index);
    add(`${name}Score`, score / 2);
    add(`${name}Sure`, score > 1);
    add(`${name}Plain`, score >= 3);
  }
}

function wordCount({ text }: Said): number {
  return text.split(/\s+/).length;
}

function addPlace({ turn, said }: Spoken, situation: Situation, add: Add): void {
  const { conversation, lastUser, lastAgent, firstUser, isUnfinished, hasOpenTodos, hasTodos } = situation;
  const { turns, hasTools, failure } = conversation;
  const left = turns.length - 1 - turn.place;
  add("end0", left === 0);
  add("end1", left === 1);
  add("end2-3", left >= 2 && left <= 3);
  add("end4-7", left >= 4 && left <= 7);
  add("end8-15", left >= 8 && left <= 15);
  add("end16", left >= 16);
  add("along", turn.place / turns.length);
  const messages = turns.slice(turn.place + 1).filter(({ digest }) => digest.role === "user").length;
  add(`messagesLeft${Math.min(messages, 3)}`, 1);
  add("lastOwn", turn === lastUser || turn === lastAgent);
  if (conversation.isUncontested(turn)) {
    add("solo", 1);
    for (const [index, name] of SCORES.entries()) add(`solo-${name}`, scoreOf(said, index) / 2);
    return;
  }
  add("opening", turn === firstUser);
  add("openingUnfinished", turn === firstUser && isUnfinished);
  add("openingFinished", turn === firstUser && !isUnfinished);
  add("unfinished", isUnfinished);
  add("openTodos", hasOpenTodos);
  add("todosDone", hasTodos && !hasOpenTodos);
  add("failure", failure !== undefined);
  add("tools", hasTools);
}

function addCues({ said }: Spoken, add: Add): void {
  for (const cue of cuesIn(said.text)) if (!UNWEIGHED.has(cue)) add(cue, 1);
  const isWaiting = hasCue(said.text, "waits");
  const isTimed = hasCue(said.text, "times");
  const isOfPerson = hasCue(said.text, "people") || NAME.test(said.text);
  const isTrouble = scoreOf(said, 0) > 0;
  const isAsked = hasCue(said.text, "contacted");
  add("request", isRequest(said.text));
  add("waitsLater", isWaiting && hasCue(said.text, "later"));
  add("timed", isTimed);
  add("person", isOfPerson);
  add("personWaits", isOfPerson && isWaiting);
  add("personTimed", isOfPerson && isTimed && (isWaiting || isTrouble || isAsked));
  add("personTrouble", isOfPerson && isTrouble);
  add("troubleWaits", isWaiting && isTrouble);
  add("notYet", hasCue(said.text, "denies") && hasCue(said.text, "remains"));
}

/** A word with a capital letter that does not open the sentence. */
const NAME = /(?<=[\p{Ll},)] )(?!I\b|I')\p{Lu}\p{Ll}{2,}/u;
/** Cues that rules use, not weights. */
const UNWEIGHED: ReadonlySet<string> = new Set(["asks", "orders", "declares", "namesNext", "goesOn"]);

/** Which of its words were there before, come again, or are what the conversation is about. */
function addWords({ turn: { place }, matter }: Spoken, { usedIn, firstUser, conversation }: Situation, add: Add): void {
  const words = Array.from(matter, (word) => usedIn.get(word) ?? new Set<number>());
  const share = (isSuch: (places: ReadonlySet<number>) => boolean): number =>
    words.filter(isSuch).length / Math.max(1, words.length);
  const count = conversation.turns.length;
  const opening = firstUser?.place ?? -1;
  const isAtEnd = (places: ReadonlySet<number>): boolean =>
    Math.max(...places) >= count - 3 && (places.size > 1 || place < count - 3);
  const shares = {
    wordsFromBefore: share((places) => places.has(place - 1)),
    wordsNew: share((places) => Math.min(...places) === place),
    wordsToNext: share((places) => places.has(place + 1)),
    wordsLater: share((places) => Math.max(...places) > place),
    wordsAtEnd: share(isAtEnd),
  };
  for (const [name, value] of Object.entries(shares)) add(name, value);
  add("wordsOfOpening", place === opening ? 0 : share((places) => places.has(opening)));
  const uses = words.map(({ size }) => size).sort((a, b) => b - a);
  const most = uses.slice(0, 3);
  add("central", (2 * most.reduce((sum, one) => sum + one, 0)) / Math.max(1, most.length) / count);
  add("centralWord", (most[0] ?? 0) >= 3);
}

/** A person's sentence as an answer: to what, and did the agent take it up? */
function addAnswer({ said, turn }: Spoken, shares: Shares, { conversation }: Situation, add: Add): void {
  const before = conversation.before(turn);
  const after = conversation.after(turn);
  if (!conversation.isUncontested(turn)) add(`outcome-${conversation.outcomeOf(turn)}`, 1);
  const isOffered = before?.spoken.some((one) => hasCue(one.said.text, "offers")) ?? false;
  const isAsked = before?.spoken.some((one) => one.said.isQuestion === true) ?? false;
  const hasChoice = before?.spoken.some((one) => hasCue(one.said.text, "or")) ?? false;
  const isAnswer = before?.digest.role === "assistant" && (isOffered || isAsked || hasChoice) && !said.isQuestion;
  const isNamed = shares.before > 0;
  const isTaken = after?.digest.role === "assistant" && !after.asks && shares.after > 0;
  add("asks", turn.asks);
  add("answersQuestion", before?.asks);
  add("answersOffer", isOffered);
  add("answersChoice", hasChoice);
  add("answer", isAnswer);
  add("answerFirst", isAnswer && said.at === 0);
  add("answerNamed", isAnswer && isNamed);
  add("answerTaken", isAnswer && isTaken);
  add("answerNamedTaken", isAnswer && isNamed && isTaken);
  add("answerWorkedOn", isAnswer && after?.digest.edits !== undefined);
  add("toldTaken", !isAnswer && !said.isQuestion && isTaken);
  add("picks", isAnswer && isNamed && wordCount(said) <= SHORT_ANSWER);
  add("agreesTurn", turn.agrees);
  add("agreesAndSays", turn.agrees && said.at > 0);
  add("reversesTurn", turn.reverses);
  add("echoed", shares.after > 0.5);
  add("nextWorks", after?.digest.edits !== undefined || after?.digest.runs !== undefined);
  add("nextAsks", after?.asks);
  add("unanswered", after === undefined);
}

const SHORT_ANSWER = 16;

/** An agent's sentence as a report or a proposal: of what work, and what did the person say to it? */
function addReport({ said, turn }: Spoken, shares: Shares, { conversation }: Situation, add: Add): void {
  const { digest } = turn;
  const before = conversation.before(turn);
  const after = conversation.after(turn);
  const echo = shares.before;
  const isProposal = turn.asks || hasCue(said.text, "offers") || hasCue(said.text, "or");
  add("edits", digest.edits !== undefined);
  add("runs", digest.runs !== undefined);
  add("commits", digest.commits !== undefined);
  add("failing", digest === conversation.failure?.turn.digest);
  add("lastRunFailed", digest.runs?.at(-1)?.failed);
  add("cut", digest.isCut === true || digest.isOpen === true);
  add("asks", turn.asks);
  add("accepted", after?.agrees === true && !after.reverses);
  add("rejected", after?.reverses);
  add("proposal", isProposal);
  add("proposalAccepted", isProposal && after?.agrees === true && !after.reverses);
  add("proposalTaken", isProposal && shares.after > 0);
  add("askedBack", after?.asks);
  add("unanswered", after === undefined);
  add("echo", echo);
  add("echoes", echo >= 0.5);
  add("restates", echo >= 0.5 && said.at === 0 && said.isQuestion !== true && wordCount(said) <= SHORT_ANSWER);
  add("afterQuestion", before?.asks);
}

/** How much a sentence shares with the nearest one of the turn before and after. */
interface Shares {
  before: number;
  after: number;
}

/** What is answered, or how it was taken up. */
function addPartner({ turn }: Spoken, partner: Partner | undefined, name: string, add: Add): void {
  if (partner === undefined || partner.one.turn.digest.role === turn.digest.role) return;
  const { said } = partner.one;
  add(`${name}First`, said.at === 0);
  add(`${name}Asks`, said.isQuestion);
  add(`${name}Short`, wordCount(said) <= SHORT_ANSWER);
  add(`${name}Item`, said.isItem);
  for (const [index, score] of SCORES.entries()) add(`${name}-${score}`, scoreOf(said, index) / 2);
  for (const cue of cuesIn(said.text)) if (PARTNER_CUES.has(cue)) add(`${name}-${cue}`, 1);
}

const PARTNER_CUES: ReadonlySet<string> = new Set<Cue>(["offers", "or", "past", "plans", "waits", "chooses"]);

interface Partner {
  one: Spoken;
  share: number;
}

/** The sentence of a turn that shares most with a matter. Undefined: none shares a word. */
function partnerIn(matter: Matter, turn: Turn | undefined): Partner | undefined {
  let best: Partner | undefined;
  for (const one of turn?.spoken ?? []) {
    const share = overlap(matter, one.matter);
    if (share > (best?.share ?? 0)) best = { one, share };
  }
  return best;
}

/** What later turns say about the same matter. */
function addLater({ matter, turn }: Spoken, { conversation }: Situation, add: Add): void {
  const later = { again: 0, reversed: 0, done: 0, decided: 0, trouble: 0 };
  for (const { spoken, digest, reverses } of conversation.turns.slice(turn.place + 1)) {
    for (const { said, matter: other } of spoken) {
      const share = overlap(matter, other, 2);
      if (share < 0.3) continue;
      const isPerson = digest.role === "user";
      later.again += share;
      if (reverses && isPerson) later.reversed = Math.max(later.reversed, share);
      if (scoreOf(said, 2) > 0 || (!isPerson && hasCue(said.text, "past"))) later.done = Math.max(later.done, share);
      if (scoreOf(said, 1) > 0 || (isPerson && hasCue(said.text, "chooses"))) {
        later.decided = Math.max(later.decided, share);
      }
      if (scoreOf(said, 0) > 0 || hasCue(said.text, "waits")) later.trouble = Math.max(later.trouble, share);
    }
  }
  add("laterAgain", Math.min(later.again, 2) / 2);
  add("laterReversed", later.reversed);
  add("laterDone", later.done);
  add("laterDecided", later.decided);
  add("laterTrouble", later.trouble);
}

/** The sentence before or after it in the same message. */
function addNeighbour({ turn, said }: Spoken, step: number, name: string, add: Add): void {
  const near = turn.spoken.find((one) => one.said.at === said.at + step)?.said;
  add(`${name}None`, near === undefined);
  if (near === undefined) return;
  add(`${name}Asks`, near.isQuestion);
  add(`${name}Item`, near.isItem);
  add(`${name}Requests`, isRequest(near.text));
  for (const [index, score] of SCORES.entries()) add(`${name}-${score}`, scoreOf(near, index) / 2);
  for (const cue of cuesIn(near.text)) if (NEAR_CUES.has(cue)) add(`${name}-${cue}`, 1);
}

const NEAR_CUES: ReadonlySet<string> = new Set<Cue>([
  "waits",
  "later",
  "plans",
  "past",
  "remains",
  "offers",
  "fails",
  "or",
  "chooses",
  "agrees",
  "chats",
  "supposes",
  "firstThing",
  "reverses",
  "declines",
  "contacted",
]);

/** Later words against it: a clause that names the same thing and denies it, or a rival of the same choice that wins. */
function addDenied(
  { matter, turn, said }: Spoken,
  { conversation, usedIn, denials, choices }: Situation,
  add: Add,
): void {
  const often = conversation.turns.length / 2 + 1;
  const against = new Set<Denial>();
  for (const word of matter) {
    if ((usedIn.get(word)?.size ?? 0) > often) continue;
    for (const denial of denials.get(word) ?? []) against.add(denial);
  }
  const later = { deniedHere: 0, deniedByPerson: 0, deniedByAgent: 0, rival: 0, undone: 0 };
  for (const { isDenied, isUndone, spoken } of against) {
    const { place, digest } = spoken.turn;
    const isHere = place === turn.place && spoken.said.at > said.at;
    if (!isHere && (place <= turn.place || spoken.said.isQuestion === true)) continue;
    if (isDenied) later[isHere ? "deniedHere" : digest.role === "user" ? "deniedByPerson" : "deniedByAgent"] += 1;
    if (isUndone) later.undone += 1;
  }
  const offered = conversation.before(turn)?.spoken ?? [];
  for (const {
    matter: chosen,
    turn: { place },
  } of choices) {
    if (place <= turn.place || [...chosen].some((word) => matter.has(word))) continue;
    if ([...chosen].some((word) => offered.some((one) => one.matter.has(word)))) later.rival += 1;
  }
  for (const [name, count] of Object.entries(later)) add(name, Math.min(count, 2) / 2);
}
