/** Whether two lines are about the same thing: they name it alike, or share enough telling words. */
import { isOfOthers, type Topic, topicOf as subjectOf } from "../patterns/resolve-blockers.ts";

export type Subject = Topic;

export { subjectOf };

export function isSameSubject(a: Subject, b: Subject): boolean {
  if (shared(a.names, b.names) > 0) return true;
  if (isOfOthers(a, b)) return false;
  const words = shared(a.words, b.words);
  const smaller = Math.min(a.words.size, b.words.size);
  return words >= 2 ? words / smaller >= 0.4 : words === 1 && smaller === 1;
}

/** Whether the first says little that the second does not. */
export function isCovered(a: Subject, b: Subject): boolean {
  return a.words.size > 0 && shared(a.words, b.words) / a.words.size >= 0.6;
}

/** More than the same subject: what would be said of it anew. */
export function isSameMatter(a: Subject, b: Subject): boolean {
  const words = shared(a.words, b.words);
  const smaller = Math.min(a.words.size, b.words.size);
  const least = shared(a.names, b.names) > 0 ? 1 : 2;
  return words >= Math.min(least, smaller) && words > 0 && words / smaller >= 0.5;
}

/** "MySQL for the ledger" and "Postgres for the ledger". */
export function isHalfTheSame(a: Subject, b: Subject): boolean {
  const words = shared(a.words, b.words);
  return words > 0 && words / Math.min(a.words.size, b.words.size) >= 0.5;
}

/** "That did it" is about whatever was talked of. */
export function isUnnamed({ words, names }: Subject): boolean {
  return words.size === 0 && names.size === 0;
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0;
  for (const one of a) if (b.has(one)) count += 1;
  return count;
}
