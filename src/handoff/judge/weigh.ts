/** Weighs each sentence of a conversation for each section. */
import { overlap } from "../matter.ts";
import { type Section, SECTIONS } from "../patterns/note.ts";
import type { CarriedState } from "../state.ts";
import { type Conversation, type Outcome, readConversation, type Spoken } from "./conversation.ts";
import { hasCue, isRequest } from "./cues.ts";
import { type JudgeWeights, sentenceSureness } from "./score.ts";
import { type Signals, signalsOf } from "./signals.ts";
import { type Situation, situationOf } from "./situation.ts";

/** A sentence with how sure each section is of it. */
export interface Weighed {
  spoken: Spoken;
  signals: Signals;
  sure: Readonly<Record<Section, number>>;
}

export interface Work {
  conversation: Conversation;
  situation: Situation;
  sentences: readonly Weighed[];
  taken: Set<Spoken>;
  weights: JudgeWeights;
  nextStep: Spoken | undefined;
}

export function weigh(carried: CarriedState, { project, weights }: { project: string; weights: JudgeWeights }): Work {
  const conversation = readConversation(carried.digests.filter((digest) => digest.project === project));
  const todos = carried.todos?.project === project ? carried.todos.items.filter(({ text }) => text !== "") : [];
  const open = todos.filter(({ status }) => status !== "completed").length;
  const situation = situationOf(conversation, { open, all: todos.length });
  const sentences = conversation.turns
    .filter(({ digest }) => digest.isEcho !== true && digest.isCut !== true)
    .flatMap(({ spoken }) => spoken)
    .map((spoken) => {
      const signals = signalsOf(spoken, situation);
      const plain = plainly(spoken, signals, situation);
      const entries = SECTIONS.map((section) => {
        const sure =
          sentenceSureness(spoken, signals, section, weights) - (signals.has("solo") ? (SOLO[section] ?? 0) : 0);
        return [section, plain === undefined ? sure : section === plain ? Math.max(sure, PLAIN) : NEVER] as const;
      });
      return { spoken, signals, sure: Object.fromEntries(entries) as Record<Section, number> };
    });
  return { conversation, situation, sentences, taken: new Set(), weights, nextStep: undefined };
}

/** How sure the judge is of a plain statement, and that it belongs to no other section. */
const PLAIN = 1;
const NEVER = -9;
/** Where nobody answered, there is less to go by. */
const SOLO: Partial<Record<Section, number>> = { blocker: 1, decision: 1, accomplishment: 1 };
const SCORED = ["blocker", "decision", "accomplishment"] as const satisfies readonly Section[];

/** The section of a statement that says what it is ("we decided …"), that nobody disputes, or that is the last word. */
function plainly({ said, turn }: Spoken, signals: Signals, { conversation }: Situation): Section | undefined {
  const { text, scores = [], isQuestion } = said;
  if (isQuestion === true || signals.has("laterReversed")) return undefined;
  const isLast = conversation.after(turn) === undefined;
  const isPerson = turn.digest.role === "user";
  if (isLast && !isPerson) return (scores[2] ?? 0) >= SURE_REPORT ? "accomplishment" : undefined;
  const isAlone = conversation.isSolo && isPerson;
  const namesNext = hasCue(text, "namesNext") || /^next\b/i.test(text);
  if (namesNext && conversation.isUncontested(turn)) return "next-step";
  const declares = hasCue(text, "declares");
  const least = isAlone && declares ? 0 : isAlone && hasCue(text, "fails") ? -0.5 : 1;
  const found = SCORED.find(
    (_one, index) => (scores[index] ?? NEVER) >= least && scores[index] === Math.max(...scores),
  );
  const isTrouble = isLast && found === "blocker" && !isRequest(text);
  return isAlone || declares || isTrouble ? found : undefined;
}

/** The scorer's log-odds for a report that leaves no doubt. */
const SURE_REPORT = 3;

const JOKE = /[😂🤣💀🙃😅😎🤡]|\b(?:lol|haha+|hehe)\b|[:;]-?\)/iu;
const QUOTE = /["“”„«»]/;
/** Nothing but code. */
export const CODE = /^`[^`]*`[.!]?$/;
/** Longer sentences say with what to go on. */
const SHORT = 60;

/** Questions, jokes, quotations, code, the lead-in of a list and a mere "go on" are never listed. */
export function isListable(spoken: Spoken): boolean {
  const { text, isQuestion } = spoken.said;
  if (isQuestion === true || isIdle(spoken) || QUOTE.test(text) || CODE.test(text) || text.endsWith(":")) return false;
  return text.length >= SHORT || !hasCue(text, "goesOn");
}

/** One or two words. Other scripts write sentences without blanks. */
export function isFragment({ said: { text }, matter }: Spoken): boolean {
  return text.split(/\s+/).length < 3 && matter.size < 3;
}

/** A joke, or a cheer. */
export function isIdle({ said: { text } }: Spoken): boolean {
  return JOKE.test(text) || (text.endsWith("!") && text.length < SHORT && !isRequest(text));
}

/** What must be true of a line, however sure the weights are. */
export function holds({ spoken, signals }: Weighed, section: Section, conversation: Conversation): boolean {
  const { said, turn } = spoken;
  if (section === "decision") return !signals.has("undone") && mayDecide(spoken, signals, conversation);
  // What a person took back later is not done. A commit has a line of its own.
  if (section === "accomplishment") return !signals.has("undone") && !namesCommit(said.text, conversation);
  const isOpen = turn.digest.role === "user" && NO_ANSWER.has(conversation.outcomeOf(turn)) && isRequest(said.text);
  // A request that nobody answered is in progress, unless it is for later.
  return section !== "next-step" || !isOpen || LATER.some((cue) => hasCue(said.text, cue));
}

export const NO_ANSWER: ReadonlySet<Outcome> = new Set(["none", "cut"]);
const LATER = ["later", "firstThing", "times", "waits"] as const;

function namesCommit(text: string, { turns }: Conversation): boolean {
  return turns.some(({ digest }) => digest.commits?.some(({ hash }) => text.includes(hash)));
}

const OF_OTHERS = /^(?:he|she|they)\b/i;

/** Neither small talk, nor what other people do, nor a report, nor alternatives, nor a mere answer to a question. */
function mayDecide({ said, turn }: Spoken, signals: Signals, { before }: Conversation): boolean {
  if (OF_OTHERS.test(said.text) || signals.has("chats") || signals.has("or")) return false;
  if ((signals.get("doneScore") ?? 0) > 0) return false;
  const asked = before(turn);
  // "And you?" asks for nothing to decide.
  if (asked?.asks === true && asked.spoken.every(({ matter }) => matter.size === 0)) return false;
  // If the agent asks on, it was given a detail.
  return !signals.has("nextAsks") || signals.has("chooses") || (signals.get("decisionScore") ?? 0) > 0;
}

/** The agent decides nothing: its words are a decision where a person accepted them, or where they repeat a person's. */
export function mayBe(spoken: Spoken, section: Section, { before, after }: Conversation): boolean {
  const { turn, said, matter } = spoken;
  if (section !== "decision" || turn.digest.role === "user" || hasCue(said.text, "declares")) return true;
  // In a turn with work, the agent reports what it did.
  if ((turn.digest.edits ?? turn.digest.runs) !== undefined) return false;
  const isChoice = hasCue(said.text, "or") || hasCue(said.text, "offers");
  const asked = before(turn);
  const echoes =
    asked?.spoken.some((one) => one.said.isQuestion !== true && overlap(matter, one.matter) >= ECHO) === true;
  if (echoes && !isChoice) return true;
  const answer = after(turn);
  const isAccepted = answer?.agrees === true && !answer.reverses;
  const adds = answer?.spoken.reduce((sum, one) => sum + one.matter.size, 0) ?? 0;
  return isAccepted && adds <= FEW_WORDS && !hasCue(said.text, "or");
}

const ECHO = 0.4;
const FEW_WORDS = 3;
