/**
 * Checks whether an entry supports a model's line: the line adds nothing and does not say the opposite. Strict, in any
 * language: a dropped good line costs little, an invented one much.
 */

/** Code, addresses, paths, options, identifiers and numbers. */
const FACT =
  /`[^`]{1,200}`|\bhttps?:\/\/\S+|[\w@~.-]*\/[\w@./-]+|(?<!\S)-{1,2}[a-z][\w-]*|\b\w+[._]\w+\b|\b[a-z]+[A-Z]\w*|#\d+|\b\w*\d[\w.,:%-]*|\B@\w+/g;
const CAPITALIZED = /\p{Lu}[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}'’-]+/gu;
const NEGATION =
  /\b(?:not|no|never|none|nothing|nobody|without|cannot|unable|instead|kein\w*|nicht|nie|ohne|pas|jamais|sans|aucune?|ninguna?|nunca|sin)\b|n['’]t\b|ない|ません|ず|不|没/i;
/** How a line may begin although the entry has no such word. */
const OPENINGS = new Set(
  `add agree answer approve ask build change check choose clean complete continue create decide delete deploy document
  done drop expand explain fail find finish fix get give have implement improve install investigate keep leave look make
  merge migrate move need open pick plan publish push read reject release remove rename replace reply reproduce resolve
  review run send set ship start stop switch test the they this try update upgrade use user users verify wait waiting
  want we work working write agent person it`.split(/\s+/),
);

/** Share of a line's words that the entry must have. */
const MIN_SHARED = 0.6;
const SENTENCE_END = /(?<=[.!?])\s+|\n+|(?<=[。！？])/;
const CLAUSE_END = /(?<=[.!?,;:])\s+|\n+|[。！？、]|\s[–—-]\s/;

/** The sentence of the entry that supports the line best. Undefined: the entry does not support it. */
export function supportFor(line: string, entry: string): string | undefined {
  const known = entry.toLowerCase();
  const facts = line.match(FACT) ?? [];
  if (!facts.every((fact) => saysWhole(known, bare(fact)))) return undefined;
  if (!namesIn(line).every((name) => saysWhole(known, bare(name)))) return undefined;
  const wanted = wordsOf(line);
  if (wanted.size === 0 || sharedWith(wanted, wordsOf(entry)) < MIN_SHARED) return undefined;
  return isSameSense(line, wanted, entry) ? bestSentence(wanted, entry) : undefined;
}

/** Words that the entry only negates need a negation in the line, and a negation in the line needs such a word. */
function isSameSense(line: string, wanted: ReadonlySet<string>, entry: string): boolean {
  const clauses = entry.split(CLAUSE_END);
  const denied = wordsOf(clauses.filter((clause) => NEGATION.test(clause)).join("\n"));
  const stated = wordsOf(clauses.filter((clause) => !NEGATION.test(clause)).join("\n"));
  const words = Array.from(wanted);
  if (NEGATION.test(line)) return words.some((word) => denied.has(word));
  return words.every((word) => stated.has(word) || !denied.has(word));
}

/** Capitalized words. The first one counts, too, unless it is an ordinary beginning. */
function namesIn(line: string): string[] {
  return Array.from(line.matchAll(CAPITALIZED), (match) => ({ name: match[0], at: match.index }))
    .filter(({ name, at }) => at > 0 || !OPENINGS.has(name.toLowerCase()))
    .map(({ name }) => name);
}

/** Cut to their beginning, so that "retries" and "retried" meet. Scripts without spaces count by two characters. */
function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words.flatMap((word) => {
      if (!UNSPACED.test(word)) return word.length < 4 ? [] : [word.slice(0, 5)];
      return Array.from({ length: Math.max(1, word.length - 1) }, (_, at) => word.slice(at, at + 2));
    }),
  );
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function sharedWith(wanted: ReadonlySet<string>, words: ReadonlySet<string>): number {
  return Array.from(wanted).filter((word) => words.has(word)).length / wanted.size;
}

function bestSentence(wanted: ReadonlySet<string>, entry: string): string {
  const sentences = entry.split(SENTENCE_END).map((sentence) => sentence.trim());
  const rated = sentences.map((sentence) => ({ sentence, shared: sharedWith(wanted, wordsOf(sentence)) }));
  return rated.reduce((best, one) => (one.shared > best.shared ? one : best)).sentence;
}

/** "22" is not in "2222". Scripts without spaces have no word boundaries. */
function saysWhole(text: string, fact: string): boolean {
  for (let at = text.indexOf(fact); at !== -1; at = text.indexOf(fact, at + 1)) {
    const around = `${text[at - 1] ?? " "}${text[at + fact.length] ?? " "}`;
    if (!/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u.test(around)) return true;
  }
  return false;
}

function bare(fact: string): string {
  return fact
    .toLowerCase()
    .replace(/^["'(`]+/, "")
    .replace(/(?:['’]s)?[\s.,:;!?)`'"’%-]*$/, "");
}
