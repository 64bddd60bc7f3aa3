/**
 * Whether a rewording says no more than the line it rewords, and not the opposite. Strict where it is easy
 * to be: a good rewording that is refused costs nothing, the line stays as it was said.
 */
import { subjectOf } from "./extract/subject.ts";

/** Numbers, addresses, paths, identifiers, quoted code: what somebody would look up. */
const FACT =
  /`[^`]{1,200}`|\bhttps?:\/\/\S+|#\d+|[\w@~.-]*\/[\w@./-]+|\b\w+[._]\w+\b|\b[a-z]+[A-Z]\w*|\b\w*\d[\w.,:%-]*|\B@\w+/g;
/** Names in the middle of a sentence. */
const NAME = /(?<=[^\s.!?:…]\s+)["'(]?\p{Lu}[\p{L}-]+/gu;
const NEGATION =
  /\b(?:not|no|never|none|nothing|nobody|nor|neither|without|cannot|unable|instead|except|unless)\b|n['’]t\b/gi;
const DOUBT = /\b(?:maybe|perhaps|might|may|could|if|probably|possibly|should|would|likely|unclear|unsure)\b/gi;
/** Beyond so many telling words of its own a rewording tells something else. */
const MOST_NEW_WORDS = 0.4;

export function isFaithful(original: string, rewording: string): boolean {
  if (rewording.length === 0) return false;
  const known = original.toLowerCase();
  const facts = [...(rewording.match(FACT) ?? []), ...(rewording.match(NAME) ?? [])];
  if (!facts.every((fact) => saysWhole(known, bare(fact)))) return false;
  if (countOf(original, NEGATION) !== countOf(rewording, NEGATION)) return false;
  // What was a doubt must not become a fact.
  if (countOf(original, DOUBT) > 0 && countOf(rewording, DOUBT) === 0) return false;
  if (isQuestion(rewording) && !isQuestion(original)) return false;
  const before = subjectOf(original).words;
  const after = [...subjectOf(rewording).words];
  const added = after.filter((word) => !before.has(word)).length;
  return before.size === 0 ? added <= 2 : added <= Math.max(1, Math.floor(after.length * MOST_NEW_WORDS));
}

/** "22" is not in "2222". */
function saysWhole(text: string, fact: string): boolean {
  for (let at = text.indexOf(fact); at !== -1; at = text.indexOf(fact, at + 1)) {
    const around = `${text[at - 1] ?? " "}${text[at + fact.length] ?? " "}`;
    if (!/[\p{L}\p{N}]/u.test(around)) return true;
  }
  return false;
}

function bare(fact: string): string {
  return fact
    .toLowerCase()
    .replace(/^["'(`]+/, "")
    .replace(/[\s.,:;!?)`'"%-]+$/, "");
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function isQuestion(text: string): boolean {
  return text.trimEnd().endsWith("?");
}
