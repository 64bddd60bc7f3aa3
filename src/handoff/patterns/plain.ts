/** A sentence as expressions are tried on it. */
import { normalize } from "./normalize.ts";
import type { Expression } from "./pattern.ts";
import { isPresent, type Presence, presenceIn } from "./presence.ts";

export interface Plain {
  /** See normalize. */
  plain: string;
  /** Left out: whatever is asked for is tried. That is cheaper for one or two expressions. */
  present?: Presence;
}

export function toPlain(sentence: string): Required<Plain> {
  const plain = normalize(sentence);
  return { plain, present: presenceIn(plain) };
}

/** The expression is not a global one. */
export function matches({ plain, present }: Plain, expression: Expression): boolean {
  return (present === undefined || isPresent(present, expression)) && expression.regexp.test(plain);
}
