/**
 * What a session of Claude Code is told as it starts, found out in the time that a hook has: what is kept, and the
 * last words of the newest transcript if they are newer. Which folders belong together is read from the file system;
 * git is asked only to check what was said, and not for long. What cannot be done in time is left to the process
 * that captures afterwards. Nothing is written here, so that no lock and no full disk matters.
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
import type { HookInput } from "./hook-input.ts";

export interface StartParts {
  agentId: string;
  config: HandoffConfig;
  claudeHome: string;
  /** Of native sessions, newest first. */
  kept: readonly KeptHandoff[];
  logger: Logger;
  /** In ms, until the answer is due. */
  timeLeft(): number;
  /** Called before a transcript is read, which is the most work there is. Left out: nobody wants to know. */
  beforeReading?(): Promise<void>;
}

export interface StartAnswer {
  /** Undefined: the session is told nothing. */
  text?: string;
  /** Which state it was told. */
  told?: Pick<SessionState, "sessionKey" | "lastMessageIndex">;
  /** What should be captured behind its back. */
  captures: NativeTarget[];
}

/**
 * The last words of a transcript; the process that captures afterwards reads everything. Getting ready to understand
 * any of them takes as long as all else together, so it is done only in the moment between the end of a turn and
 * its capture, or where nothing was captured.
 */
const MOST_NEW_BYTES = 256 * 1024;
const MOST_NEW_MESSAGES = 8;
const MOST_NEW_CHARACTERS = 1_000;
const MOST_TRANSCRIPTS = 3;
/** Less than that is left only where everything takes long: then what is kept is told, and soon. */
const READING_MS = 50;
/** What git says is only a remark: it is waited for no longer than this. In less than the least it says nothing. */
const VERIFY_MS = 40;
const LEAST_VERIFY_MS = 15;
/** Left for making and writing the text. */
const TELLING_MS = 20;
/** Of Claude Code's limit of about 10,000 characters; the rest is for what stands around it. */
const MOST_CHARACTERS = 9_000;
/** Whoever goes on so soon has everything before their eyes. */
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
    budgetMs: verifyMs < LEAST_VERIFY_MS ? 0 : verifyMs,
  });
  if (text.length > MOST_CHARACTERS) return { captures };
  const { sessionKey, lastMessageIndex } = state;
  return { text, told: { sessionKey, lastMessageIndex }, captures };
}

interface Place extends StartParts {
  repos: RepoLocator;
}

interface Left {
  state: SessionState | undefined;
  captures: NativeTarget[];
  /** More was said than the state tells. */
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
  const query = { claudeHome, folders, isHere, since, limit: MOST_TRANSCRIPTS, except: [input.sessionId] };
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

/** Looked at only once it says that it belongs here: being sure that nobody has changed it takes its time. */
function keptHere(kept: readonly KeptHandoff[], isHere: (cwd: string) => boolean): SessionState[] {
  return kept.flatMap(({ state }) => {
    const cwd = isRecord(state) ? state["cwd"] : undefined;
    return typeof cwd === "string" && isHere(cwd) ? (readState(state) ?? []) : [];
  });
}

function tellable(state: SessionState | undefined): SessionState | undefined {
  return state !== undefined && isTellable(state) ? state : undefined;
}

/** Nothing was said since. */
function isCurrent(kept: SessionState | undefined, { transcriptPath }: NativeTarget): boolean {
  return sizeOf(transcriptPath) === (kept?.transcript.offset ?? 0);
}

/**
 * What is kept, with them. Undefined when they say nothing new, or there is no time; where nothing at all is known of
 * the repo they are read in any case: that is so once, and something is better than nothing.
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
    mostBytes: MOST_NEW_BYTES,
    mostMessages: MOST_NEW_MESSAGES,
    mostCharacters: MOST_NEW_CHARACTERS,
  };
  // For this answer only: what is kept afterwards has the name that git knows.
  const project = known?.project ?? projectOfFolder(repos.repoOf(cwd) ?? cwd);
  const sessionKey = nativeSessionKey(agentId, sessionId);
  const source = { kind: "native", sessionKey, sessionId, path, file: path, cwd, project } as const;
  return await nextState(parts, source, reason, keptOf(place, sessionId));
}

/** As it lies there: also one that cannot be believed says what a person wanted to be forgotten. */
function keptOf({ agentId, kept }: Place, sessionId: string): unknown {
  const key = nativeSessionKey(agentId, sessionId);
  return kept.find((one) => one.key === key)?.state;
}

/** Where there is no repo, the very same folder. */
function isSameRepo(repos: RepoLocator, folder: string, here: string): boolean {
  const repo = repos.repoOf(here);
  if (repo !== undefined) return repos.repoOf(folder) === repo;
  // What lies below is a project of its own: whoever starts at home is not told of all that is there.
  return repos.canonical(here) === repos.canonical(folder);
}

/** The repo with its worktrees, as git notes them in its folder. */
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
