/**
 * Up to which message each Discord channel has been taken in. Discord's gateway delivers once: what was
 * said while nobody listened has to be asked for, and this file says from where. Invariants:
 * - A cursor never runs ahead of admission; it may lie behind, because admission knows duplicates.
 * - A channel is on disk before its first message is admitted, so that a crash cannot forget it.
 */
import { dirname } from "node:path";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { idBefore, isNewer, isSnowflake } from "./snowflake.ts";

export interface Cursors {
  get(channelId: string): string | undefined;
  all(): ReadonlyMap<string, string>;
  /** Resolves when the channel is known on disk. */
  know(channelId: string, firstMessageId: string): Promise<void>;
  /** On disk soon; never moves back. */
  advance(channelId: string, messageId: string): void;
  forget(channelId: string): void;
  /** Resolves when everything is on disk. */
  flush: () => Promise<void>;
}

const MOST_CHANNELS = 5000;

export async function openCursors(path: string, logger: Logger): Promise<Cursors> {
  const cursors = await readCursors(path);
  let isDirty = false;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (isDirty) {
      isDirty = false;
      try {
        await ensurePrivateFolder(dirname(path));
        await writeFileDurable(path, JSON.stringify({ version: 1, channels: newest(cursors) }));
      } catch (error) {
        isDirty = true;
        throw error;
      }
    }
  };
  // Whatever moves while one write is under way shares the next one.
  const write = async (): Promise<void> => {
    isDirty = true;
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    await writing;
  };
  const writeSoon = (): void => {
    write().catch((error: unknown) => {
      logger.warn("Cannot keep up to where Discord was read; after a restart more is asked for again.", { error });
    });
  };

  return {
    get: (channelId) => cursors.get(channelId),
    all: () => cursors,
    know: async (channelId, firstMessageId) => {
      if (cursors.has(channelId)) return;
      cursors.set(channelId, idBefore(firstMessageId));
      await write();
    },
    advance: (channelId, messageId) => {
      const known = cursors.get(channelId);
      if (known !== undefined && !isNewer(messageId, known)) return;
      cursors.set(channelId, messageId);
      writeSoon();
    },
    forget: (channelId) => {
      if (cursors.delete(channelId)) writeSoon();
    },
    flush: async () => {
      if (writing !== undefined) await writing.catch(() => undefined);
      if (isDirty) await write();
    },
  };
}

async function readCursors(path: string): Promise<Map<string, string>> {
  const bytes = await readFileIfPresent(path);
  if (bytes === undefined) return new Map();
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    if (!isRecord(parsed) || parsed["version"] !== 1 || !isRecord(parsed["channels"])) throw new Error("wrong shape");
    const entries = Object.entries(parsed["channels"]);
    return new Map(entries.filter((entry): entry is [string, string] => entry.every((id) => isSnowflake(String(id)))));
  } catch (error) {
    throw new HoldfastError("corrupt", "discord-cursors-unreadable", `Cannot read ${path}: ${errorMessage(error)}`, {
      hint: "It says up to where Discord was read. Move it away to begin with the messages from now on.",
      data: { path },
      cause: error,
    });
  }
}

function newest(cursors: ReadonlyMap<string, string>): Record<string, string> {
  const entries = [...cursors];
  if (entries.length > MOST_CHANNELS) entries.sort(([, one], [, other]) => (isNewer(one, other) ? -1 : 1));
  return Object.fromEntries(entries.slice(0, MOST_CHANNELS));
}
