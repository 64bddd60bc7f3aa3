/**
 * The words of a sentence, each with its part in it ("thing is broken again" → "N be bad again"), so that a
 * report in words no cue foresaw is still known by its build. Words are looked up, not searched for.
 */

import { DONE_VERBS } from "./cues/lexicon.ts";
import type { Group } from "./score.ts";
import { wordSet } from "./word-set.ts";
import { createWordTable } from "./word-table.ts";

const WORDS_OF: Readonly<Record<string, string>> = {
  be: "is are am was were been being isnt arent",
  get: "get gets got getting gotten",
  have: "have has had having",
  do: "do does did doing",
  modal: "would could should might may must shall ought",
  will: "will gonna going",
  can: "can able",
  need: "need needs want wants wanted hope hoping trying try tried plan plans planning wish",
  not: "not never",
  no: "no none nothing nobody neither nor zero without hardly barely",
  we: "i we",
  you: "you your yours yourself",
  they: "he she they his their her him them someone somebody who",
  it: "it this that these those which everything",
  the: "the a an",
  my: "my our us me mine ours",
  all: "all both every each most half everyone everybody any some",
  if: "if unless whether suppose imagine assuming in_case",
  when: "when once until till before after while whenever",
  why: "why how what where",
  because: "because since due reason",
  but: "but though although however yet except",
  and: "and or plus",
  // What normalize writes for one.
  arrow_: "arrow_",
  so: "so therefore hence thus then",
  now: "now finally anymore at_last already just",
  again: "again back",
  still: "still keeps keep kept constantly always forever ever",
  only: "only instead rather exclusively solely everywhere elsewhere otherwise",
  maybe:
    "maybe perhaps probably possibly likely think guess wonder wondering hopefully seems seem apparently supposedly",
  please: "please pls plz thanks thank thx sorry cheers congrats glad great nice cool lol haha",
  time: "today tonight tomorrow yesterday morning afternoon evening noon monday tuesday wednesday thursday friday saturday sunday week weeks month months day days hour hours hrs min minutes year quarter q1 q2 q3 q4 sprint next last january february march april june july august september october november december",
  prep: "of in on at to for with from by into onto over under about against through across off out up down between per via as than around",
  stay: "stay stays remain remains become becomes goes go moves move means counts belongs lives",
  choose:
    "use uses using going go keep keeping drop dropping dropped skip skipping take taking pick picked picking choose chose chosen choosing stick sticking switch switching ditch ditching scrap scrapping scrapped kill killing cancel cancelled canceled postpone postponed postponing move moving cut cutting replace replacing adopt adopting retire retiring deprecate settle settled agree agreed decide decided decision decline declined reject rejected reject approve approved vote voted park parked shelve shelved pause rename limit cap freeze launch ship stay leave revert default defaults opt opted",
  make: "add write fix create update check look run send make show explain give tell help find set put build remove change open read see test review rename draft compare list merge order book call ask let",
};

/** Trouble, in every form that is unlikely to mean anything else. */
const BAD = `
  abandoned absent abort aborts aborted ached alarm alarms alerting annoying bad badly banned barf blank blanks bleeds block
  blocked blocker blockers blocking blocks bogus borked botched bounce bounces bounced bouncing break breaks breaking broke
  broken bug buggy bugs burned burnt busted cancels cannot chokes choking clash clashes clashing clogged closed collapse
  collapsed collapses collapsing complain complains complaining conflict conflicts conflicting confused corrupt corrupted
  corrupts crash crashed crashes crashing crawl crawls critical damaged dangling dead deadlock deadlocked deadlocks declined
  declines degraded degrades delay delayed delays denied denies deny desync died dies disabled disagree disagrees disappeared
  disappears disappearing disconnected disconnects disputed down downtime drains drift drifted drifts drowning drops duplicate
  duplicated duplicates dying eats empty error errored erroring errors evicted evicting evicts exceeded exceeds exhausted expired
  expires explode explodes exploded fail failed failing fails failure failures falls faulty fell flaky flapping flickers flips
  flooded foggy forbidden fried froze frozen freezes freezing full garbage garbled ghosted glitch glitches glitching grinding
  halt halted hang hangs hanging hosed hung idle ill impossible inaccessible incompatible inconsistent incorrect incomplete
  insufficient invalid jam jammed jams killed kills lag lagging lags late leak leaked leaking leaks limbo lock locked locks
  loops lose loses losing lost malformed mangled mangles maxed mess messed mia misconfigured mismatch missing misses nan
  nonsense offline off oom oomkilled oomkills ooms orphaned outage outages outdated overdue overflow overflows overheating
  overheats overloaded overran overwhelmed overwrites paged paging painful panics pegged piling pointless problem problems
  quarantined quarantines quit refuse refused refuses refusing regressed regression rejected rejects rejecting restarting
  restarts revoked rot rots rotting ruined segfault segfaults severed shut sick silent slow slower sluggish spam spikes spinning
  spins stale stall stalled stalling stalls standstill starved stolen stopped stops stranded strike strikes struggle struggling
  stuck stumped suspended swallowed swallows swamped terminated threatened throttled throttles throttling throws timeout timeouts
  timing torn toast trapped trips tripped tripping trouble truncated truncates unable unanswered unavailable undefined
  understaffed unmanned unpaid unreachable unreadable unreliable unresolved unresponsive unstable unusable upside useless vanish
  vanished vanishes waiting warped wedged weird wiped wipes worse worthless wrecked wrong xxx zombie spam scrambled blurry
  ran_out nowhere pending capped awol unhappy leaky threatens threaten bankrupt closed maxes spoiled mouldy moldy smashed`;

const GOOD = `
  alive available awake active approved available better clean cleared complete correct cured done ended fast faster fine fixed
  flawless flowing good green happy healed healthy live ok okay online open operational over passing perfect perfectly quiet
  ready recovered resolved responsive restored resumed running safe saved settled shipped smooth smoothly snappy solid solved
  sorted spotless stable steady succeeded success successful successfully through tidy unblocked unfrozen up valid verified well
  works working worked passes pass passed matches match behaves compiles loads builds boots connects responds verifies completes
  survives recovers resolves converges closes prints renders returns spins runs starts flies fits holds sings reproduces syncs
  plays arrives heats cools charges pairs opens accepted landed arrived merged won signed paid launched published released
  delivered exists gone history finished hooray_ done_ yay woohoo phew tada hurray`;

const LEXICON = new Map<string, string>();
for (const [tag, words] of Object.entries(WORDS_OF)) for (const word of words.split(" ")) LEXICON.set(word, tag);
for (const word of wordSet(BAD)) LEXICON.set(word, "bad");
for (const word of wordSet(GOOD)) LEXICON.set(word, "good");

const IRREGULAR_PAST = new Set(
  "went came got made did sent wrote built found gave took ran sold bought put met held left drew began told said saw knew sped paid wrote written sung swept dug hung sewn laid shot caught taught brought thought split cut set reset shut hit won rebuilt rewrote redid redone drove flown grew grown given taken shown seen known done".split(
    " ",
  ),
);

const NOT_A_VERB = new Set(
  "thing something anything during string bring spring king ceiling evening meeting".split(" "),
);

/** The names of the parts; a part is its place in this list. 0 stands for no part. */
export const PARTS: readonly string[] = [
  "",
  "^",
  "$",
  ...Object.keys(WORDS_OF),
  ..."bad good done past ed ing ly s N # , . ! ? : ; ( ) +".split(" "),
];

const PART_NUMBERS = new Map(PARTS.map((name, index) => [name, index]));

export function partNumber(name: string): number {
  return PART_NUMBERS.get(name) ?? 0;
}

export const START = partNumber("^");
export const END = partNumber("$");
const THING = partNumber("N");

/** What a word is, wherever it stands. */
export interface KnownWord {
  text: string;
  part: number;
  /** What the model knows of it, once somebody has asked. */
  weights: Group | "unread" | undefined;
}

/** The words of a sentence, numbers and signs among them, and where each begins. */
export interface Words {
  words: KnownWord[];
  starts: number[];
}

/** What is looked at of a sentence that does not end. */
const MOST_WORDS = 80;

/** Without the full stop at the end, which some people set and others do not. */
export function readWords(plain: string): Words {
  const words: KnownWord[] = [];
  const starts: number[] = [];
  for (let at = 0; at < plain.length && words.length < MOST_WORDS;) {
    const end = endOfWord(plain, at);
    if (end > at) {
      words.push(known.at(plain, at, end));
      starts.push(at);
    }
    at = Math.max(end, at + 1);
  }
  while (words.at(-1)?.text === ".") {
    words.pop();
    starts.pop();
  }
  return { words, starts };
}

const LETTER = 1;
const DIGIT = 2;
const SIGN = 4;
/** May go on after a letter. */
const IN_WORD = 8;
/** May go on after a digit. */
const IN_NUMBER = 16;

let kinds: Uint8Array | undefined;

/** Of the word that begins at a place; the place itself, where none does. */
function endOfWord(plain: string, start: number): number {
  const kindOf = (kinds ??= readKinds());
  const code = plain.charCodeAt(start);
  const kind = kindOf[code] ?? 0;
  if ((kind & SIGN) !== 0) return start + 1;
  const more = (kind & LETTER) !== 0 ? IN_WORD : (kind & DIGIT) !== 0 ? IN_NUMBER : 0;
  if (more === 0) return start;
  let end = start + 1;
  while (((kindOf[plain.charCodeAt(end)] ?? 0) & more) !== 0) end += 1;
  return end;
}

/** By the code of a character. */
function readKinds(): Uint8Array {
  const read = new Uint8Array(128);
  for (const letter of "abcdefghijklmnopqrstuvwxyz_") read[letter.charCodeAt(0)] = LETTER | IN_WORD | IN_NUMBER;
  for (const digit of "0123456789") read[digit.charCodeAt(0)] = DIGIT | IN_NUMBER;
  for (const sign of ",!?:;()+") read[sign.charCodeAt(0)] = SIGN;
  for (const sign of "'-") read[sign.charCodeAt(0)] = IN_WORD;
  read[".".charCodeAt(0)] = SIGN | IN_NUMBER;
  read["%".charCodeAt(0)] = IN_NUMBER;
  return read;
}

/** The parts in their order between `^` and `$`; one thing, however many words name it. */
export function shapeOf(words: readonly KnownWord[]): number[] {
  const parts = [START];
  let before = START;
  for (const { part } of words) {
    if (part !== THING || before !== THING) parts.push(part);
    before = part;
  }
  parts.push(END);
  return parts;
}

/** "load test falls over" is no request to load something: a thing that something happens to comes first. */
export function opensWithThing(clause: string): boolean {
  const [, , second, third] = shapeOf(readWords(clause).words).map((part) => PARTS[part] ?? "");
  if (second === undefined) return false;
  return (
    /^(?:bad|good|be|have|stay)$/.test(second) ||
    (/^(?:N|make|s)$/.test(second) && /^(?:bad|be|have|stay)$/.test(third ?? ""))
  );
}

const known = createWordTable((text): KnownWord => ({ text, part: partNumber(partNameOf(text)), weights: "unread" }));

export function knownWord(text: string): KnownWord {
  return known.at(text, 0, text.length);
}

function partNameOf(word: string): string {
  const listed = LEXICON.get(word);
  if (listed !== undefined) return listed;
  if (/^\d/.test(word)) return "#";
  if (/^[^a-z_]/.test(word)) return word;
  if (DONE_VERBS.has(word)) return "done";
  if (IRREGULAR_PAST.has(word)) return "past";
  if (word.length > 3 && word.endsWith("ed")) return "ed";
  if (word.length > 4 && word.endsWith("ing") && !NOT_A_VERB.has(word)) return "ing";
  if (word.length > 4 && word.endsWith("ly")) return "ly";
  if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) return "s";
  return "N";
}
