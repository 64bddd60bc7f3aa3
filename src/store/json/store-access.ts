/**
 * Connects the operations of a `json` store to its files. Reads see the newest state on disk. Changes run under the
 * lock; waiting changes of this process run together. A closed store refuses both.
 */
import { faultPoint } from "../../base/faults.ts";
import { isLockHeldHere, lockReentered } from "../../base/lock-file.ts";
import type { Logger } from "../../base/log.ts";
import type { Leased } from "../queues.ts";
import { storeClosed } from "../store-errors.ts";
import { type KeyOwner, isDeliveryLease, leaseKeyOf, ownSessionKey } from "../store-rules.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { createGroupCommit, sessionLockPath, withSessionStoreLock } from "./session-store-file.ts";
import { type StateFiles, type StoreDraft, type StoreState, createDraft } from "./store-state.ts";

export interface StoreAccess {
  read(options?: { fresh?: boolean | undefined }): StoreState;
  /** Runs `change` on the newest state and resolves when the result is durable. */
  change<T>(change: (draft: StoreDraft) => T | Promise<T>): Promise<T>;
  /** The canonical form of a key of this agent. Throws for keys of other agents. */
  ownKey(key: string): string;
  owns(canonicalKey: string): boolean;
  /** The key of its lease. */
  leaseKey(leased: Leased): string;
  ownsLease(key: string): boolean;
  /** Waits for running changes. */
  close(): Promise<void>;
}

export interface StoreAccessOptions {
  path: string;
  owner: KeyOwner;
  files: StateFiles;
  feed: ChangeFeed;
  logger: Logger;
}

export function createStoreAccess({ path, owner, files, feed, logger }: StoreAccessOptions): StoreAccess {
  let closed = false;
  let damagedReported = "";

  const assertOpen = (): void => {
    if (closed) throw storeClosed(path);
  };
  const ownKey = (key: string): string => {
    assertOpen();
    return ownSessionKey(key, owner);
  };
  const read = (options: { fresh?: boolean | undefined } = {}): StoreState => {
    const state = files.read(options);
    const damaged = state.entries.damaged.join("\n");
    if (damaged !== damagedReported && damaged !== "") {
      logger.warn("Values that are not session entries are ignored", { path, keys: state.entries.damaged });
    }
    damagedReported = damaged;
    return state;
  };
  const commits = createGroupCommit<StoreDraft>({
    exclusively: (task) => withSessionStoreLock(path, task),
    begin: () => {
      const draft = createDraft(read({ fresh: true }));
      faultPoint("json.loaded");
      return draft;
    },
    commit: async (draft) => feed.changed(await files.commit(draft)),
  });

  return {
    read(options) {
      assertOpen();
      return read(options);
    },
    async change(change) {
      assertOpen();
      if (isLockHeldHere(sessionLockPath(path))) throw lockReentered(sessionLockPath(path));
      return await commits.run(change);
    },
    ownKey,
    owns: (key) => files.owns(key),
    leaseKey: (leased) => leaseKeyOf(leased, { agentId: owner.agentId, ownKey }),
    ownsLease: (key) => files.owns(key) || isDeliveryLease(owner.agentId, key),
    async close() {
      closed = true;
      await commits.idle();
    },
  };
}
