/** One message, read for what it says about the work. Every line is clean, redacted and at most 200 characters. */
import { redactText } from "../../base/redact.ts";
import { clausesOf } from "../patterns/clauses.ts";
import { excerpt } from "../patterns/content.ts";
import { expression } from "../patterns/pattern.ts";
import { matches, toPlain } from "../patterns/plain.ts";
import { readProse } from "../patterns/prose.ts";
import { goesOn } from "../patterns/remark.ts";
import { type Sentence, readSentences } from "../patterns/sentences.ts";
import type { ReadMessage } from "../state.ts";
import { isUnnamed, subjectOf } from "./subject.ts";
import { type Plan, saysNext, saysWorking } from "./plan-words.ts";
import {
  agrees,
  asksToKnow,
  calledOff,
  delivers,
  isCasual,
  isPhatic,
  isSmallTalk,
  leavesRest,
  needsInput,
  prohibits,
  reportsFailure,
  reportsPart,
  saysDone,
  saysOffer,
  wantsWork,
} from "./words.ts";

export interface MessageReading {
  /** Without secrets. */
  text: string;
  /** Of that text, for pattern detection. */
  sentences: readonly Sentence[];
  isCasual: boolean;
  /** What the message is about: of a person's, what is asked for or else told first. */
  topic: string | undefined;
  /** Of a person: what is told and neither asked for nor planned, in the order of the message. */
  told: string[];
  requests: { text: string; isQuestion: boolean }[];
  working: string[];
  /** Said to come next, in so many words. */
  next: string[];
  /** Promised, without a time. */
  promises: string[];
  offer: { kind: "offer" | "proposal"; text: string } | undefined;
  agrees: boolean;
  /** Of a person: wants what is open to go on. */
  goesOn: boolean;
  /** Something is called off; what it is, as far as it is named. */
  calledOff: string | undefined;
  saysDone: boolean;
  /** Of the agent: hands over what was asked for. */
  delivers: boolean;
  /** Of the agent: something did not come off. */
  reportsFailure: boolean;
  /** Of the agent: what it reports is not all of it. */
  reportsPart: boolean;
  /** There is more to do of what it reports. */
  leavesRest: boolean;
  /** Says nothing of work, so that an answer to small talk is small talk, too. */
  isSmallTalk: boolean;
  /** Of the agent: it needs to be told something before it can go on. */
  asksBack: boolean;
}

export function readMessage({ role, text: original }: ReadMessage): MessageReading {
  const text = redactText(original);
  const sentences = readSentences(text);
  if (sentences.length === 0) return foreignReading(text, role);
  const casual = isCasual(sentences);
  const lists = readLists(text);
  const isTalk = role === "user" && !casual;
  const plans = readPlans(sentences, role === "user" ? "user" : "assistant");
  const requests = isTalk ? readRequests(sentences, plans.explicit) : [];
  const told = isTalk ? readTold(sentences, plans.explicit) : [];
  const topic = isTalk ? (requests.find((one) => !one.isQuestion)?.text ?? firstTold(sentences)) : undefined;
  const offer = role === "assistant" ? readOffer(sentences) : undefined;
  const off = role === "user" ? firstCalledOff(sentences) : undefined;
  return {
    text,
    sentences,
    isCasual: casual,
    topic,
    told,
    requests,
    working: [...lists.working, ...plans.working].slice(0, MOST_LINES),
    next: [...lists.next, ...plans.explicit].slice(0, MOST_LINES),
    promises: plans.promise.slice(0, MOST_LINES),
    offer,
    agrees: role === "user" && sentences.slice(0, 1).some(agrees),
    goesOn: role === "user" && sentences.some((said) => !said.isQuestion && goesOn(said)),
    calledOff: off,
    saysDone: sentences.some(saysDone),
    delivers: sentences.some(delivers),
    reportsFailure: role === "assistant" && sentences.some(reportsFailure),
    reportsPart: role === "assistant" && sentences.some(reportsPart),
    leavesRest: sentences.some(leavesRest),
    isSmallTalk: casual || isSmallTalk(sentences),
    asksBack: role === "assistant" && (sentences.some(needsInput) || asksAtTheEnd(sentences)),
  };
}

/**
 * Not English, or nothing but code: what it is about can be shown, what it says is not known. Unless it is a
 * note in a few words, which no article gives away as English: "TODO: write release notes".
 */
function foreignReading(text: string, role: ReadMessage["role"]): MessageReading {
  const lines = readProse(text).map((one) => one.text);
  const line = lines.find((said) => said.length >= MIN_TOPIC_LENGTH && !wantsMore(said));
  const topic = role === "user" && line !== undefined ? excerpt(line) : undefined;
  const said = toPlain(line === undefined || !ASCII.test(line) ? "" : line);
  const working = topic !== undefined && saysWorking(said) ? [topic] : [];
  const next = topic !== undefined && saysNext(said, "user") === "explicit" ? [topic] : [];
  const isPlan = working.length + next.length > 0;
  return {
    text,
    sentences: [],
    isCasual: line === undefined,
    topic,
    told: [],
    // Whatever it asks, an answer is an answer.
    requests: topic === undefined || isPlan ? [] : [{ text: topic, isQuestion: true }],
    working,
    next,
    promises: [],
    offer: undefined,
    agrees: false,
    goesOn: role === "user" && lines.some(wantsMore),
    calledOff: undefined,
    saysDone: false,
    delivers: false,
    reportsFailure: false,
    reportsPart: false,
    leavesRest: false,
    isSmallTalk: line === undefined,
    asksBack: false,
  };
}

function wantsMore(line: string): boolean {
  return goesOn(toPlain(line));
}

const ASCII = /^[\x20-\x7e]+$/;
const MIN_TOPIC_LENGTH = 10;
const MOST_LINES = 5;
const MOST_REQUESTS = 3;
/** "Fix it please" needs the sentence before it to be understood. */
const SHORT_SENTENCE = 5;

function readRequests(sentences: readonly Sentence[], planned: readonly string[]): MessageReading["requests"] {
  const requests: MessageReading["requests"] = [];
  for (const [index, sentence] of sentences.entries()) {
    const { text, isQuestion, section, checked } = sentence;
    // An item under a title is what the title says.
    if (section !== undefined || checked === true) continue;
    const isToKnow = asksToKnow(sentence);
    const isWork = !isToKnow && (wantsWork(sentence) || asksForWork(sentence));
    if ((!isWork && !isQuestion && !isToKnow) || calledOff(sentence) !== undefined || isPhatic(sentence)) continue;
    // What is only to come is not asked for yet.
    if (isWork && !matches(sentence, PLEASE) && planned.includes(excerpt(text)) && !matches(sentence, STILL)) continue;
    requests.push({ text: withContext(sentence, sentences[index - 1]), isQuestion: !isWork });
  }
  const work = requests.filter((request) => !request.isQuestion);
  return (work.length > 0 ? work : requests).slice(0, MOST_REQUESTS);
}

const PLEASE = expression("request:please", String.raw`\b(?:please|pls|plz|(?:can|could|would|will) (?:you|u))\b`);
/** Left over of what was begun. */
const STILL = expression("request:still", String.raw`\bstill (?:need|have|got) to\b`);

function asksForWork(sentence: Sentence): boolean {
  return clausesOf(sentence).some(({ stances, text }) => stances.has("request") && !prohibits(text));
}

function withContext({ text, plain, isItem }: Sentence, before: Sentence | undefined): string {
  const isShort = !isItem && plain.split(" ").length <= SHORT_SENTENCE && before !== undefined && !isPhatic(before);
  return excerpt(isShort ? `${before.text} ${text}` : text);
}

/** What could be what it is all about; the shorter ones are remarks. */
function readTold(sentences: readonly Sentence[], planned: readonly string[]): string[] {
  return sentences
    .filter((sentence) => {
      const { plain, isQuestion, checked } = sentence;
      const isLong = !isQuestion && checked !== true && plain.split(" ").length >= MIN_TOLD_WORDS;
      return isLong && !isPhatic(sentence) && calledOff(sentence) === undefined && !saysDone(sentence);
    })
    .slice(0, MOST_TOLD)
    .map(({ text }) => excerpt(text))
    .filter((line) => !planned.includes(line));
}

const MIN_TOLD_WORDS = 5;
const MOST_TOLD = 8;

function firstTold(sentences: readonly Sentence[]): string | undefined {
  const said = sentences.find((sentence) => {
    return sentence.text.length >= MIN_TOPIC_LENGTH && !isPhatic(sentence) && calledOff(sentence) === undefined;
  });
  return said === undefined ? undefined : excerpt(said.text);
}

function firstCalledOff(sentences: readonly Sentence[]): string | undefined {
  for (const sentence of sentences) {
    const off = calledOff(sentence);
    if (off !== undefined) return off;
  }
  return undefined;
}

function readOffer(sentences: readonly Sentence[]): MessageReading["offer"] {
  const index = sentences.findLastIndex((one) => saysOffer(one, one.isQuestion) !== undefined);
  const sentence = sentences[index];
  const kind = sentence === undefined ? undefined : saysOffer(sentence, sentence.isQuestion);
  if (sentence === undefined || kind === undefined) return undefined;
  return { kind, text: withContext(sentence, sentences[index - 1]) };
}

function asksAtTheEnd(sentences: readonly Sentence[]): boolean {
  const last = sentences.at(-1);
  return last?.isQuestion === true && saysOffer(last, true) === undefined;
}

type Plans = Record<"working" | Plan, string[]>;

function readPlans(sentences: readonly Sentence[], by: "user" | "assistant"): Plans {
  const plans: Plans = { working: [], explicit: [], promise: [] };
  for (const sentence of sentences) {
    const { text, isQuestion, checked, section } = sentence;
    if (isQuestion || checked === true || section === "done" || calledOff(sentence) !== undefined) continue;
    const isWorking = saysWorking(sentence);
    const plan = saysNext(sentence, by);
    if (!isWorking && plan === undefined) continue;
    const line = excerpt(text);
    // "On it" says that somebody is, but not on what.
    if (isUnnamed(subjectOf(line))) continue;
    if (isWorking) plans.working.push(line);
    if (plan !== undefined) plans[plan].push(line);
  }
  return plans;
}

const NEXT_LIST =
  /^(?:(?:suggested |proposed |my |our |the )?next(?: steps?| up| actions?)?|to-?dos?|remaining|still (?:to do|open|missing)|left to do|what(?:'s| is) (?:next|left)|tomorrow|up next)\W*$/i;
const WORKING_LIST = /^(?:in progress|wip|doing|working on(?: now)?|currently|under way|underway|ongoing)\W*$/i;

const ANY_ITEM = /^\s*(?:[-*+•‣–]|\d{1,3}[.)])\s/m;

/** Items below "Next:", "In progress:" and the like. */
function readLists(text: string): { working: string[]; next: string[] } {
  const lists: { working: string[]; next: string[] } = { working: [], next: [] };
  if (!ANY_ITEM.test(text)) return lists;
  let list: string[] | undefined;
  for (const line of readProse(text)) {
    if (line.kind !== "item") list = listOf(line.text, lists);
    else if (list !== undefined && line.checked !== true) list.push(excerpt(line.text));
  }
  return lists;
}

function listOf(title: string, lists: { working: string[]; next: string[] }): string[] | undefined {
  if (title.length > 60) return undefined;
  const bare = title.replace(/^[^\p{L}]+/u, "");
  if (NEXT_LIST.test(bare)) return lists.next;
  return WORKING_LIST.test(bare) ? lists.working : undefined;
}
