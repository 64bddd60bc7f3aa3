/** Splits the prose of a message into sentences, each with its section, its list and the evidence after it. */
import { languageOf, normalize } from "./normalize.ts";
import { type ProseLine, readProse } from "./prose.ts";

export type Section = "done" | "blocked" | "decided" | "planned" | "learned" | "background";

export interface Sentence {
  /** As written. */
  text: string;
  /** See normalize. */
  plain: string;
  section: Section | undefined;
  isItem: boolean;
  checked: boolean | undefined;
  introducesEvidence: boolean;
  /** A sentence before it only agrees ("ok.", "agreed"). */
  followsAgreement: boolean;
  isQuestion: boolean;
  /** Not English. */
  isForeign: boolean;
  /** Nothing but "ok", "sounds good" or the like. */
  isAgreement: boolean;
}

/** Only the beginning and the end of a longer message are read. */
const LONGEST_MESSAGE = 24_000;
const MAX_SENTENCES = 160;
/** Longer sentences are cut. */
const LONGEST_SENTENCE = 1200;

const SECTIONS: readonly (readonly [Section, RegExp])[] = [
  [
    "planned",
    /^(?:the |my |our |your )?(?:plan|next|next steps?|to-?dos?|remaining|still (?:to do|open|missing)|up next|upcoming|later|follow-?ups?|what(?:'s| is) next|proposed|proposal|suggest\w*|recommend\w*|ideas?|options?|open questions?|questions?|tomorrow|today|goals?|acceptance criteria|requirements?|tasks?|action items?|not (?:done|started)|in progress|steps?|how to\b.*|checklist|agenda)\b[^.]{0,40}$/,
  ],
  [
    "done",
    /^(?:what (?:i|we) (?:did|changed)|done|finished|completed?|accomplish\w*|shipped|merged|changes(?: made)?|summary of changes|what(?:'s| is| has| was)? (?:done|changed|new|working)|progress|achieve\w*|resolved|fixed|yesterday|wins|delivered|closed)\b[^.]{0,30}$/,
  ],
  [
    "blocked",
    /^(?:block(?:ed|ers?|ing)(?: issues?)?|impediments?|stuck(?: on)?|problems?|current (?:issues|problems)|open (?:issues|problems)|issues|what(?:'s| is) (?:broken|blocked|not working|failing)|failing|broken|waiting(?: on| for)?|not working)\b[^.]{0,30}$/,
  ],
  [
    "decided",
    /^(?:decisions?(?: made| taken)?|decided|agreed|what we (?:decided|agreed)(?: on)?|agreements?|resolutions?|conclusions?)\b[^.]{0,30}$/,
  ],
  [
    "learned",
    /^(?:insights?|learnings?|lessons?(?: learned)?|findings?|key findings?|root causes?|what (?:i|we) learned|discover\w*|takeaways?|analysis|diagnosis)\b[^.]{0,30}$/,
  ],
  [
    "background",
    /^(?:background|context|known (?:limitations|issues)|limitations|risks?|definitions?|glossary|faq|troubleshooting|notes?|examples?|overview|references?|description|expected(?: behaviou?r)?|steps to reproduce|common\b.*)\b[^.]{0,30}$/,
  ],
];

const AGREEMENT =
  /^(?:ok(?:ay)?|k|agreed|yes|yep|yup|yeah|fine|sure|deal|done|understood|right|great|perfect|good|ok convinced|approved|all right|got it|fair enough|sounds good|convinced|sold|you win|nope|nah|no|makes sense|good point|you are right|settled)(?:[\s,]+(?:then|ok(?:ay)?|so|good|great|let us do (?:it|that)))*[.!,]*$/;

export function readSentences(text: string): Sentence[] {
  const message =
    text.length <= LONGEST_MESSAGE
      ? text
      : `${text.slice(0, LONGEST_MESSAGE / 2)}\n\n${text.slice(-LONGEST_MESSAGE / 2)}`;
  const lines = joinWrapped(readProse(message));
  const language = languageOf(lines.map((line) => line.text).join("\n"));
  const sentences: Sentence[] = [];
  let section: Section | undefined;
  let followsAgreement = false;
  for (const [index, line] of lines.entries()) {
    const named = sectionOf(line, lines[index + 1]);
    if (named !== undefined) section = named === "none" ? undefined : named;
    else if (line.kind === "text" && line.startsBlock) section = undefined;
    if (line.kind === "heading" || (named !== undefined && named !== "none")) continue;
    const parts = splitSentences(line.text);
    for (const [place, part] of parts.entries()) {
      if (sentences.length >= MAX_SENTENCES) return sentences;
      const plain = normalize(part.slice(0, LONGEST_SENTENCE));
      const isAgreement = AGREEMENT.test(plain);
      sentences.push({
        text: part,
        plain,
        section,
        isItem: line.kind === "item",
        checked: line.checked,
        introducesEvidence: line.introducesEvidence && place === parts.length - 1,
        followsAgreement,
        isAgreement,
        isQuestion: isAsked(plain),
        isForeign: language === "other" || (language === "mixed" && languageOf(part) === "other"),
      });
      followsAgreement = isAgreement || (followsAgreement && plain.length < 24);
    }
  }
  return sentences;
}

function isAsked(plain: string): boolean {
  return /[?？]["')\]]*(?:\s*\S?_?)?$/.test(plain) || /[?？]/.test(plain.slice(-3));
}

/** Joins hard-wrapped lines of a paragraph. Lines of a chat stay separate. */
function joinWrapped(lines: readonly ProseLine[]): ProseLine[] {
  const joined: ProseLine[] = [];
  for (const line of lines) {
    const last = joined.at(-1);
    const continues =
      last !== undefined &&
      !line.startsBlock &&
      line.kind === "text" &&
      last.kind !== "heading" &&
      last.text.length >= 56 &&
      /[\w,)]$/.test(last.text) &&
      /^[a-z(`"']/.test(line.text);
    if (continues) {
      last.text += ` ${line.text}`;
      last.introducesEvidence = line.introducesEvidence;
    } else joined.push({ ...line });
  }
  return joined;
}

/** The section of a heading, or of a lead-in before a list ("Blocked:"). "none" for any other heading. */
function sectionOf(line: ProseLine, next: ProseLine | undefined): Section | "none" | undefined {
  const isLeadIn =
    line.kind === "text" &&
    line.text.length < 60 &&
    next !== undefined &&
    /:\s*$/.test(line.text) &&
    next.kind === "item";
  if (line.kind !== "heading" && !isLeadIn) return undefined;
  const title = line.text
    .replace(/[:\s*_]+$/g, "")
    .replace(/^[^\p{L}]+/u, "")
    .toLowerCase();
  const found = SECTIONS.find(([, pattern]) => pattern.test(title))?.[0];
  if (found !== undefined) return found;
  return line.kind === "heading" ? "none" : undefined;
}

const ABBREVIATION =
  /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|al|dr|mr|mrs|ms|prof|no|fig|sec|ch|pp|st|jr|inc|ltd|co|dept|est|resp|incl|(?<!\d\s)[a-z])\.$/i;
/** "subject line A." ends a sentence; "John F." does not. */
const LETTER_AFTER_WORD = /[a-z]\s[A-Z]\.$/;
const INITIAL = /(?:^|\s)[A-Z]\S*\s[A-Z]\.$/;

function isAbbreviated(candidate: string): boolean {
  if (LETTER_AFTER_WORD.test(candidate) && !INITIAL.test(candidate)) return false;
  return ABBREVIATION.test(candidate);
}

const SENTENCE_END = /[.!?…]+["')\]*_]*(?:\s+|$)|[。！？]+[」』]?\s*/g;

function splitSentences(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  SENTENCE_END.lastIndex = 0;
  for (let match = SENTENCE_END.exec(text); match !== null; match = SENTENCE_END.exec(text)) {
    const end = match.index + match[0].length;
    const candidate = text.slice(start, end).trim();
    if (match[0].startsWith(".") && !match[0].startsWith("..") && end < text.length && isAbbreviated(candidate))
      continue;
    if (candidate !== "") parts.push(candidate);
    start = end;
  }
  const rest = text.slice(start).trim();
  if (rest !== "") parts.push(rest);
  return parts.flatMap(splitHalves);
}

/** "This works; that does not" and "this works, but that does not" are two statements. */
function splitHalves(sentence: string): string[] {
  if (!sentence.includes(";") && !sentence.includes("but ")) return [sentence];
  const halves = sentence.split(/;\s+|,?\s+(?=but (?!also\b|not\b|if\b))/);
  if (halves.length === 1 || halves.length > 3 || /["“”`(]/.test(sentence)) return [sentence];
  const stand = halves.every((half) => half.split(/\s+/).length >= 3);
  return stand ? halves : [sentence];
}
