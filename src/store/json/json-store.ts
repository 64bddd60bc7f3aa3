/**
 * The `json` store: an existing OpenClaw `sessions.json` used in place. Data that OpenClaw does not know is in
 * `sessions.holdfast.json` beside it. Both change only under `sessions.json.lock`. OpenClaw may write the file between
 * any two operations, and its changes count.
 */
import { fileExists } from "../../base/files.ts";
import { resolve } from "node:path";
import { type HistoryOptions, createGroupHistory, createSystemEvents } from "../pending.ts";
import { createPendingQueues, createLeases, createHandoffs } from "./json-parts.ts";
import { type StoreAccess, createStoreAccess } from "./store-access.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Ids, randomIds } from "../../base/ids.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { type Mutate, type SessionEntry, windowStateOf } from "../session-entry.ts";
import { labelInUse, windowIsCurrent, windowNotClosed } from "../store-errors.ts";
import { copyEntry, transcriptName } from "../store-rules.ts";
import type { Store, UpdateOptions, Window } from "../store.ts";
import { createChangeFeed } from "./change-feed.ts";
import { type EntryMap, listAsJson, listSessions } from "./entry-map.ts";
import { documentStamp, copyJson, parseLosslessJson } from "./json-document.ts";
import { createInbox, createOutbox } from "./json-queues.ts";
import { ensureSessionsFile } from "./session-store-file.ts";
import { assertLease, sidecarPath } from "./sidecar.ts";
import {
  type StoreDraft,
  hasUnrecordedWindows,
  keysWithWindows,
  moveWindows,
  openStateFiles,
  windowsOf,
} from "./store-state.ts";

export interface JsonStoreOptions extends HistoryOptions {
  /** The `sessions.json`. Created if missing. */
  path: string;
  /** Normalised. */
  agentId: string;
  /** Default: `main`. */
  mainKey?: string | undefined;
  /** A `pending.sqlite` of an earlier version, whose items move into the store. Optional. */
  pendingFile?: string | undefined;
  clock?: Clock | undefined;
  ids?: Ids | undefined;
  logger?: Logger | undefined;
}

export async function createJsonStore(options: JsonStoreOptions): Promise<Store> {
  const { agentId, mainKey, clock = systemClock, ids = randomIds, logger = silentLogger } = options;
  const path = resolve(options.path);
  const owner = { agentId, mainKey };
  const files = openStateFiles(path, owner);
  const feed = createChangeFeed({
    read: () => files.read(),
    stamp: () => `${documentStamp(path)} ${documentStamp(sidecarPath(path))}`,
    onForeignChange: (state) => {
      if (hasUnrecordedWindows(state, owner)) void recordWindows(access, logger);
    },
    logger,
  });
  const access: StoreAccess = createStoreAccess({ path, owner, files, feed, logger });
  await ensureSessionsFile(path);
  // Report a damaged store at once, not with the first message.
  access.read();
  const queues = createPendingQueues(access);
  if (options.pendingFile !== undefined && (await fileExists(options.pendingFile))) {
    const { takeOverPendingFile } = await import("../pending-file.ts");
    await takeOverPendingFile(options.pendingFile, queues, { clock, logger });
  }

  const update: Store["update"] = async (sessionKey, mutate, updateOptions = {}) => {
    const key = access.ownKey(sessionKey);
    // Loading the schemas takes longer than most commands run, and only writes need them.
    const schema = import("../entry-schema.ts");
    return await access.change(async (draft) => {
      const { validateEntryChanges } = await schema;
      const now = clock.now();
      return applyUpdate(draft, { key, mutate, options: updateOptions, now, validate: validateEntryChanges });
    });
  };

  return {
    kind: "json",
    agentId,
    path,

    async get(sessionKey) {
      const key = access.ownKey(sessionKey);
      return copyJson(access.read().entries.current(key));
    },
    async list(query = {}) {
      return listSessions(access.read().entries, query);
    },
    async listJson(query = {}) {
      return listAsJson(access.read().entries, query, clock.now());
    },
    update,
    async delete(sessionKey, { lease, withHandoff = false } = {}) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ entries, sidecar, removedWindows }) => {
        assertLease(sidecar, key, lease);
        const entry = entries.current(key);
        if (entry === undefined) return undefined;
        const windows = windowsOf(key, entries, sidecar);
        entries.remove(key);
        delete sidecar.windows[key];
        if (withHandoff) delete sidecar.handoffs[key];
        removedWindows.push(...windows);
        return copyJson({ key, entry, windows: [...windows] });
      });
    },

    async windows(sessionKey) {
      const key = access.ownKey(sessionKey);
      const { entries, sidecar } = access.read();
      return copyJson([...windowsOf(key, entries, sidecar)]);
    },
    async findWindows(sessionIdPrefix, limit) {
      const { entries, sidecar } = access.read();
      const windows = [...keysWithWindows(entries, sidecar, owner)].flatMap((key) => windowsOf(key, entries, sidecar));
      const found = windows.filter((window) => window.sessionId.startsWith(sessionIdPrefix));
      return copyJson(found.toSorted((a, b) => b.openedAt - a.openedAt).slice(0, limit));
    },
    async putWindow(given) {
      const window = { ...copyJson(given), key: access.ownKey(given.key) };
      if (window.closedAt === undefined) throw windowNotClosed(window);
      await access.change(({ entries, sidecar }) => {
        const others = otherWindows(window, entries, sidecar.windows[window.key] ?? []);
        sidecar.windows[window.key] = [...others, window].toSorted((a, b) => a.openedAt - b.openedAt);
      });
    },
    async removeWindow(sessionKey, sessionId) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ entries, sidecar }) => {
        const known = windowsOf(key, entries, sidecar);
        const left = otherWindows({ key, sessionId }, entries, known);
        if (left.length === known.length) return false;
        sidecar.windows[key] = left;
        entries.removeOlder(key, sessionId);
        return true;
      });
    },

    leases: createLeases(access, clock, ids),
    inbox: createInbox(access, clock, update),
    outbox: createOutbox(access, clock),
    handoffs: createHandoffs(access, clock),
    history: createGroupHistory(queues, clock, options),
    systemEvents: createSystemEvents(queues, clock),

    onChange: (listener) => feed.listen(listener),
    async close() {
      await access.close();
      feed.close();
    },
  };
}

interface Update {
  key: string;
  mutate: Mutate;
  options: UpdateOptions;
  now: number;
  validate(before: SessionEntry | undefined, after: SessionEntry): void;
}

function applyUpdate({ entries, sidecar }: StoreDraft, update: Update): SessionEntry | undefined {
  const { key, mutate, options, now } = update;
  assertLease(sidecar, key, options.lease);
  const before = entries.current(key);
  const returned = mutate(copyJson(before));
  if (returned === undefined) return copyJson(before);
  const after = storedEntry(returned);
  update.validate(before, after);
  assertLabelFree(entries, key, before, after);
  // May throw. After this, nothing does.
  const windows = windowsOf(key, entries, sidecar);
  entries.put(key, after);
  const ids = { from: before?.sessionId, to: after.sessionId };
  const leaving = before === undefined || ids.from === ids.to ? undefined : windowStateOf(before);
  const move = { key, ...ids, leaving, transcript: transcriptName(after), reason: options.windowReason, now };
  sidecar.windows[key] = moveWindows(move, windows);
  return copyJson(entries.current(key));
}

/** The entry as it will be stored. Throws if JSON cannot represent it. */
function storedEntry(entry: SessionEntry): SessionEntry {
  copyEntry(entry);
  return parseLosslessJson(JSON.stringify(entry)) as SessionEntry;
}

function assertLabelFree(
  entries: EntryMap,
  key: string,
  before: SessionEntry | undefined,
  { label }: SessionEntry,
): void {
  if (label === undefined || label === before?.label) return;
  for (const other of entries.keys()) {
    if (other !== key && entries.current(other)?.label === label) throw labelInUse(label, other);
  }
}

function otherWindows(
  window: Pick<Window, "key" | "sessionId">,
  entries: EntryMap,
  windows: readonly Window[],
): Window[] {
  if (entries.current(window.key)?.sessionId === window.sessionId) throw windowIsCurrent(window);
  return windows.filter(({ sessionId }) => sessionId !== window.sessionId);
}

/** Every commit records the windows that it finds. */
async function recordWindows(access: StoreAccess, logger: Logger): Promise<void> {
  try {
    await access.change(() => undefined);
  } catch (error) {
    logger.warn("Windows that another program opened could not be recorded", { error });
  }
}
