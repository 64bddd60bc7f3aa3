/**
 * Builds the hand-off for a starting Claude Code session within the hook's time limit: from the stored state, and from
 * the end of the newest transcript if that is newer. The repo's folders come from the file system; git only verifies,
 * with a short timeout. Anything else is left to the capture process. Nothing is written here, so locks and full disks
 * do not matter.
 */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { type RepoLocator, createRepoLocator } from "../../claude/discovery/repo-locator.ts";
import type { HandoffConfig } from "../../config/config.ts";
import { chooseLeft } from "../../handoff/choose-left.ts";
import { nativeSessionKey } from "../../handoff/handoff.ts";
import { isSubstantialItself } from "../../handoff/inherit.ts";
import { isExpired, isTellable, readState } from "../../handoff/kept-state.ts";
import { type NativeTarget, findEndedSessions, runningIds } from "../../handoff/native-sessions.ts";
import { nextState } from "../../handoff/next-state.ts";
import { offerText, wasOffered } from "../../handoff/offer.ts";
import { projectOfFolder } from "../../handoff/project.ts";
import type { SessionState } from "../../handoff/state.ts";
import type { KeptHandoff } from "../../store/store.ts";
import type { HookInput } from "./hook-call.ts";

export interface StartParts {
  agentId: string;
  config: HandoffConfig;
  claudeHome: string;
  /** Stored hand-offs of native sessions, newest first. */
  kept: readonly KeptHandoff[];
  logger: Logger;
  /** Milliseconds until the answer is due. */
  timeLeft(): number;
  /** Called before a transcript is read, which takes longest. Optional. */
  beforeReading?(): Promise<void>;
}

export interface StartAnswer {
  /** Undefined: no hand-off. */
  text?: string | undefined;
  /** The state that the text was made from. */
  told?: Pick<SessionState, "sessionKey" | "lastMessageIndex"> | undefined;
  /** Sessions to capture in the background. */
  captures: NativeTarget[];
}

/**
 * Limits for reading the end of a transcript. Loading the patterns takes as long as everything else, so it happens only
 * between the end of a turn and its capture, or if nothing was captured.
 */
const MAX_NEW_BYTES = 256 * 1024;
const MAX_NEW_MESSAGES = 8;
const MAX_NEW_CHARACTERS = 1_000;
const MAX_TRANSCRIPTS = 3;
/** With less time left, only the stored state is used. */
const READING_MS = 50;
/** Time limit for git, whose results are only remarks. Below the minimum, git is not asked. */
const VERIFY_MS = 40;
const MIN_VERIFY_MS = 15;
/** Time reserved for writing the text. */
const TELLING_MS = 20;
/** Claude Code's limit is about 10,000 characters, including its own text around ours. */
const MAX_CHARACTERS = 9_000;
/** A person who resumes this soon still has everything in view. */
const RECENTLY_MS = 5 * 60_000;

export async function answerStart(parts: StartParts, input: HookInput): Promise<StartAnswer> {
  const place = { ...parts, repos: createRepoLocator() };
  const isNew = input.source === "startup" || input.source === "clear";
  const { state, captures, isBehind } = isNew ? await leftInRepo(place, input) : await ownState(place, input);
  if (state === undefined || !isDue(state, isNew, input.source)) return { captures };
  const verifyMs = Math.min(VERIFY_MS, parts.timeLeft() - TELLING_MS);
  const text = await offerText({ git: { gitTimeoutMs: VERIFY_MS }, github: false }, state, {
    isSameWindow: !isNew,
    isBehind,
    workspace: input.cwd,
    budgetMs: verifyMs < MIN_VERIFY_MS ? 0 : verifyMs,
  });
  if (text.length > MAX_CHARACTERS) return { captures };
  const { sessionKey, lastMessageIndex } = state;
  return { text, told: { sessionKey, lastMessageIndex }, captures };
}

interface Place extends StartParts {
  repos: RepoLocator;
}

interface Left {
  state: SessionState | undefined;
  captures: NativeTarget[];
  /** The transcript has more than the state. */
  isBehind: boolean;
}

function isDue(state: SessionState, isNew: boolean, source: string): boolean {
  const now = Date.now();
  if (state.items.length === 0) return false;
  if (state.forced === true) return true;
  if (isExpired(state, now) || wasOffered(state, now)) return false;
  return isNew || source === "compact" || now - Date.parse(state.lastMessageAt) > RECENTLY_MS;
}

async function ownState(place: Place, { sessionId, transcriptPath, cwd }: HookInput): Promise<Left> {
  const target: NativeTarget = { kind: "native", sessionId, transcriptPath, cwd };
  const kept = readState(keptOf(place, sessionId));
  if (isCurrent(kept, target)) return { state: tellable(kept), captures: [], isBehind: false };
  const read = await readLastWords(place, target, { known: kept, reason: "compaction" });
  return { state: tellable(read ?? kept), captures: [target], isBehind: read === undefined };
}

async function leftInRepo(place: Place, input: HookInput): Promise<Left> {
  const { claudeHome, config, repos } = place;
  const isHere = (cwd: string): boolean => isSameRepo(repos, cwd, input.cwd);
  const states = new Map(keptHere(place.kept, isHere).map((state) => [state.previousSessionId, state]));
  const since = Date.now() - config.expiresHours * 3_600_000;
  const folders = repoFolders(repos, input.cwd);
  const query = { claudeHome, folders, isHere, since, limit: MAX_TRANSCRIPTS, except: [input.sessionId] };
  const captures: NativeTarget[] = [];
  const unread = new Set<string>();
  for (const target of await findEndedSessions(query)) {
    const kept = states.get(target.sessionId);
    if (!isCurrent(kept, target)) {
      captures.push(target);
      const [known] = states.values();
      const read = await readLastWords(place, target, { known, reason: "found" });
      if (read === undefined) unread.add(target.sessionId);
      else states.set(target.sessionId, read);
    }
    const state = tellable(states.get(target.sessionId));
    if (state !== undefined && isSubstantialItself(state)) break;
  }
  const running = await runningIds(claudeHome);
  const state = chooseLeft(Array.from(states.values()), { sessionId: input.sessionId, running, isHere });
  return { state, captures, isBehind: state !== undefined && unread.has(state.previousSessionId) };
}

/** Checks the folder first, because validating a state takes time. */
function keptHere(kept: readonly KeptHandoff[], isHere: (cwd: string) => boolean): SessionState[] {
  return kept.flatMap(({ state }) => {
    const cwd = isRecord(state) ? state["cwd"] : undefined;
    return typeof cwd === "string" && isHere(cwd) ? (readState(state) ?? []) : [];
  });
}

function tellable(state: SessionState | undefined): SessionState | undefined {
  return state !== undefined && isTellable(state) ? state : undefined;
}

/** True if nothing was said since the capture. */
function isCurrent(kept: SessionState | undefined, { transcriptPath }: NativeTarget): boolean {
  return sizeOf(transcriptPath) === (kept?.transcript.offset ?? 0);
}

/**
 * The stored state plus the end of the transcript. Undefined: nothing new, or no time. If nothing is known of the repo,
 * it reads in any case.
 */
async function readLastWords(
  place: Place,
  { sessionId, transcriptPath: path, cwd }: NativeTarget,
  { known, reason }: { known: SessionState | undefined; reason: "found" | "compaction" },
): Promise<SessionState | undefined> {
  const { agentId, config, logger, repos } = place;
  if (known !== undefined && place.timeLeft() < READING_MS) return undefined;
  await place.beforeReading?.();
  const agent = { agentId, clock: systemClock, logger };
  const parts = {
    agent,
    config,
    mostBytes: MAX_NEW_BYTES,
    mostMessages: MAX_NEW_MESSAGES,
    mostCharacters: MAX_NEW_CHARACTERS,
  };
  // Only for this answer: the later capture uses the name from git.
  const project = known?.project ?? projectOfFolder(repos.repoOf(cwd) ?? cwd);
  const sessionKey = nativeSessionKey(agentId, sessionId);
  const source = { kind: "native", sessionKey, sessionId, path, file: path, cwd, project } as const;
  return await nextState(parts, source, reason, keptOf(place, sessionId));
}

/** Unvalidated: even an invalid state says what the person wanted forgotten. */
function keptOf({ agentId, kept }: Place, sessionId: string): unknown {
  const key = nativeSessionKey(agentId, sessionId);
  return kept.find((one) => one.key === key)?.state;
}

/** Outside a repo, only the same folder counts. */
function isSameRepo(repos: RepoLocator, folder: string, here: string): boolean {
  const repo = repos.repoOf(here);
  if (repo !== undefined) return repos.repoOf(folder) === repo;
  // Subfolders are other projects: a session in the home folder must not see all of them.
  return repos.canonical(here) === repos.canonical(folder);
}

/** The repo and its worktrees, from git's files. */
function repoFolders(repos: RepoLocator, cwd: string): string[] {
  const root = repos.repoOf(cwd);
  if (root === undefined) return [repos.canonical(cwd)];
  const worktree = repos.worktreeOf(repos.canonical(cwd)) ?? root;
  const notes = join(root, ".git", "worktrees");
  try {
    const linked = readdirSync(notes).map((name) => dirname(readFileSync(join(notes, name, "gitdir"), "utf8").trim()));
    return Array.from(new Set([root, worktree, ...linked.map((path) => repos.canonical(path))]));
  } catch {
    return Array.from(new Set([root, worktree]));
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
