/**
 * Facts about sessions that a score cannot see. Three of them force a fresh session:
 *
 * - The worktree is gone: Claude Code looks for sessions only in existing worktrees.
 * - The branch was merged and the person works on another one: the session's work is done.
 * - Half of the transcript cannot be read: the conversation would have holes.
 *
 * The others only inform: a deleted branch, changed files, the cost of caching the context, a hand-off.
 */
import { relative } from "node:path";
import { fileExists, isInside } from "../../base/files.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { Evidence, EvidenceSources } from "./selection.ts";
import { printableLine } from "../../base/text.ts";
import { anthropicPrice } from "../../models/model-info.ts";
import { type BranchState, readBranchStates, filesChangedSince } from "../../project/repo-changes.ts";

/** By session id. Expects the sessions best first. */
export async function gatherEvidence(
  sessions: readonly DiscoveredSession[],
  sources: EvidenceSources,
): Promise<Map<string, Evidence[]>> {
  const { repoPath, maxFileChecks = 8 } = sources;
  const { branchStates = async (branches) => readBranchStates(repoPath, branches) } = sources;
  const states = await branchStates(sessions.map(({ branch }) => branch));
  const found = sessions.map(async (session, position): Promise<[string, Evidence[]]> => {
    const evidence = [
      await worktreeEvidence(session, sources),
      branchEvidence(session, states.get(session.branch), sources.currentBranch),
      damageEvidence(session),
      position < maxFileChecks ? await filesEvidence(session, sources) : undefined,
      contextEvidence(session, sources.now),
      handOffEvidence(session, sources),
    ];
    return [session.sessionId, evidence.filter((item) => item !== undefined)];
  });
  return new Map(await Promise.all(found));
}

async function worktreeEvidence(
  { cwds }: DiscoveredSession,
  { repoPath, worktrees = [], folderExists = exists }: EvidenceSources,
): Promise<Evidence | undefined> {
  // The transcript belongs to the folder where the session was started.
  const [start] = cwds;
  if (start === undefined || (await folderExists(start))) return undefined;
  const isKnownGone = worktrees.some(({ path, isGone }) => isGone && isInside(path, start));
  const existing = worktrees.filter(({ isGone }) => !isGone).map(({ path }) => path);
  const around = [repoPath, ...existing].filter((folder) => isInside(folder, start));
  // A missing folder inside the repo is not a worktree unless its path looks like one.
  const looksLikeWorktree = around.every((folder) => /(?:^|[\\/.])worktrees?[\\/]/.test(relative(folder, start)));
  if (!isKnownGone && !looksLikeWorktree) return undefined;
  const text = `its worktree ${printableLine(start, 100)} is gone`;
  return { kind: "worktree-gone", text, forcesFresh: true };
}

/** An unreadable folder counts as missing. */
async function exists(path: string): Promise<boolean> {
  return await fileExists(path).catch(() => false);
}

function branchEvidence(
  session: DiscoveredSession,
  state: BranchState | undefined,
  currentBranch: string | undefined,
): Evidence | undefined {
  if (state !== "merged" && state !== "deleted") return undefined;
  // If the person is on a branch of the session, its work is not finished.
  const isElsewhere = currentBranch === undefined || !session.branches.concat(session.branch).includes(currentBranch);
  const branch = printableLine(session.branch, 60);
  return state === "merged"
    ? { kind: "branch-merged", text: `its branch ${branch} is merged`, forcesFresh: isElsewhere }
    : { kind: "branch-deleted", text: `its branch ${branch} was deleted`, forcesFresh: false };
}

function damageEvidence({ damagedLines, messageCount }: DiscoveredSession): Evidence | undefined {
  if (damagedLines === 0) return undefined;
  const lines = damagedLines === 1 ? "a line" : `${damagedLines} lines`;
  const text = `${lines} of its transcript cannot be read`;
  return { kind: "damaged-transcript", text, forcesFresh: damagedLines >= messageCount };
}

async function filesEvidence(
  session: DiscoveredSession,
  { repoPath, changedSince = async (since, files) => filesChangedSince(repoPath, since, files) }: EvidenceSources,
): Promise<Evidence | undefined> {
  const edited = session.filesTouched.filter((file) => file.edited).map(({ path }) => path);
  if (edited.length === 0) return undefined;
  const changed = await changedSince(session.lastModified, edited);
  const [first] = changed;
  if (first === undefined) return undefined;
  const others = changed.length === 1 ? "" : ` and ${changed.length - 1} more`;
  const name = isInside(repoPath, first) ? relative(repoPath, first) : first;
  const text = `${printableLine(name, 80)}${others}, which it edited, changed since`;
  return { kind: "files-changed", text, forcesFresh: false };
}

/** Providers keep a cached context for about five minutes. */
const CACHE_MS = 5 * 60_000;

function contextEvidence({ contextTokens, lastModified, models }: DiscoveredSession, now: number) {
  if (contextTokens === 0 || now - lastModified.getTime() < CACHE_MS) return undefined;
  const model = models.at(-1);
  const price = model === undefined ? undefined : anthropicPrice(model);
  const cost = price === undefined ? "" : ` (about $${((contextTokens * price.cacheWrite) / 1_000_000).toFixed(2)})`;
  const text = `resuming re-caches ${contextTokens.toLocaleString("en-US")} tokens${cost}`;
  return { kind: "context-cost", text, forcesFresh: false } satisfies Evidence;
}

function handOffEvidence({ sessionId }: DiscoveredSession, { hasOpenHandOff }: EvidenceSources): Evidence | undefined {
  if (hasOpenHandOff?.(sessionId) !== true) return undefined;
  return { kind: "open-hand-off", text: "it left a hand-off that was not picked up yet", forcesFresh: false };
}
