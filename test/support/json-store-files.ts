/** The files of a `json` store: `await using files = await jsonStoreFiles()`. */
import { readFile, writeFile } from "node:fs/promises";
import type { StoreOptions } from "../../src/store/create-store.ts";
import { createJsonStore } from "../../src/store/json/json-store.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { Store } from "../../src/store/store.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";

export const MAIN = "agent:main:main";

export interface JsonStoreFiles extends AsyncDisposable {
  folder: TemporaryFolder;
  path: string;
  sidecar: string;
  open(more?: Partial<StoreOptions>): Promise<Store>;
  /** What OpenClaw would do: replaces the file without knowing of Holdfast. */
  writeSessions(sessions: object): Promise<void>;
  readSessions(): Promise<Record<string, SessionEntry>>;
}

export async function jsonStoreFiles(): Promise<JsonStoreFiles> {
  const folder = await temporaryFolder();
  const path = folder.join("sessions.json");
  const opened: Store[] = [];
  return {
    folder,
    path,
    sidecar: folder.join("sessions.holdfast.json"),
    open: async (more = {}) => {
      const store = await createJsonStore({ path, agentId: "main", ...more });
      opened.push(store);
      return store;
    },
    writeSessions: async (sessions) => await writeFile(path, JSON.stringify(sessions)),
    readSessions: async () => JSON.parse(await readFile(path, "utf8")) as Record<string, SessionEntry>,
    [Symbol.asyncDispose]: async () => {
      for (const store of opened) await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export async function windowIds(store: Store, key = "main"): Promise<string[]> {
  return (await store.windows(key)).map(
    (window) => `${window.sessionId}${window.closedAt === undefined ? " open" : ""}`,
  );
}
