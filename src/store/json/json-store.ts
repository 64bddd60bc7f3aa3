/**
 * The `json` store: an existing OpenClaw `sessions.json` used in place. Data that OpenClaw does not know is in
 * `sessions.holdfast.json` beside it. Both change only under `sessions.json.lock`. OpenClaw may write the file between
 * any two operations, and its changes count.
 */
import { resolve } from "node:path";
import { faultPoint } from "../../base/faults.ts";
import { isLockHeldHere, lockReentered } from "../../base/lock-file.ts";
import { silentLogger } from "../../base/log.ts";
import { type FileStoreOptions, createStore } from "../create-store.ts";
import { OPERATIONS, type WriteArguments, type WriteName, type WriteResult } from "../operations.ts";
import type { StoreRows } from "../rows.ts";
import type { SessionEntry } from "../session-entry.ts";
import { copyEntry } from "../store-rules.ts";
import type { KeptHandoff, Store } from "../store.ts";
import { createTranscriptFiles } from "../transcript-files.ts";
import { listAsJson, listSessions } from "./entry-map.ts";
import { copyJson, documentStamp, parseLosslessJson } from "./json-document.ts";
import { jsonRows } from "./json-rows.ts";
import { createGroupCommit, ensureSessionsFile, sessionLockPath, withSessionStoreLock } from "./session-store-file.ts";
import { sidecarPath } from "./sidecar.ts";
import { createStateFeed } from "./state-feed.ts";
import {
  type StoreDraft,
  type StoreState,
  createDraft,
  hasUnrecordedWindows,
  isOwnKey,
  openStateFiles,
} from "./store-state.ts";

export async function createJsonStore(options: FileStoreOptions): Promise<Store> {
  const { agentId, mainKey, logger = silentLogger } = options;
  const path = resolve(options.path);
  const owner = { agentId, mainKey };
  const files = openStateFiles(path, owner);
  const feed = createStateFeed({
    read: () => files.read(),
    stamp: () => `${documentStamp(path)} ${documentStamp(sidecarPath(path))}`,
    onForeignChange: (state) => {
      if (hasUnrecordedWindows(state, owner)) void recordWindows();
    },
    logger,
  });
  let damagedReported = "";
  const readState = (fresh: { fresh?: boolean | undefined } = {}): StoreState => {
    const state = files.read(fresh);
    const damaged = state.entries.damaged.join("\n");
    if (damaged !== damagedReported && damaged !== "") {
      logger.warn("Values that are not session entries are ignored", { path, keys: state.entries.damaged });
    }
    damagedReported = damaged;
    return state;
  };
  // Changes run under the lock. Waiting changes of this process run together.
  const commits = createGroupCommit<StoreDraft>({
    exclusively: (task) => withSessionStoreLock(path, task),
    begin: () => {
      const draft = createDraft(readState({ fresh: true }));
      faultPoint("json.loaded");
      return draft;
    },
    commit: async (draft) => feed.changed(await files.commit(draft)),
  });
  /** Runs `task` on the newest state and resolves to a copy of its result when that is durable. */
  const change = async <T>(task: (rows: StoreRows) => T | Promise<T>): Promise<T> => {
    if (isLockHeldHere(sessionLockPath(path))) throw lockReentered(sessionLockPath(path));
    return await commits.run(async (draft) => copyJson(await task(jsonRows(draft, owner))));
  };
  /** Every commit records the windows that it finds. */
  const recordWindows = async (): Promise<void> => {
    try {
      await change(() => undefined);
    } catch (error) {
      logger.warn("Windows that another program opened could not be recorded", { error });
    }
  };
  await ensureSessionsFile(path);
  // Report a damaged store at once, not with the first message.
  readState();

  return await createStore(options, {
    kind: "json",
    location: path,
    read: async (task, fresh) => copyJson(await task(jsonRows(readState(fresh), owner))),
    write: async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) => {
      const own = copyJson(given);
      return await change((rows) => operation(name)(rows, own) as WriteResult<Name>);
    },
    modify: async (name, _key, prepare) =>
      await change(async (rows) => {
        const { value, put } = await prepare(rows);
        if (put !== undefined) operation(name)(rows, put);
        return value;
      }),
    copyEntry: losslessCopy,
    list: async (query) => listSessions(readState().entries, query),
    listJson: async (query) => listAsJson(readState().entries, query),
    listHandoffs: async (limit) => {
      const own = Object.entries(readState().sidecar.handoffs).filter(([key]) => isOwnKey(key, owner));
      // Sorting is stable: with equal times, the later change comes first.
      const newest = own.toReversed().toSorted(([, a], [, b]) => b.updatedAt - a.updatedAt);
      return newest.slice(0, limit).map(([key, { updatedAt, state }]): KeptHandoff => {
        // Through text, so that raw numbers become ordinary numbers.
        return { key, updatedAt, state: JSON.parse(JSON.stringify(state)) };
      });
    },
    transcripts: createTranscriptFiles({ ...options, path }),
    onChange: feed.listen,
    close: async () => {
      feed.close();
      await commits.idle();
    },
  });
}

function operation(name: WriteName): (rows: StoreRows, given: unknown) => unknown {
  return OPERATIONS[name] as (rows: StoreRows, given: unknown) => unknown;
}

function losslessCopy(entry: SessionEntry): SessionEntry {
  // Throws if JSON cannot represent it.
  copyEntry(entry);
  return parseLosslessJson(JSON.stringify(entry)) as SessionEntry;
}
