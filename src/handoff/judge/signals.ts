/**
 * What speaks for and against listing a sentence: its place in the conversation, what happened before and after it,
 * and a few cues. Which signal counts how much for which section is data (data/handoff-weights.json).
 */
import { type Matter, overlap } from "../matter.ts";
import type { PatternType } from "../patterns/note.ts";
import { resolveBlockers } from "../patterns/resolve-blockers.ts";
import type { Said } from "../state.ts";
import type { Conversation, Spoken, Turn } from "./conversation.ts";
import { CUES, hasCue, isRequest, startsWithCue } from "./cues.ts";

export type Signals = Map<string, number>;

export interface Situation {
  conversation: Conversation;
  lastUser: Turn | undefined;
  lastAgent: Turn | undefined;
  firstUser: Turn | undefined;
  hasOpenTodos: boolean;
  hasTodos: boolean;
  /** Something at the end says that more is to come. */
  isUnfinished: boolean;
  /** Troubles that a later sentence reports over. */
  over: ReadonlySet<Spoken>;
}

export function situationOf(conversation: Conversation, todos: { open: number; all: number }): Situation {
  const { turns, failure } = conversation;
  const lastUser = turns.findLast(({ digest }) => digest.role === "user");
  const lastAgent = turns.findLast(({ digest }) => digest.role === "assistant");
  const last = turns.at(-1);
  const isStopped = ["cut", "asked", "failed", "planned"].includes(outcomeBefore(conversation, last));
  const endsOpen = last?.digest.role === "user" ? asksForMore(last) : isStopped;
  const points = turns.slice(-2).some(({ spoken }) => spoken.some(({ said }) => pointsAhead(said.text)));
  return {
    conversation,
    lastUser,
    lastAgent,
    firstUser: turns.find(({ digest }) => digest.role === "user"),
    hasTodos: todos.all > 0,
    hasOpenTodos: todos.open > 0,
    over: troublesOver(turns),
    isUnfinished: todos.open > 0 || failure !== undefined || endsOpen || points,
  };
}

function troublesOver(turns: readonly Turn[]): Set<Spoken> {
  const noted = turns
    .flatMap(({ spoken }) => spoken)
    .flatMap((one) => {
      const type = noteType(one);
      return type === undefined ? [] : [{ one, type }];
    });
  const notes = noted.map(({ one, type }, index) => {
    const { entryId, timestamp } = one.turn.digest;
    return { type, content: one.said.text, confidence: 1, timestamp, sourceEntryId: `${entryId} ${index}` };
  });
  const marked = resolveBlockers(notes);
  return new Set(noted.filter((_one, index) => marked[index]?.resolved === true).map(({ one }) => one));
}

function noteType({ said }: Spoken): PatternType | undefined {
  const [blocker = -1, , done = -1] = said.scores ?? [];
  if (said.isQuestion === true) return undefined;
  if (done > Math.max(0, blocker)) return "accomplishment";
  return blocker > -1 || hasCue(said.text, "waits") || hasCue(said.text, "fails") ? "blocker" : undefined;
}

/** A last message of a person that is more than thanks and goodbye. */
function asksForMore({ spoken, isChat, asks }: Turn): boolean {
  if (isChat) return false;
  return asks || spoken.some(({ said }) => isRequest(said.text) || pointsAhead(said.text));
}

function pointsAhead(text: string): boolean {
  return hasCue(text, "firstThing") || hasCue(text, "remains") || hasCue(text, "waits");
}

function outcomeBefore(conversation: Conversation, last: Turn | undefined): string {
  const asked = conversation.turns.findLast(
    ({ digest, place }) => digest.role === "user" && place < (last?.place ?? 0),
  );
  return asked === undefined ? "none" : conversation.outcomeOf(asked);
}

export function signalsOf(spoken: Spoken, situation: Situation): Signals {
  const found: Signals = new Map();
  const role = spoken.turn.digest.role === "user" ? "u" : "a";
  const add = (name: string, value: number | boolean | undefined): void => {
    const number = Number(value ?? 0);
    if (number !== 0) found.set(`${role}.${name}`, number);
  };
  add("bias", 1);
  addShape(spoken, add);
  addPlace(spoken, situation, add);
  addCues(spoken, add);
  if (situation.conversation.isUncontested(spoken.turn)) addSolo(spoken, add);
  addAround(spoken, situation, add);
  addLater(spoken, situation, add);
  return found;
}

type Add = (name: string, value: number | boolean | undefined) => void;

const SCORES = ["blocker", "decision", "done", "task"];

function addShape({ said, turn, matter }: Spoken, add: Add): void {
  const words = said.text.split(/\s+/).length;
  add("tiny", words <= 2);
  add("short", words > 2 && words <= 5);
  add("long", words > 25);
  add("fewWords", matter.size <= 1);
  add("manyWords", matter.size >= 5);
  add("question", said.isQuestion);
  add("item", said.isItem);
  add("checked", said.checked);
  add("unchecked", said.checked === false);
  add("first", said.at === 0);
  add("last", said.at === turn.digest.sentences - 1);
  add("alone", turn.digest.sentences === 1);
  add("ofMany", turn.digest.sentences > 5);
  add("number", /\d/.test(said.text));
  add("name", /`|[\w-]+\.\w{2,4}\b|\w_\w|\w\/\w/.test(said.text));
  add("quote", /["“”„«»]/.test(said.text));
  add("colon", /:(?:\s|$)/.test(said.text));
  add("ellipsis", /…$|\.\.\.$/.test(said.text));
  add("foreign", said.scores === undefined);
  for (const [index, name] of SCORES.entries()) {
    const score = Math.max(-4, Math.min(4, said.scores?.[index] ?? -1));
    add(`${name}Score`, score / 2);
    add(`${name}Sure`, score > 1);
    add(`${name}Plain`, score >= 3);
  }
}

/** Nobody has taken it up, so it is meant as it was written. */
export function isUndisputed(spoken: Spoken, situation: Situation): boolean {
  if (spoken.said.isQuestion === true) return false;
  return situation.conversation.isUncontested(spoken.turn) || isLastStatement(spoken, situation);
}

function isLastStatement({ turn, said }: Spoken, { conversation, lastUser }: Situation): boolean {
  return (
    turn === lastUser && conversation.after(turn) === undefined && said.isQuestion !== true && !isRequest(said.text)
  );
}

/** What nobody takes up is meant as it was written. */
function addSolo({ said }: Spoken, add: Add): void {
  add("solo", 1);
  for (const [index, name] of SCORES.entries())
    add(`solo-${name}`, Math.max(-4, Math.min(4, said.scores?.[index] ?? -1)) / 2);
}

function addPlace(
  { turn }: Spoken,
  { conversation, lastUser, lastAgent, firstUser, isUnfinished, hasOpenTodos, hasTodos }: Situation,
  add: Add,
): void {
  const { turns, hasTools, failure } = conversation;
  const left = turns.length - 1 - turn.place;
  add("end0", left === 0);
  add("end1", left === 1);
  add("end2-3", left >= 2 && left <= 3);
  add("end4-7", left >= 4 && left <= 7);
  add("end8-15", left >= 8 && left <= 15);
  add("end16", left >= 16);
  add("lastOwn", turn === lastUser || turn === lastAgent);
  if (conversation.isUncontested(turn)) return;
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
  for (const cue of CUES) {
    if (UNWEIGHED.has(cue)) continue;
    add(cue, hasCue(said.text, cue));
    if (STARTS.has(cue)) add(`${cue}First`, startsWithCue(said.text, cue));
  }
  const isWaiting = hasCue(said.text, "waits");
  const isTimed = TIME.test(said.text);
  const isOfPerson = PERSON.test(said.text) || NAME.test(said.text);
  const isTrouble = (said.scores?.[0] ?? -1) > 0;
  add("request", isRequest(said.text));
  add("waitsLater", isWaiting && hasCue(said.text, "later"));
  add("timed", isTimed);
  add("person", isOfPerson);
  add("personWaits", isOfPerson && isWaiting);
  add("personTimed", isOfPerson && isTimed && (isWaiting || isTrouble));
  add("personTrouble", isOfPerson && isTrouble);
  add("troubleWaits", isWaiting && isTrouble);
  add("itIs", IT_IS.test(said.text));
  add("let", LET.test(said.text));
  add("must", MUST.test(said.text));
  add("noThing", /^(?:no|not|kein|keine|pas de|sin)\s+\S+/i.test(said.text));
  add("askedSomebody", ASKED.test(said.text));
  add("waitsFor", waitsFor(said, { isWaiting, isTimed, isOfPerson }));
  add("looseQuestion", LOOSE_QUESTION.test(said.text));
}

/** Somebody or something else has to come first. */
function waitsFor({ text, scores }: Said, { isWaiting, isTimed, isOfPerson }: Record<string, boolean>): boolean {
  // Outside English the cue words have to do.
  if (scores === undefined) return isWaiting === true;
  if (NOT_YET.test(text) || WAITING.test(text)) return true;
  if (HAS_TO.test(text)) return true;
  return isOfPerson === true && ((AWAY.test(text) && isTimed === true) || (ASKED.test(text) && isTimed === true));
}

const NOT_YET =
  /\b(?:has|have|is|are|did|was)(?:n't|nt| not)\b[^.;]{0,40}\b(?:yet|answer\w*|confirm\w*|sent|send|approv\w*|repl\w*|finish\w*|arriv\w*|come|here|ready|signed|on sale)\b|\b(?:none|neither) of them\b|\bstill (?:nothing|missing|waiting|no)\b|\bnot (?:finished|before)\b/i;
const WAITING =
  /\bwait(?:s|ing)? (?:for|on|until|till)\b|\bhas to wait\b|\bmust (?:first )?be \w+ed\b|\bonly \w+ can\b|\bwithout (?:his|her|their|it|that)\b/i;
const HAS_TO =
  /\b(?:he|she|they|boss|accounting|ops|legal|client|customer|vendor|\p{Lu}\p{Ll}{2,})\b[^.,;]{0,15}\b(?:has|have|needs|must|would have)(?: to)? \w/u;
const AWAY = /\b(?:until|till|back|out|away|off|leave|vacation|holiday|not before)\b/i;
const LOOSE_QUESTION =
  /^(?:and |so |ok |hm+ )?(?:what|whats|what's|why|how|who|whose|where|did|does|do you|is it|is there|are there|can we|can she|can he|should i|should we|shall)\b/i;

const PERSON =
  /\b(?:he|she|they|him|her|them|his|somebody|someone|nobody|colleagues?|boss|team|client|customer|landlords?|er|sie|ihm|ihr|chef|kunde|il|elle|ils|ella|ellos)\b/i;
/** A word with a capital letter that does not open the sentence. */
const NAME = /(?<=[\p{Ll},)] )(?!I\b|I')\p{Lu}\p{Ll}{2,}/u;
const TIME =
  /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|week|weekend|month|january|february|march|april|may|june|july|august|september|october|november|december|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|woche|lundi|mardi|mercredi|jeudi|vendredi|demain|lunes|martes|jueves|viernes|mañana|\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d\d)\b|明日|来週|曜/i;
const IT_IS = /\b(?:it is|it's|then)[.!]?$|\bit is\b,|^(?:so|ok|then)[:,]/i;
const LET = /\b(?:let's|lets|let us|we'll|we will|i'll take|i take|take|use|keep|stay|stick|go with|leave)\b/i;
const MUST = /\b(?:must|always|never|only|has to be|have to be|should be|not before|first)\b/i;
const ASKED =
  /\b(?:asked|pinged|wrote|written|mailed|emailed|called|messaged|requested|reminded|applied|nudge|gefragt|geschrieben|beantragt|erinnert|demandé|écrit|pedí|escrito)\b/i;

/** Cues that rules use, not weights. */
const UNWEIGHED: ReadonlySet<string> = new Set(["orders", "declares", "namesNext", "goesOn"]);

const STARTS: ReadonlySet<string> = new Set([
  "agrees",
  "declines",
  "reverses",
  "chooses",
  "later",
  "past",
  "chats",
  "plans",
  "supposes",
]);

function addAround({ said, turn }: Spoken, { conversation }: Situation, add: Add): void {
  const { digest } = turn;
  const before = conversation.before(turn);
  const after = conversation.after(turn);
  if (digest.role === "user") {
    if (!conversation.isUncontested(turn)) add(`outcome-${conversation.outcomeOf(turn)}`, 1);
    add("asks", turn.asks);
    add("answersQuestion", before?.asks);
    add(
      "answersOffer",
      before?.spoken.some((one) => hasCue(one.said.text, "offers")),
    );
    add("agreesTurn", turn.agrees);
    add("agreesAndSays", turn.agrees && said.at > 0);
    add("reversesTurn", turn.reverses);
    add("picks", picks(said, turn, before));
    add(
      "echoed",
      after !== undefined &&
        bestOverlap(said.text.length < 4 ? undefined : turn.spoken.find((one) => one.said === said)?.matter, after) >
          0.5,
    );
    return;
  }
  add("edits", digest.edits !== undefined);
  add("runs", digest.runs !== undefined);
  add("commits", digest.commits !== undefined);
  add("failing", digest === conversation.failure?.turn.digest);
  add("lastRunFailed", digest.runs?.at(-1)?.failed);
  add("cut", digest.isCut === true || digest.isOpen === true);
  add("asks", turn.asks);
  add("accepted", after?.agrees === true && !after.reverses);
  add("rejected", after?.reverses);
  add("askedBack", after?.asks);
  add("unanswered", after === undefined);
  add("restates", said.at === 0 && before !== undefined && said.isQuestion !== true && restates(turn, before));
  add("afterQuestion", before?.asks);
}

const SHORT_ANSWER = 16;

/** Chooses one of the things that the agent named, or that the person asked about before. */
function picks(said: Said, turn: Turn, before: Turn | undefined): boolean {
  if (before === undefined || said.isQuestion === true || said.text.split(/\s+/).length > SHORT_ANSWER) return false;
  const isChoice =
    before.asks ||
    before.spoken.some(
      ({ said: one }) => /\b(?:or|oder|ou|o|either)\b|か/.test(one.text) || hasCue(one.text, "offers"),
    );
  const matter = turn.spoken.find((one) => one.said === said)?.matter;
  return isChoice && bestOverlap(matter, before) > 0;
}

function restates({ spoken }: Turn, before: Turn): boolean {
  const first = spoken[0];
  return first !== undefined && first.matter.size <= 8 && bestOverlap(first.matter, before) >= 0.5;
}

/** What later turns say about the same matter. */
function addLater(spoken: Spoken, { conversation, over }: Situation, add: Add): void {
  add("over", over.has(spoken));
  const { matter, turn } = spoken;
  let again = 0;
  let reversed = 0;
  let done = 0;
  let decided = 0;
  let trouble = 0;
  for (const later of conversation.turns.slice(turn.place + 1)) {
    for (const { said, matter: other } of later.spoken) {
      const share = overlap(matter, other, 2);
      if (share < 0.3) continue;
      const [blocker = -1, decision = -1, accomplishment = -1] = said.scores ?? [];
      again += share;
      if (later.reverses && later.digest.role === "user") reversed = Math.max(reversed, share);
      if (accomplishment > 0 || (later.digest.role === "assistant" && hasCue(said.text, "past")))
        done = Math.max(done, share);
      if (decision > 0 || (later.digest.role === "user" && hasCue(said.text, "chooses")))
        decided = Math.max(decided, share);
      if (blocker > 0 || hasCue(said.text, "waits")) trouble = Math.max(trouble, share);
    }
  }
  add("laterAgain", Math.min(again, 2) / 2);
  add("laterReversed", reversed);
  add("laterDone", done);
  add("laterDecided", decided);
  add("laterTrouble", trouble);
  const repeats = conversation.turns
    .slice(0, turn.place)
    .flatMap((one) => one.spoken)
    .some((one) => overlap(matter, one.matter, 2) >= 0.5);
  add("saidBefore", repeats);
}

function bestOverlap(matter: Matter | undefined, turn: Turn): number {
  return matter === undefined ? 0 : Math.max(0, ...turn.spoken.map((one) => overlap(matter, one.matter)));
}
