/**
 * What the repo says about sessions, beyond what a score can see. Some of it forces a fresh session:
 *
 * - the worktree is gone: Claude Code looks for a session in the worktrees that exist, and would not find it;
 * - the branch was merged or deleted and work goes on elsewhere: the session's conversation is about a
 *   state of the code that is closed, and what it was about to do next is done;
 * - half of the transcript cannot be read: the model would go on from a conversation with holes.
 *
 * The rest is worth knowing and no obstacle: files that changed can be read again, a context that has to
 * be cached anew costs money that the person may want to spend, an open hand-off says what is left to do.
 */
import { access } from "node:fs/promises";
import { relative } from "node:path";
import { printableLine } from "../../base/printable.ts";
import { type BranchState, readBranchStates } from "../../project/branch-state.ts";
import { filesChangedSince } from "../../project/changes-since.ts";
import type { Worktree } from "../../project/project-status.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { modelPrice } from "../pricing.ts";
import { isInside } from "./running-here.ts";
import type { Evidence } from "./selection.ts";

export interface EvidenceSources {
  repoPath: string;
  currentBranch?: string | undefined;
  /** As git lists them. Left out: none is known to be gone. */
  worktrees?: readonly Worktree[] | undefined;
  /** In ms. */
  now: number;
  /** How many sessions are checked for changed files, the first ones; each takes some git commands. */
  maxFileChecks?: number | undefined;
  branchStates?: (branches: readonly string[]) => Promise<ReadonlyMap<string, BranchState>>;
  changedSince?: (since: Date, files: readonly string[]) => Promise<string[]>;
  folderExists?: (path: string) => Promise<boolean>;
  /** Dollars for writing so many tokens to a model's cache. Left out: by list prices. */
  cacheWriteUsd?: (model: string, tokens: number) => number | undefined;
  /** Left out: nothing is known of hand-offs. */
  hasOpenHandOff?: ((sessionId: string) => boolean) | undefined;
}

/** By session id. Sessions are expected best first. */
export async function gatherEvidence(
  sessions: readonly DiscoveredSession[],
  sources: EvidenceSources,
): Promise<Map<string, Evidence[]>> {
  const { repoPath, branchStates = async (branches) => readBranchStates(repoPath, branches) } = sources;
  const states = await branchStates(sessions.map(({ branch }) => branch));
  const found = sessions.map(async (session, position): Promise<[string, Evidence[]]> => {
    const evidence = [
      await worktreeEvidence(session, sources),
      branchEvidence(session, states.get(session.branch), sources.currentBranch),
      damageEvidence(session),
      position < (sources.maxFileChecks ?? 8) ? await filesEvidence(session, sources) : undefined,
      contextEvidence(session, sources),
      handOffEvidence(session, sources),
    ];
    return [session.sessionId, evidence.filter((item) => item !== undefined)];
  });
  return new Map(await Promise.all(found));
}

async function worktreeEvidence(
  session: DiscoveredSession,
  { repoPath, worktrees = [], folderExists = exists }: EvidenceSources,
): Promise<Evidence | undefined> {
  // The transcript lies with the folder where the session was started, wherever it went later.
  const [start] = session.cwds;
  if (start === undefined || (await folderExists(start))) return undefined;
  const lost = worktrees.some(({ path, isGone }) => isGone && isInside(path, start));
  const standing = worktrees.filter(({ isGone }) => !isGone).map(({ path }) => path);
  const within = [repoPath, ...standing].filter((folder) => isInside(folder, start));
  // A folder inside the repo may simply have been removed, unless it lay where tools put worktrees.
  const looksLikeOne = within.every((folder) => /(?:^|[\\/.])worktrees?[\\/]/.test(relative(folder, start)));
  if (!lost && !looksLikeOne) return undefined;
  return {
    kind: "worktree-gone",
    text: `its worktree ${printableLine(start, 100)} is gone`,
    forcesFresh: true,
  };
}

function branchEvidence(
  session: DiscoveredSession,
  state: BranchState | undefined,
  currentBranch: string | undefined,
): Evidence | undefined {
  if (state !== "merged" && state !== "deleted") return undefined;
  // Whoever is back on the branch, or had the session work on this one too, has not closed the matter.
  const isElsewhere = currentBranch === undefined || !session.branches.concat(session.branch).includes(currentBranch);
  const branch = printableLine(session.branch, 60);
  return state === "merged"
    ? { kind: "branch-merged", text: `its branch ${branch} is merged`, forcesFresh: isElsewhere }
    : { kind: "branch-deleted", text: `its branch ${branch} is deleted`, forcesFresh: isElsewhere };
}

function damageEvidence({ damagedLines, messageCount }: DiscoveredSession): Evidence | undefined {
  if (damagedLines === 0) return undefined;
  const lines = damagedLines === 1 ? "a line" : `${damagedLines} lines`;
  return {
    kind: "damaged-transcript",
    text: `${lines} of its transcript cannot be read`,
    forcesFresh: damagedLines >= messageCount,
  };
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
  return {
    kind: "files-changed",
    text: `${printableLine(name, 80)}${others}, which it edited, changed since`,
    forcesFresh: false,
  };
}

/** Providers keep a cached context for about five minutes. */
const CACHE_MS = 5 * 60_000;

function contextEvidence(
  session: DiscoveredSession,
  { now, cacheWriteUsd = listPrice }: EvidenceSources,
): Evidence | undefined {
  if (session.contextTokens === 0 || now - session.lastModified.getTime() < CACHE_MS) return undefined;
  const model = session.models.at(-1);
  const usd = model === undefined ? undefined : cacheWriteUsd(model, session.contextTokens);
  const price = usd === undefined ? "" : `, about $${usd.toFixed(2)}`;
  return {
    kind: "context-cost",
    text: `${session.contextTokens.toLocaleString("en-US")} tokens of context would be cached anew${price}`,
    forcesFresh: false,
  };
}

function listPrice(model: string, tokens: number): number | undefined {
  const price = modelPrice(model);
  return price === undefined ? undefined : (tokens * price.cacheWrite) / 1_000_000;
}

function handOffEvidence({ sessionId }: DiscoveredSession, { hasOpenHandOff }: EvidenceSources): Evidence | undefined {
  if (hasOpenHandOff?.(sessionId) !== true) return undefined;
  return { kind: "open-hand-off", text: "it left a hand-off that nobody has taken up", forcesFresh: false };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
