/**
 * The files under `handoff/`, for people and other tools. Invariants:
 * - They are written from the store and never read back for a session: whatever stands in them misleads nobody.
 * - Writing happens behind what it is about, about once a second at most, whole files at a time. What goes wrong
 *   is logged and fails nothing.
 * - `session-state.json` that is other than the newest state is noticed and written anew.
 */
import { dirname, join } from "node:path";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import { withFileLock } from "../../base/lock-file.ts";
import type { HandoffConfig } from "../../config/config.ts";
import type { HandoffLayout } from "../../config/layout.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { HandoffChanges } from "../handoff-changes.ts";
import { isTellable, readState } from "../kept-state.ts";
import { STATE_VERSION, type SessionState } from "../state.ts";
import { createWorkQueue } from "../work-queue.ts";
import type { Left } from "./left.ts";
import { type PatternDays, createPatternDays } from "./pattern-days.ts";
import { type RecentStates, createRecentStates } from "./recent-states.ts";
import { removeSnapshots, writeSnapshots } from "./snapshots.ts";
import { stateText } from "./state-text.ts";

export interface Views {
  /** Brings the files up to date with a state that was kept, in the background. */
  update(state: SessionState): void;
  /** The states were changed, not captured. */
  refresh(): void;
  /** Looks whether everything is there: a process may have died between keeping a state and writing it down. */
  check(): void;
  /** Takes everything of a session out of the files, or of these windows of any session. */
  forget(what: { sessionKey: string } | { windows: Iterable<string> }): void;
  /** Everything is written; what would have been written soon is written now. */
  settled(): Promise<void>;
}

export interface ViewOptions {
  agent: AgentHandle;
  layout: HandoffLayout;
  config: HandoffConfig;
  changes: HandoffChanges;
}

/** They are written so long after the first thing that they do not tell yet. */
const DELAY_MS = 1_000;
const LOCK_NAME = ".lock";

export function createViews(options: ViewOptions): Views {
  const { agent, layout } = options;
  const waiting = new Map<string, SessionState>();
  const forgotten: Forgotten = { sessionKeys: new Set(), windows: new Set() };
  let isCheck = false;
  let timer: NodeJS.Timeout | undefined;
  const queue = createWorkQueue({
    work: async () => {
      const { sessionKeys, windows } = forgotten;
      const captured = Array.from(waiting.values());
      const news = { captured, sessionKeys: new Set(sessionKeys), windows: new Set(windows), isCheck };
      waiting.clear();
      sessionKeys.clear();
      windows.clear();
      isCheck = false;
      try {
        await writeViews(parts, news);
      } catch (error) {
        // What a person wants forgotten must not stay because a disk was full once.
        for (const sessionKey of news.sessionKeys) sessionKeys.add(sessionKey);
        for (const window of news.windows) windows.add(window);
        throw error;
      }
    },
    onError: (_name, error) => {
      agent.logger.warn("the files of the hand-off are not up to date", { folder: layout.root, error });
    },
  });
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    queue.put("files", undefined);
  };
  const refresh = (): void => {
    timer ??= setTimeout(write, DELAY_MS).unref();
  };
  const parts: ViewParts = {
    ...options,
    recent: createRecentStates({ ...options, onChange: refresh }),
    days: createPatternDays(layout.patternsFolder),
  };

  return {
    update(state) {
      // A state that another one follows before it is written is no use to anybody.
      waiting.delete(state.sessionKey);
      waiting.set(state.sessionKey, state);
      refresh();
    },
    refresh,
    check() {
      isCheck = true;
      refresh();
    },
    forget(what) {
      if ("windows" in what) {
        for (const window of what.windows) forgotten.windows.add(window);
      } else {
        waiting.delete(what.sessionKey);
        forgotten.sessionKeys.add(what.sessionKey);
      }
      refresh();
    },
    async settled() {
      if (timer !== undefined) write();
      await queue.settled();
    },
  };
}

interface ViewParts extends ViewOptions {
  recent: RecentStates;
  days: PatternDays;
}

interface Forgotten {
  sessionKeys: Set<string>;
  windows: Set<string>;
}

interface News extends Forgotten {
  captured: readonly SessionState[];
  isCheck: boolean;
}

async function writeViews(parts: ViewParts, { captured, sessionKeys, windows, isCheck }: News): Promise<void> {
  const { layout, config, recent, days } = parts;
  await ensurePrivateFolder(layout.root);
  await withFileLock(join(layout.root, LOCK_NAME), { timeoutMs: 5_000 }, async () => {
    const problems: unknown[] = [];
    const attempt = async (write: () => Promise<void>): Promise<void> => {
      await write().catch((error: unknown) => problems.push(error));
    };
    const loaded = isCheck ? await recent.load() : [];
    await recent.refresh();
    await attempt(async () => await writeNewest(parts, await recent.newest()));
    await attempt(async () => await writeIfOther(layout.pendingFile, pendingText(parts)));
    const cleared = loaded.filter((state) => state.clearedAt !== undefined && !isTellable(state));
    const goneKeys = new Set<unknown>([...sessionKeys, ...cleared.map(({ sessionKey }) => sessionKey)]);
    const goneWindows: ReadonlySet<unknown> = windows;
    if (goneKeys.size > 0 || goneWindows.size > 0) {
      const isGone = (left: Left): boolean => goneKeys.has(left.sessionKey) || goneWindows.has(left.sessionId);
      await attempt(async () => await days.remove(isGone));
      await attempt(async () => await removeSnapshots(layout.snapshotsFolder, isGone));
    }
    const told = await stillKept(parts, captured.filter(isTellable));
    await attempt(async () => await days.append(isCheck ? loaded.filter(isTellable) : told));
    await attempt(async () => await writeSnapshots(layout.snapshotsFolder, told, config.keepSnapshots));
    faultPoint("handoff.files-written");
    if (problems.length > 0) throw problems[0];
  });
}

/** A session may have been deleted since: whoever deletes it takes it out of the files after this, or has done so. */
async function stillKept({ agent }: ViewParts, states: readonly SessionState[]): Promise<SessionState[]> {
  const isKept = await Promise.all(states.map(async (state) => await isStillKept(agent, state)));
  return states.filter((_state, index) => isKept[index]);
}

/**
 * The key may have another session by now, so its window tells: it is the one whose state is kept, which an archived
 * session has without any window, or the session has it still and a later one has left something since.
 */
async function isStillKept({ store }: AgentHandle, state: SessionState): Promise<boolean> {
  const { sessionKey, previousSessionId } = state;
  const kept = await store.handoffs.get(sessionKey);
  if (isRecord(kept) && kept["previousSessionId"] === previousSessionId) return true;
  return (await store.windows(sessionKey)).some(({ sessionId }) => sessionId === previousSessionId);
}

function pendingText({ agent, recent }: ViewParts): string {
  return `${JSON.stringify({ version: 1, pending: recent.pending(agent.clock.now()) }, null, 2)}\n`;
}

async function writeNewest({ agent, layout }: ViewOptions, newest: SessionState | undefined): Promise<void> {
  const path = layout.stateFile;
  const before = (await readFileIfPresent(path))?.toString("utf8");
  const text = newest === undefined ? NOTHING : stateText(newest);
  if (before === text || (before === undefined && newest === undefined)) return;
  if (before !== undefined && !isWholeState(before)) {
    agent.logger.warn("session-state.json was torn or changed; it is written anew", { path });
  }
  await ensurePrivateFolder(dirname(path));
  await writeFileDurable(path, text);
}

/** What stands in the file when there is nothing to hand over any more. */
const NOTHING = `${JSON.stringify({ version: STATE_VERSION, resumeAvailable: false }, null, 2)}\n`;

function isWholeState(text: string): boolean {
  if (text === NOTHING) return true;
  try {
    const state: unknown = JSON.parse(text);
    return isRecord(state) && readState(state) !== undefined;
  } catch {
    return false;
  }
}

async function writeIfOther(path: string, text: string): Promise<void> {
  const before = await readFileIfPresent(path);
  if (before?.toString("utf8") === text) return;
  await ensurePrivateFolder(dirname(path));
  await writeFileDurable(path, text);
}
