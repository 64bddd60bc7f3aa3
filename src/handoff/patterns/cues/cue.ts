/**
 * A way of saying something: what to look for, for which type it speaks, and how strongly before any
 * training. After a change of a cue, scripts/train-patterns.ts has to be run.
 */
import { maskOf, type Stance } from "../clauses.ts";
import type { PatternType } from "../note.ts";
import { type Expression, expression } from "../pattern.ts";

export interface Cue {
  name: string;
  /** What it is called among the features. */
  feature: string;
  type: PatternType;
  /** The weight it has unless the trained table says otherwise. */
  prior: number;
  pattern: Expression;
  /** Looked up besides the pattern, unless a word like "not" or "the" stands before. */
  words?: ReadonlySet<string>;
  /** Stances that do not take the cue's force away, although they do for its type (see maskOf). */
  despite: number;
}

export interface CueOptions {
  despite?: readonly Stance[];
  words?: ReadonlySet<string>;
}

export function cue(type: PatternType, name: string, prior: number, source: string, options: CueOptions = {}): Cue {
  const { despite = [], words } = options;
  return {
    name,
    feature: `${type}:${name}`,
    type,
    prior,
    pattern: expression(`${type}:${name}`, source, { flags: "g" }),
    despite: maskOf(despite),
    ...(words === undefined ? {} : { words }),
  };
}
