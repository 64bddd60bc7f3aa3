/**
 * The files under `handoff/`, for people and other tools. Invariants:
 * - They are written from the store and never read back for a session.
 * - They are written in the background, about once a second at most. Failures are logged.
 * - A `session-state.json` that differs from the newest state is replaced.
 */
import { dirname, join } from "node:path";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { withFileLock } from "../../base/lock-file.ts";
import type { HandoffConfig } from "../../config/config.ts";
import type { HandoffLayout } from "../../config/layout.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { isTellable, readState } from "../kept-state.ts";
import { STATE_VERSION, type SessionState } from "../state.ts";
import { createWorkQueue } from "../work-queue.ts";
import { appendNotes, removeNotes } from "./pattern-days.ts";
import { type RecentStates, createRecentStates } from "./recent-states.ts";
import { type Owner, removeSnapshots, stateText, writeSnapshots } from "./snapshots.ts";

export interface Views {
  /** Writes a captured state to the files, in the background. */
  update(state: SessionState): void;
  /** States were changed, not captured. */
  refresh(): void;
  /** Checks all files: a process may have died between storing a state and writing it. */
  check(): void;
  /** Removes a session, or these windows of any session, from the files. */
  forget(what: { sessionKey: string } | { windows: Iterable<string> }): void;
  settled(): Promise<void>;
  close(): void;
}

export interface ViewOptions {
  agent: AgentHandle;
  layout: HandoffLayout;
  config: HandoffConfig;
}

const DELAY_MS = 1_000;
const LOCK_NAME = ".lock";

interface News {
  captured: Map<string, SessionState>;
  /** Session keys and window ids to remove. */
  sessionKeys: Set<unknown>;
  windows: Set<unknown>;
  isCheck: boolean;
}

export function createViews(options: ViewOptions): Views {
  const { agent, layout } = options;
  let news = nothingNew();
  const queue = createWorkQueue<undefined>({
    delayMs: DELAY_MS,
    work: async () => {
      const taken = news;
      news = nothingNew();
      try {
        await writeViews(options, recent, taken);
      } catch (error) {
        // After a full disk, cleared content must still be removed.
        for (const sessionKey of taken.sessionKeys) news.sessionKeys.add(sessionKey);
        for (const window of taken.windows) news.windows.add(window);
        throw error;
      }
    },
    onError: (_name, error) => {
      agent.logger.warn("the files of the hand-off are not up to date", { folder: layout.root, error });
    },
  });
  const refresh = (): void => queue.put("files", undefined);
  const recent = createRecentStates(agent, refresh);

  return {
    update(state) {
      news.captured.delete(state.sessionKey);
      news.captured.set(state.sessionKey, state);
      refresh();
    },
    refresh,
    check() {
      news.isCheck = true;
      refresh();
    },
    forget(what) {
      if ("windows" in what) {
        for (const window of what.windows) news.windows.add(window);
      } else {
        news.captured.delete(what.sessionKey);
        news.sessionKeys.add(what.sessionKey);
      }
      refresh();
    },
    settled: async () => await queue.settled(),
    close: () => recent.close(),
  };
}

function nothingNew(): News {
  return { captured: new Map(), sessionKeys: new Set(), windows: new Set(), isCheck: false };
}

async function writeViews(options: ViewOptions, recent: RecentStates, news: News): Promise<void> {
  const { agent, layout, config } = options;
  const { captured, sessionKeys, windows, isCheck } = news;
  await ensurePrivateFolder(layout.root);
  await withFileLock(join(layout.root, LOCK_NAME), { timeoutMs: 5_000 }, async () => {
    const problems: unknown[] = [];
    const attempt = async (write: () => Promise<void>): Promise<void> => {
      await write().catch((error: unknown) => problems.push(error));
    };
    const loaded = isCheck ? await recent.load() : [];
    await recent.refresh();
    await attempt(async () => await writeNewest(options, await recent.newest()));
    const pending = { version: 1, pending: recent.pending(agent.clock.now()) };
    await attempt(async () => await writeIfOther(layout.pendingFile, `${JSON.stringify(pending, null, 2)}\n`));
    const cleared = loaded.filter((state) => state.clearedAt !== undefined && !isTellable(state));
    const keys = new Set([...sessionKeys, ...cleared.map(({ sessionKey }) => sessionKey)]);
    if (keys.size > 0 || windows.size > 0) {
      const isGone = (owner: Owner): boolean => keys.has(owner.sessionKey) || windows.has(owner.sessionId);
      await attempt(async () => await removeNotes(layout.patternsFolder, isGone));
      await attempt(async () => await removeSnapshots(layout.snapshotsFolder, isGone));
    }
    const told = await stillKept(agent, Array.from(captured.values()).filter(isTellable));
    await attempt(async () => await appendNotes(layout.patternsFolder, isCheck ? loaded.filter(isTellable) : told));
    await attempt(async () => await writeSnapshots(layout.snapshotsFolder, told, config.keepSnapshots));
    faultPoint("handoff.files-written");
    if (problems.length > 0) throw problems[0];
  });
}

/**
 * Without sessions that were deleted meanwhile. A state counts if it is still stored, which an archived session has
 * without any window, or if its session still has the window.
 */
async function stillKept({ store }: AgentHandle, states: readonly SessionState[]): Promise<SessionState[]> {
  const isKept = await Promise.all(
    states.map(async ({ sessionKey, previousSessionId }) => {
      const kept = await store.handoffs.get(sessionKey);
      if (isRecord(kept) && kept["previousSessionId"] === previousSessionId) return true;
      return (await store.windows(sessionKey)).some(({ sessionId }) => sessionId === previousSessionId);
    }),
  );
  return states.filter((_state, index) => isKept[index]);
}

/** The file's content when there is no hand-off. */
const NOTHING = `${JSON.stringify({ version: STATE_VERSION, resumeAvailable: false }, null, 2)}\n`;

async function writeNewest({ agent, layout }: ViewOptions, newest: SessionState | undefined): Promise<void> {
  const path = layout.stateFile;
  const before = (await readFileIfPresent(path))?.toString("utf8");
  if (before === undefined && newest === undefined) return;
  const isValid = before === undefined || before === NOTHING || readState(parseJson(before)) !== undefined;
  if (!isValid) agent.logger.warn("session-state.json was torn or changed; it is replaced", { path });
  await writeIfOther(path, newest === undefined ? NOTHING : stateText(newest));
}

async function writeIfOther(path: string, text: string): Promise<void> {
  const before = await readFileIfPresent(path);
  if (before?.toString("utf8") === text) return;
  await ensurePrivateFolder(dirname(path));
  await writeFileDurable(path, text);
}
