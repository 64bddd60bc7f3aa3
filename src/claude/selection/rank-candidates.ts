/**
 * Candidates in the order in which they would be taken. They are scored twice: once to find out about
 * which of them it is worth asking the repo most closely, and again with what it said.
 */
import { silentLogger } from "../../base/log.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { gatherEvidence } from "./evidence.ts";
import { scoreOffline } from "./offline/score-offline.ts";
import { assessTaskRelevance } from "./relevance.ts";
import { scoreSession } from "./score.ts";
import type { SelectOptions, SelectionProject } from "./select-options.ts";
import type { Evidence, SessionScore, SessionSelection } from "./selection.ts";

export async function rankCandidates(
  task: string,
  repoPath: string,
  candidates: readonly DiscoveredSession[],
  project: SelectionProject,
  options: SelectOptions,
): Promise<Pick<SessionSelection, "scores" | "relevanceBy">> {
  const { config = DEFAULT_CONFIG.claudeCode.sessionSelection, now = Date.now() } = options;
  const currentBranch = project.git?.currentBranch;
  const { relevances, by } = await assessTaskRelevance(task, candidates, {
    ...options,
    config,
    now,
    offline: options.offline ?? scoreOffline,
    context: {
      ...(currentBranch === undefined ? {} : { currentBranch }),
      commitSubjects: project.git?.recentCommits.map(({ message }) => message) ?? [],
    },
  });
  const score = (evidence: ReadonlyMap<string, Evidence[]>) => {
    const rows = candidates.flatMap((session, index) => {
      const relevance = relevances[index];
      if (relevance === undefined) return [];
      const facts = { currentBranch, relevance, now, config, evidence: evidence.get(session.sessionId) };
      return { session, score: scoreSession(withBudget(session, options.maxBudgetUsd), facts) };
    });
    return rows.sort(bestFirst);
  };

  const unexamined = score(new Map());
  if (options.evidence === false) return { scores: unexamined.map((row) => row.score), relevanceBy: by };
  const ranked = unexamined.map((row) => row.session);
  const sources = { repoPath, currentBranch, worktrees: project.git?.worktrees, now, ...options.evidence };
  const evidence = await gatherEvidence(ranked, sources).catch((error: unknown) => {
    (options.logger ?? silentLogger).warn("the repo could not be asked about sessions", { error });
    return new Map<string, Evidence[]>();
  });
  return { scores: score(evidence).map((row) => row.score), relevanceBy: by };
}

function withBudget(session: DiscoveredSession, maxBudgetUsd: number | undefined): DiscoveredSession {
  const cost = session.totalCostUsd ?? session.estimatedCostUsd;
  if (maxBudgetUsd === undefined || maxBudgetUsd <= 0 || cost === undefined) return session;
  return { ...session, budgetUsedPct: cost / maxBudgetUsd };
}

interface ScoredSession {
  session: DiscoveredSession;
  score: SessionScore;
}

/** What may be resumed comes first; between equal scores the more relevant one, then the newer one. */
function bestFirst(a: ScoredSession, b: ScoredSession): number {
  return (
    Number(b.score.recommendation === "resume") - Number(a.score.recommendation === "resume") ||
    b.score.score - a.score.score ||
    b.score.relevance.relevance - a.score.relevance.relevance ||
    b.session.lastModified.getTime() - a.session.lastModified.getTime() ||
    (a.session.sessionId < b.session.sessionId ? -1 : 1)
  );
}
