/**
 * The keys of the linked device. A lost key means scanning the code again, or unreadable messages: every
 * file is replaced durably, and an unreadable one is an error, never a new device. The folder is private.
 */
import type * as Baileys from "baileys";
import type { AuthenticationState, SignalDataSet, SignalDataTypeMap } from "baileys";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";
import { createKeyedMutex } from "../../base/async.ts";
import type { Documents } from "../../store/documents.ts";

export type AuthState = Awaited<ReturnType<typeof openAuthState>>;

const CREDS = "creds.json";

export async function openAuthState(documents: Documents, baileys: typeof Baileys) {
  const { BufferJSON, initAuthCreds, proto } = baileys;
  const files = createKeyedMutex();

  const read = async (name: string): Promise<unknown> =>
    await files.run(name, async () => {
      const text = await documents.read(name);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text, BufferJSON.reviver) as unknown;
      } catch (error) {
        throw unreadable(documents.locationOf(name), error);
      }
    });
  const write = async (name: string, value: unknown): Promise<void> => {
    await files.run(name, async () => {
      await documents.write(name, JSON.stringify(value, BufferJSON.replacer));
    });
  };
  const remove = async (name: string): Promise<void> => {
    await files.run(name, async () => {
      await documents.remove(name);
    });
  };

  const creds = ((await read(CREDS)) ?? initAuthCreds()) as AuthenticationState["creds"];
  const keys: AuthenticationState["keys"] = {
    get: async <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) => {
      const found: Record<string, SignalDataTypeMap[T]> = {};
      await Promise.all(
        ids.map(async (id) => {
          const value = await read(keyFile(type, id));
          if (value === undefined || value === null) return;
          const isSyncKey = type === "app-state-sync-key";
          const restored: unknown =
            isSyncKey && isRecord(value) ? proto.Message.AppStateSyncKeyData.fromObject(value) : value;
          found[id] = restored as SignalDataTypeMap[T];
        }),
      );
      return found;
    },
    set: async (data: SignalDataSet) => {
      const changes = Object.entries(data).flatMap(([type, values]) =>
        Object.entries(values ?? {}).map(([id, value]) => ({ name: keyFile(type, id), value: value as unknown })),
      );
      await Promise.all(
        changes.map(async ({ name, value }) => {
          await (value === null || value === undefined ? remove(name) : write(name, value));
        }),
      );
    },
  };
  return {
    state: { creds, keys },
    saveCreds: async (): Promise<void> => await write(CREDS, creds),
    clear: async (): Promise<void> => {
      for (const name of await documents.names()) await remove(name);
    },
  };
}

/** Ids come from the network, so special characters are encoded. */
function keyFile(type: string, id: string): string {
  const plain = id.replace(/[^\w@.-]/g, (character) => `%${character.codePointAt(0)?.toString(16) ?? ""}`);
  return `${type}-${plain}.json`;
}

function unreadable(path: string, error: unknown): HoldfastError {
  return new HoldfastError("corrupt", "whatsapp-keys-unreadable", `Cannot read ${path}: ${errorMessage(error)}`, {
    hint: "Restore it from a backup, or remove the folder and link the device again (holdfast channels login).",
    data: { path },
    cause: error,
  });
}
