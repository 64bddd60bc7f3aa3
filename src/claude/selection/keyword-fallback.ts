/**
 * The plainest comparison of two tasks: how many longer words they share. It knows no synonyms and
 * takes every word for as telling as every other; it is kept as a baseline to measure against.
 */
import type { DiscoveredSession } from "../discovered-session.ts";
import type { TaskRelevance } from "./selection.ts";

export function keywordFallback(task: string, session: DiscoveredSession): TaskRelevance {
  const wanted = longWords(task);
  const known = longWords(session.lastTask ?? session.firstMessage);
  const shared = [...wanted].filter((word) => known.has(word)).length;
  const all = wanted.size + known.size - shared;
  return {
    sessionId: session.sessionId,
    relevance: all === 0 ? 0 : Math.min((2 * shared) / all, 1),
    reasoning: `${shared} of ${all} words shared`,
  };
}

function longWords(text: string): Set<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/\W+/)
      .filter((word) => word.length > 3),
  );
}
