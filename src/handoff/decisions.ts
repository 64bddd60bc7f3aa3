/**
 * For which windows it was decided whether to offer something, so that nearly every turn is answered without
 * looking at anything. A decision stands; only whether a person has asked since (`forced`) has to be looked up
 * again when the state was changed, here or by another process.
 */
import type { HandoffChanges } from "./handoff-changes.ts";

/** A window, after so many compactions. */
export interface Moment {
  sessionId: string;
  compactions: number;
}

export interface Decisions {
  /** Decided, and nobody has touched the state since. */
  isSettled(key: string, moment: Moment): boolean;
  isDecided(key: string, moment: Moment): boolean;
  decide(key: string, moment: Moment): void;
  /** The state is looked at now: a change that comes after this will be looked at as well. */
  looking(key: string): void;
  /** The state has to be looked at. */
  changed(key: string): void;
}

interface Decision extends Moment {
  isChanged: boolean;
}

const MOST_REMEMBERED = 10_000;

export function createDecisions(changes: HandoffChanges): Decisions {
  const decided = new Map<string, Decision>();
  let isListening = false;

  const changed = (key: string): void => {
    const known = decided.get(key);
    if (known !== undefined) known.isChanged = true;
  };
  const find = (key: string, { sessionId, compactions }: Moment): Decision | undefined => {
    const known = decided.get(key);
    return known?.sessionId === sessionId && known.compactions === compactions ? known : undefined;
  };

  return {
    isSettled: (key, moment) => find(key, moment)?.isChanged === false,
    isDecided: (key, moment) => find(key, moment) !== undefined,
    decide(key, { sessionId, compactions }) {
      // What came between the look and the decision was told to the one before.
      const isChanged = decided.get(key)?.isChanged === true;
      decided.delete(key);
      decided.set(key, { sessionId, compactions, isChanged });
      for (const oldest of decided.keys()) {
        if (decided.size <= MOST_REMEMBERED) break;
        decided.delete(oldest);
      }
    },
    looking(key) {
      if (!isListening) changes.listen(changed);
      isListening = true;
      const known = decided.get(key);
      if (known === undefined) decided.set(key, { sessionId: "", compactions: 0, isChanged: false });
      else known.isChanged = false;
    },
    changed,
  };
}
