/** A decision as rows of a table: every candidate with its points, what is known of it and the verdict. */
import { printableLine } from "../../base/printable.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { ScoreFactors, SessionScore, SessionSelection } from "./selection.ts";

export interface SelectionRow {
  sessionId: string;
  /** Title or first message, fit for a terminal. */
  candidate: string;
  score: number;
  factors: ScoreFactors;
  /** 0 to 1, and why. */
  relevance: number;
  reasoning: string;
  /** One line each, fit for a terminal. */
  evidence: string[];
  verdict: "chosen" | "held back" | "score too low" | "not the best";
  /** What it is held back by. */
  ceiling?: string;
}

/** Best first, as in the selection. A selection without scores, such as one by label, has no rows. */
export function explainSelection(selection: SessionSelection, sessions: readonly DiscoveredSession[]): SelectionRow[] {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  return selection.scores.map((score) => {
    const session = byId.get(score.sessionId);
    return {
      sessionId: score.sessionId,
      candidate: printableLine(session?.title ?? session?.firstMessage ?? "", 60),
      score: score.score,
      factors: score.factors,
      relevance: score.relevance.relevance,
      reasoning: printableLine(score.relevance.reasoning, 160),
      evidence: score.evidence.map(({ text }) => printableLine(text, 160)),
      verdict: verdictOf(score, selection),
      ...(score.ceiling === undefined ? {} : { ceiling: printableLine(score.ceiling, 160) }),
    };
  });
}

function verdictOf(score: SessionScore, selection: SessionSelection): SelectionRow["verdict"] {
  if (score.sessionId === selection.sessionId) return "chosen";
  if (score.ceiling !== undefined) return "held back";
  return score.recommendation === "resume" ? "not the best" : "score too low";
}
