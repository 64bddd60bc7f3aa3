/**
 * The last message taken in, for each Discord channel. The gateway delivers once, so messages missed while
 * offline are fetched from this cursor on. Invariants:
 * - A cursor never passes an unadmitted message. It may be older, because admission detects duplicates.
 * - A channel is on disk before its first message is admitted, so that a crash cannot forget it.
 */
import { createKeyedMutex } from "../../base/async.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import type { Documents } from "../../store/documents.ts";

export type Cursors = Awaited<ReturnType<typeof openCursors>>;

const MAX_CHANNELS = 5000;

const NAME = "cursors.json";

export async function openCursors(documents: Documents, logger: Logger) {
  const cursors = await readCursors(documents);
  const writes = createKeyedMutex();
  let isDirty = false;

  // Changes during a write share the next one.
  const write = async (): Promise<void> => {
    isDirty = true;
    await writes.run(NAME, async () => {
      if (!isDirty) return;
      isDirty = false;
      try {
        await documents.write(NAME, JSON.stringify({ version: 1, channels: newest(cursors) }));
      } catch (error) {
        isDirty = true;
        throw error;
      }
    });
  };
  const writeSoon = (): void => {
    write().catch((error: unknown) => {
      logger.warn("cannot save Discord cursors; a restart will fetch more messages again", { error });
    });
  };

  return {
    get: (channelId: string) => cursors.get(channelId),
    all: (): ReadonlyMap<string, string> => cursors,
    know: async (channelId: string, firstMessageId: string): Promise<void> => {
      if (cursors.has(channelId)) return;
      // Messages after this id include the first one.
      cursors.set(channelId, String(BigInt(firstMessageId) - 1n));
      await write();
    },
    /** Written soon; never moves back. */
    advance: (channelId: string, messageId: string): void => {
      const known = cursors.get(channelId);
      if (known !== undefined && !isNewer(messageId, known)) return;
      cursors.set(channelId, messageId);
      writeSoon();
    },
    forget: (channelId: string): void => {
      if (cursors.delete(channelId)) writeSoon();
    },
    flush: async (): Promise<void> => {
      await writes.run(NAME, async () => undefined);
      if (isDirty) await write();
    },
  };
}

async function readCursors(documents: Documents): Promise<Map<string, string>> {
  const text = await documents.read(NAME);
  if (text === undefined) return new Map();
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isRecord(parsed) || parsed["version"] !== 1 || !isRecord(parsed["channels"])) throw new Error("wrong shape");
    const entries = Object.entries(parsed["channels"]);
    return new Map(entries.filter((entry): entry is [string, string] => entry.every((id) => isSnowflake(String(id)))));
  } catch (error) {
    const path = documents.locationOf(NAME);
    throw new HoldfastError("corrupt", "discord-cursors-unreadable", `Cannot read ${path}: ${errorMessage(error)}`, {
      hint: "It stores the last message read in each channel. Move it away to start with new messages only.",
      data: { path },
      cause: error,
    });
  }
}

function newest(cursors: ReadonlyMap<string, string>): Record<string, string> {
  const entries = [...cursors];
  if (entries.length > MAX_CHANNELS) entries.sort(([, one], [, other]) => (isNewer(one, other) ? -1 : 1));
  return Object.fromEntries(entries.slice(0, MAX_CHANNELS));
}

export interface VisibleChannel {
  id: string;
  lastMessageId: string | undefined;
}

const MAX_PRIVATE_CHATS = 100;

/**
 * Which channels may have missed messages, and where to start. The gateway lists server channels with
 * their last message, so only changed ones are fetched. It does not list private chats, so the latest known
 * ones are fetched one by one.
 */
export function planCatchUp(cursors: ReadonlyMap<string, string>, visible: readonly VisibleChannel[]) {
  const fetch: { channelId: string; after: string }[] = [];
  /** New channels; their earlier messages are ignored. */
  const seeds: { channelId: string; at: string }[] = [];
  const newest = [...cursors.values()].reduce((one, other) => (isNewer(other, one) ? other : one), "0");
  for (const { id, lastMessageId } of visible) {
    const cursor = cursors.get(id);
    // A channel newer than every cursor was created while the bot was offline: fetch all of it.
    const from = cursor ?? (cursors.size > 0 && isNewer(id, newest) ? id : undefined);
    if (from === undefined) seeds.push({ channelId: id, at: lastMessageId ?? id });
    else if (lastMessageId !== undefined && isNewer(lastMessageId, from)) fetch.push({ channelId: id, after: from });
  }
  const seen = new Set(visible.map(({ id }) => id));
  const hidden = [...cursors].filter(([id]) => !seen.has(id));
  hidden.sort(([, one], [, other]) => (isNewer(one, other) ? -1 : 1));
  fetch.push(...hidden.slice(0, MAX_PRIVATE_CHATS).map(([channelId, after]) => ({ channelId, after })));
  return { fetch, seeds, skipped: Math.max(0, hidden.length - MAX_PRIVATE_CHATS) };
}

/** Discord's ids: digits of a number too large for a double, growing with time. */

export function isSnowflake(id: string): boolean {
  return /^\d{1,20}$/.test(id);
}

export function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than);
}
