/**
 * The `json` store: an existing OpenClaw `sessions.json` used in place. Entries are in that file,
 * everything that OpenClaw does not know in `sessions.holdfast.json` beside it; both change only
 * under `sessions.json.lock`. OpenClaw may write the file at any time between two operations, and
 * what it wrote counts.
 */
import { resolve } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Ids, randomIds } from "../../base/ids.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { copyEntry } from "../entry-copy.ts";
import { type SessionEntry, windowStateOf } from "../session-entry.ts";
import type { Mutate, Store, UpdateOptions, Window } from "../store.ts";
import { labelInUse, windowIsCurrent, windowNotClosed } from "../store-errors.ts";
import { transcriptName } from "../window-moves.ts";
import { createChangeFeed } from "./change-feed.ts";
import type { EntryMap } from "./entry-map.ts";
import { createHandoffs } from "./json-handoffs.ts";
import { createInbox } from "./json-inbox.ts";
import { createLeases } from "./json-leases.ts";
import { assertLease } from "./lease-state.ts";
import { createOutbox } from "./json-outbox.ts";
import { documentStamp } from "./json-document.ts";
import { copyJson, parseJson } from "./json-value.ts";
import { listAsJson, listSessions } from "./list-sessions.ts";
import { ensureSessionsFile } from "./sessions-file.ts";
import { moveWindows, windowsOf } from "./session-windows.ts";
import { sidecarPath } from "./sidecar.ts";
import { type StoreAccess, createStoreAccess } from "./store-access.ts";
import { type StoreDraft, hasUnrecordedWindows, keysWithWindows, openStateFiles } from "./store-state.ts";

export interface JsonStoreOptions {
  /** The `sessions.json`; need not exist yet. */
  path: string;
  /** Normalised. */
  agentId: string;
  /** Left out: `main`. */
  mainKey?: string;
  clock?: Clock;
  ids?: Ids;
  logger?: Logger;
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
  // A damaged store is told at once, not at the first message.
  access.read();

  const update: Store["update"] = async (sessionKey, mutate, updateOptions = {}) => {
    const key = access.ownKey(sessionKey);
    // Loading the schemas takes longer than most commands run; only writing needs them.
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
  // Refuses by itself what cannot be replaced; from here on nothing is refused any more.
  const windows = windowsOf(key, entries, sidecar);
  entries.put(key, after);
  const ids = { from: before?.sessionId, to: after.sessionId };
  const leaving = before === undefined || ids.from === ids.to ? undefined : windowStateOf(before);
  const move = { key, ...ids, leaving, transcript: transcriptName(after), reason: options.windowReason, now };
  sidecar.windows[key] = moveWindows(move, windows);
  return copyJson(entries.current(key));
}

/** The entry as it will be in the file; refuses what JSON cannot hold. */
function storedEntry(entry: SessionEntry): SessionEntry {
  copyEntry(entry);
  return parseJson(JSON.stringify(entry)) as SessionEntry;
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

/** A commit records what it finds, also when nothing else changes. */
async function recordWindows(access: StoreAccess, logger: Logger): Promise<void> {
  try {
    await access.change(() => undefined);
  } catch (error) {
    logger.warn("Windows that another program opened could not be recorded", { error });
  }
}
