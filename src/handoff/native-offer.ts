/**
 * What a session of Claude Code is told as it begins, found out without a hurry: everything that has ended in the
 * repo is captured first. What a hook can do in its moment stands in `hooks/claude-code/session-start.ts`.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { findRepo } from "../project/repo.ts";
import { chooseLeft } from "./choose-left.ts";
import { type NativeOfferRequest, type Offer, nativeSessionKey } from "./handoff.ts";
import { isSubstantialItself } from "./inherit.ts";
import { isExpired, isTellable, readState, wasOffered } from "./kept-state.ts";
import { findEndedSessions, runningIds } from "./native-sessions.ts";
import { type OfferParts, ofProject, offerText } from "./offer.ts";
import type { SessionState } from "./state.ts";
import { nativeStates } from "./write-ready-offers.ts";
import { isInside } from "../base/files.ts";

export interface NativeOfferParts extends OfferParts {
  /** Claude Code's folder. Left out: only what hooks have captured is known. */
  claudeHome?: string | undefined;
}

const BUDGET_MS = 1_500;
const MOST_TRANSCRIPTS = 3;

export async function offerNative(parts: NativeOfferParts, request: NativeOfferRequest): Promise<Offer | undefined> {
  const { agent, sources } = parts;
  const { sessionId, cwd, source } = request;
  const began = performance.now();
  const isOwn = source === "compact" || source === "resume";
  const state = isOwn ? await ownState(parts, request) : await leftInRepo(parts, request);
  if (state === undefined) return undefined;
  const now = agent.clock.now();
  if (state.forced !== true && (isExpired(state, now) || wasOffered(state, now))) return undefined;
  const active = await ofProject(state, await sources.nativeProject(cwd));
  const told = active ?? (isOwn ? await ofProject(state, state.project) : undefined);
  if (told === undefined) return undefined;
  const budgetMs = (request.budgetMs ?? BUDGET_MS) - (performance.now() - began);
  const text = await offerText(parts, told, { isSameWindow: isOwn, workspace: cwd, budgetMs });
  return { sessionKey: state.sessionKey, sessionId, compactions: 0, state: told, text };
}

async function ownState(parts: NativeOfferParts, request: NativeOfferRequest): Promise<SessionState | undefined> {
  const { agent, sources, captures } = parts;
  const { sessionId, transcriptPath, cwd, source } = request;
  if (transcriptPath !== undefined) {
    const target = await sources.of({ kind: "native", sessionId, transcriptPath, cwd });
    if (target !== undefined) return await captures.capture(target, source === "compact" ? "compaction" : "found");
  }
  const key = canonicalSessionKey(nativeSessionKey(agent.agentId, sessionId), agent);
  const state = readState(await agent.store.handoffs.get(key));
  return state !== undefined && isTellable(state) ? state : undefined;
}

async function leftInRepo(parts: NativeOfferParts, request: NativeOfferRequest): Promise<SessionState | undefined> {
  const { claudeHome, sources } = parts;
  const folders = await repoFolders(parts, request.cwd);
  const project = await sources.nativeProject(request.cwd);
  if (claudeHome !== undefined) await captureEnded(parts, claudeHome, { folders, project }, request);
  const running = claudeHome === undefined ? new Set<string>() : await runningIds(claudeHome);
  const isHere = (cwd: string): boolean => folders.some((folder) => isInside(folder, cwd));
  // Other projects may lie below: what is newest there must not hide what was left here.
  const sessions = (await nativeStates(parts.agent))
    .filter((state) => state.project === project && state.cwd !== undefined && isHere(state.cwd) && isTellable(state))
    .map((state) => ({ state, isSubstantial: isSubstantialItself(state) }));
  return chooseLeft(sessions, { sessionId: request.sessionId, running })?.state;
}

/** After the fact: those that are newer than what is known of them. */
async function captureEnded(
  parts: NativeOfferParts,
  claudeHome: string,
  { folders, project }: { folders: readonly string[]; project: string },
  { sessionId }: NativeOfferRequest,
): Promise<void> {
  const { agent, config, sources, captures } = parts;
  const since = agent.clock.now() - config.expiresHours * 3_600_000;
  const isHere = async (cwd: string): Promise<boolean> =>
    folders.some((folder) => isInside(folder, cwd)) && (await sources.nativeProject(cwd)) === project;
  const query = { claudeHome, folders, isHere, since, limit: MOST_TRANSCRIPTS, except: [sessionId] };
  for (const target of await findEndedSessions(query)) {
    try {
      const source = await sources.of(target);
      if (source !== undefined) await captures.capture(source, "found");
    } catch (error) {
      agent.logger.warn("what a session of Claude Code left cannot be captured", {
        sessionId: target.sessionId,
        error,
      });
    }
  }
}

/** All worktrees of the repo; without one the folder itself. */
async function repoFolders({ git }: NativeOfferParts, cwd: string): Promise<string[]> {
  const folder = await realpath(cwd).catch(() => resolve(cwd));
  const repo = await findRepo(folder, git);
  if (repo === undefined) return [folder];
  return Array.from(new Set([repo.root, repo.worktreeRoot, ...repo.worktrees.map(({ path }) => path)]));
}
