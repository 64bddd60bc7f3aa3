/**
 * Splits a sentence into clauses and tells how each is meant: a statement about how things are, or a
 * question, a condition, a request, a plan, hearsay. A cue counts by the clause it stands in.
 */

import { type Expression, expression, LateExpression, pattern } from "./pattern.ts";
import { isPresent } from "./presence.ts";
import type { Sentence } from "./sentences.ts";
import { opensWithThing } from "./shape.ts";
import { wordSet } from "./word-set.ts";

/** How a clause, or the part of it before a cue, is meant when it is not a plain statement. */
export const STANCES = [
  "question",
  "condition",
  "consequence",
  "request",
  "negated",
  "possible",
  "planned",
  "reported",
  "past",
  "general",
  "history",
] as const;
export type Stance = (typeof STANCES)[number];

/** Several stances as one number, a bit for each. */
export function maskOf(stances: Iterable<Stance>): number {
  let mask = 0;
  for (const stance of stances) mask |= 1 << STANCES.indexOf(stance);
  return mask;
}

export interface Clause {
  start: number;
  end: number;
  text: string;
  /** Holds for the whole clause. */
  stances: ReadonlySet<Stance>;
  /** Where in the clause each of these begins to hold. */
  from: ReadonlyMap<Stance, number>;
  /** `stances` as one number. */
  mask: number;
}

const BOUNDARY = new LateExpression(
  pattern`
    \s*(?:[;:—–…(]|\.{2,}|\)\s|\s-{1,2}(?=\s)|,(?=\s))\s*|\s+(?=(?:but|because|since (?!(?:mon|
    tues|wednes|thurs|fri|satur|sun|yester|last|this|then|noon|the|\d|january|february|march|
    april|may|june|july|august|september|october|november|december))|although|though|however|
    whereas|so (?!far|much|many|that|long|fast)|if|unless|whenever|when|once (?!again|and)|until|
    while|after|before|as soon as|in case|assuming|which|whether|and (?:i|we|it|they|the|now|
    then|everything|nothing|all|that|this|he|she|you|nobody|no|please|can|could|let)|even though|
    except|then (?:i|we|it|the)) ?\b)
  `,
  "g",
);

const CONDITION = ofClause(
  "condition",
  pattern`
    ^(?:and |but |or |so |even |only |that |then )*(?:if|unless|in case|assum(?:e|ing)|suppos(?:e|
    ing)|imagine|pretend|say|what if|should (?:the|a|an|it|this|that|anything|something|any)|
    provided|whether|worst case|had (?:we|i|you)|in (?:the|my|our) (?:story|novel|book|game|film|
    movie|scene|chapter|dream)|my (?:character|protagonist|hero)|the hero|it is not that)\b
  `,
);
const TIME_CONDITION = ofClause(
  "time-condition",
  pattern`
    ^(?:and |but |or |so |only )*(?:(?:when(?! i (?:click|open|press|try|run|start|submit|switch|upload|save|log|type|scroll|add|hit|tap|use|call|build|deploy))|as soon as|while|before)\b(?! (?:i|we|it|
    he|she|they|the \w+) (?:\w+ed|was|were|did|got|ran|went|came|made|took|had)\b)|once|until|
    by the time|after (?:you|we|i|they|it|he|she|the \w+|that|this) (?:have|has|is|are|get|gets|
    merge|finish)\b)
  `,
);
const WH = String.raw`(?:why|how|what|which|who|whose|where|when)`;
const QUESTION_OPENING = ofClause(
  "question-opening",
  pattern`
    ^(?:and |so |but |ok |hey |hm+ |also |or |quick question )*(?:(?:do|does|did|can|could|would|
    will|should|shall|is|are|was|were|has|have|am|may|might) (?:you|we|i|it|they|he|she|the|there|
    this|that|these|those|any\w*|someone|somebody|everyone|all|your|our|my)\b|${WH} (?:do|does|
    did|is|are|was|were|should|shall|can|would|could|will|about|if|happens|has|have|many|much|
    come|\w+ (?:do|does|did|is|are|should|can|would|could))\b|any (?:idea|chance|tips|thoughts|
    news|update)|wonder(?:ing)?\b|i wonder\b|not sure (?:if|whether|why|how|what)|do not know (?:if|
    whether)|(?:please )?(?:tell|show|explain|ask) (?:me |us )?(?:why|how|what|if|whether))
  `,
);
/** Looked up, not searched for: an expression of two hundred words takes long to compile. */
const BASE_VERBS = wordSet(`
  accept add adjust allow analyse analyze apply ask assign avoid book break build bump call cancel catch change
  check clean clear close collect come comment compare complete compute configure consider convert copy correct
  count create debug define delete deploy describe design disable do document download draft drop edit email
  enable ensure escalate estimate evaluate explain export extend extract figure fill filter find finish fix
  follow format generate get give go handle help hide ignore implement import improve include increase insert
  inspect install investigate invite keep leave limit list load log look make mark measure merge migrate mention
  mock modify monitor move note notify open optimise optimize order organise organize page parse pass patch pick
  ping plan post prepare prevent print proofread provide publish pull push put raise read rebase rebuild record
  redo reduce refactor register reject release remind remove rename render repeat replace report reproduce rerun
  resolve restart restore return review revert rewrite roll rotate run save schedule search select send separate
  set share shorten show simplify skip solve sort split start stop submit summarise summarize switch take tell
  test track translate treat try tune turn update upgrade upload use validate verify wait warn watch wrap write
`);
/** Words that are a verb in "update the page" and a noun in "update fails": the verb after them tells. */
const NOUN_AFTER_ALL = ofClause(
  "noun-after-all",
  pattern`
    ^(?!\w+ (?:the|a|an|all|my|our|your|this|that|it|me|us|them|any|every|some|to|for|up|out|
    off)\b)(?:upgrade|refactor|update|deploy|build|import|export|test|search|patch|push|release|
    design|plan|report|record|log|load|run|merge|change|copy|order|call|check|list|page|print|
    return|review|start|switch|track|watch|format|filter|limit|email|draft|post|set|open|complete|
    clean|close|separate|note|keep|cut|upload|download|install|backup|invite|import|lock|wrap)s?\b.{0,40}\b(?:runs|ran|finished|published|approved|deployed|sorted|fails|failed|breaks|broke|is|are|was|were|
    has|had|went|works|worked|crashes|crashed|hangs|keeps|takes|does|did|got|succeeded|finished|
    completed|moves|stays|passed|merged|done|goes|returns|throws|times out|stopped|green|red|
    complete|ran|comes|came|gets|died|still|can not|could not|landed|needs|shows|stopped|starts|
    fires)\b
  `,
);
const REQUEST_LEAD =
  /^(?:(?:and|so|ok|okay|now|then|also|just|first|next|finally|please|pls|plz|maybe|hey|step \d+|always|never|you (?:must|should|need to|have to|can|could)) )*/;
const REQUEST = ofClause(
  "request",
  pattern`
    ^(?:please|pls|plz|(?:can|could|would|will) (?:you|someone|somebody|anyone)|(?:do not|never) \w+|make sure|
    be sure|feel free|let me know|someone please|i (?:want|need|would like) (?:you|someone|the reader|it) to)\b
  `,
);
/** After a word that may be a verb, these say that it was a noun. */
const AFTER_NOUN =
  /^(?:is|are|was|were|has|have|had|keeps?|fails?|failed|succeeded|still|did|does|hangs|on \w+ (?:is|are)|went|of)\b/;

/** What is told of years ago is a story. */
const HISTORY = ofClause(
  "history",
  String.raw`\bin (?:19|20)\d\d\b|\bback (?:then|in the|in (?:19|20)\d\d|when)\b|\b(?:years|decades) ago\b|\bgood (?:old )?times\b|\bthose days\b|\b(?:my|his|her) (?:old|former|previous|last) (?:job|boss|company|team|employer)\b|\bused to say\b|\bas a (?:kid|child|student)\b`,
);
/** What follows such a head is an example, a text to work on or a form to fill in, not news. */
const FRAME = ofClause(
  "frame",
  pattern`
    ^(?:the |a |an |my |our |your |this |today's |new |launch |release )*(?:[\w-]+ )?(?:titles?|genre|template|definition|faq|troubleshooting|
    examples?|exercise|scenario|quotes?|sample|release notes?|changelog|checklist|agenda|steps|acceptance criteria|
    definition of done|glossary|headline|subject line|slogan|survey|prompt|plot|synopsis|pros|cons)\b[^:]{0,40}: |
    ^(?:please )?(?:summari[sz]e|rewrite|rephrase|translate|proofread|shorten|make (?:this|the|it)|write|draft|explain|
    describe|suppose|imagine|say|use this)\b[^:]{0,80}: |^you are an? \w
  `,
);
const PARTIAL: readonly (readonly [Stance, Expression])[] = [
  [
    "negated",
    ofClause(
      "negated",
      String.raw`\b(?:not|no|never|nothing|none|nobody|neither|nor|without|hardly|barely|zero|(?<![.\d])0(?![.\d])|no longer|rather than|instead of|free of|far from|cease[ds]?|prevents?|avoids?)\b`,
    ),
  ],
  [
    "question",
    ofClause(
      "question",
      String.raw`\b(?:on|about|explain(?:s|ing)?|tells? (?:you|me|us)|describe|summari[sz]e|show|check|see|ask|asks|wondering|doubt) (?:that |me |us )?(?:why|how|whether|if|what|where)\b|\b(?:doubt|wondering)\b`,
    ),
  ],
  [
    "possible",
    ofClause(
      "possible",
      pattern`
    \b(?:might|may|could(?! not)|would(?! not)|can(?! not)|possibl[ey]|perhaps|maybe|potential(?:ly)?|
    risk|worried|afraid|fear|in theory|should|supposed to|likely|tend(?:s|ed)? to|prone to|hopefully|
    almost|nearly|half-?way|(?:sounds|looks|seems) like you|you probably|not sure|i guess|think|thought|believed|sworn|glad|hear|supposedly)\b
  `,
    ),
  ],
  [
    "planned",
    ofClause(
      "planned",
      pattern`
    \b(?:will|shall|going to|about to|plan(?:s|ning|ned)? to|want(?:s|ed)?|would (?:like|love)|
    need(?:s|ed)? to|have to|has to|must|try(?:ing)? to|tried to|trying|attempt\w* to|hop(?:e|
    es|ing)|let me|let us|intend\w*|aim\w*|goal|ready to|start(?:ing)? to|working on|expect\w*|
    due|target|to be|in order to|scheduled|wish|by (?:monday|tuesday|wednesday|thursday|friday|
    saturday|sunday|tomorrow|next|eod|end of))\b
  `,
    ),
  ],
  [
    "reported",
    ofClause(
      "reported",
      pattern`
    \b(?:says?|said|told|wrote(?! (?:up|the|a|an|my|our|all|and|two|three|\d))|writes|asked (?:me|us|him|her|if|whether|that|them)|claim(?:s|ed)?|according to|reports? that|reads|states?|
    mention(?:s|ed)|argues?|et al|authors?|trials|prior work|proved|studies|the study|the paper|
    the story|the article|my character|scene|hero|protagonist|in the (?:story|novel|book|film|
    movie|game))\b
  `,
    ),
  ],
  [
    "past",
    ofClause(
      "past",
      String.raw`\b(?:was|were|used to|had been|back then|last (?:year|month|week)|yesterday|previously|at the time|before the|ago)\b`,
    ),
  ],
  [
    "general",
    ofClause(
      "general",
      pattern`
    \b(?:usually|typically|generally|in general|often|always|sometimes|commonly|common|means|
    by design|is anything|kinds? of|causes of|occurs?|types? of|examples? of|known as|called|
    every time you|guide (?:to|for)|how to|best practice|handling|process:)\b|^(?:a|an|any|most|
    some|such|an unhandled) |^[\w-]+(?: [\w-]+)? (?:are|is) (?:wrapped|listed|retried|handled|
    logged|stored|ignored|caught|rethrown|raised|returned|fine|known|shown|used)\b|^to (?!(?:be|
    keep) )[a-z]+ (?:the|a|an|this|it|your|merge|any) ?|^in (?:python|node|java|rust|go|javascript|
    typescript|sql|react|general|english)\b
  `,
    ),
  ],
];

/** Read once, however many ask for them. */
export function clausesOf(sentence: Sentence): readonly Clause[] {
  return (sentence.clauses ??= readClauses(sentence));
}

function ofClause(name: string, source: string): Expression {
  return expression(`clause:${name}`, source, { isOfParts: true });
}

export function readClauses({
  plain,
  present,
  isQuestion,
}: Pick<Sentence, "plain" | "present" | "isQuestion">): Clause[] {
  const matches = (one: Expression, text: string) => isPresent(present, one) && one.regexp.test(text);
  const isRequest = (text: string) => {
    const lead = REQUEST_LEAD.exec(text)?.[0] ?? "";
    const rest = text.slice(lead.length);
    if (!/(?:please|pls|plz) /.test(lead) && !opensWithVerb(rest) && !matches(REQUEST, rest)) return false;
    return !matches(NOUN_AFTER_ALL, text) && !opensWithThing(text);
  };
  const spans = cut(plain);
  const clauses: Clause[] = [];
  const asked = spans.map(({ text }) => matches(QUESTION_OPENING, text));
  const requested = spans.map(({ text }) => isRequest(text));
  const firstAsked = spans.findIndex((_span, index) => asked[index] === true || requested[index] === true);
  const isHistory = matches(HISTORY, plain) || matches(FRAME, plain);
  let inCondition = false;
  for (const [index, { start, end, text }] of spans.entries()) {
    const stances = new Set<Stance>();
    const isAsked = isQuestion && (firstAsked <= 0 || index >= firstAsked);
    if (isHistory) stances.add("history");
    if (isAsked || asked[index] === true) stances.add("question");
    if (matches(CONDITION, text)) {
      stances.add("condition");
      inCondition = true;
    } else if (matches(TIME_CONDITION, text)) {
      stances.add("condition");
    } else if (inCondition) {
      if (/^(?:but|however|now)\b/.test(text)) inCondition = false;
      else stances.add("consequence");
    }
    if (requested[index] === true) stances.add("request");
    const from = new Map<Stance, number>();
    for (const [stance, one] of PARTIAL) {
      const found = isPresent(present, one) ? one.regexp.exec(text) : null;
      if (found !== null) from.set(stance, start + found.index);
    }
    clauses.push({ start, end, text, stances, from, mask: maskOf(stances) });
  }
  return clauses;
}

function opensWithVerb(text: string): boolean {
  const first = /^[a-z]+/.exec(text)?.[0] ?? "";
  return BASE_VERBS.has(first) && !AFTER_NOUN.test(text.slice(first.length + 1));
}

/** The stances that hold where a cue begins (see maskOf). */
export function stancesAt(clauses: readonly Clause[], index: number): number {
  const clause = clauses.find(({ end }) => index < end) ?? clauses.at(-1);
  if (clause === undefined) return 0;
  let held = clause.mask;
  for (const [stance, from] of clause.from) if (from < index) held |= 1 << STANCES.indexOf(stance);
  return held;
}

function cut(plain: string): { start: number; end: number; text: string }[] {
  const spans: { start: number; end: number; text: string }[] = [];
  let start = 0;
  const close = (end: number, next: number) => {
    const text = plain.slice(start, end).trim();
    if (text !== "") spans.push({ start, end: next, text: plain.slice(start, end).trimEnd() });
    start = next;
  };
  const { regexp } = BOUNDARY;
  regexp.lastIndex = 0;
  for (let match = regexp.exec(plain); match !== null; match = regexp.exec(plain)) {
    if (match.index > start) close(match.index, match.index + match[0].length);
    else start = match.index + match[0].length;
  }
  close(plain.length, plain.length);
  return spans;
}
