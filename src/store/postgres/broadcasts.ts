/**
 * What is going on, for those who watch: live events that are not kept. They are the payloads of NOTIFY, collected for
 * a moment because NOTIFY takes a lock of the whole server, and sent only while a node has said that someone watches.
 */
import type { Connection } from "./connection.ts";

type Hear = (event: unknown) => void;

interface BroadcastsOptions extends Pick<Connection, "query"> {
  /** The random number that marks the messages of this process. */
  writer: number;
  /** False if there is no other node. */
  hasOthers: () => boolean;
}

export type Broadcasts = ReturnType<typeof createBroadcasts>;

export const LIVE_CHANNEL = "holdfast_live";

const COLLECT_MS = 50;
/** A payload is at most 8,000 bytes long. */
const PART_LENGTH = 7000;
/** More than the events of any moment. Watchers read the history to see what they missed. */
const MAX_LENGTH = 2 * 1024 * 1024;
const WATCH_MS = 4000;
const WATCHED_MS = 3 * WATCH_MS;

export function createBroadcasts({ query, writer, hasOthers }: BroadcastsOptions) {
  const listeners = new Set<Hear>();
  /** The message that is arriving, by its writer. */
  const arriving = new Map<string, { id: string; parts: string[] }>();
  let waiting: unknown[] = [];
  let collecting: NodeJS.Timeout | undefined;
  let watching: NodeJS.Timeout | undefined;
  let watchedUntil = Number.NEGATIVE_INFINITY;
  let nextId = 0;
  let sent: Promise<void> = Promise.resolve();

  const notify = async (payload: string): Promise<void> => {
    const sql = `SELECT pg_notify('${LIVE_CHANNEL}', $1)`;
    await query(sql, [payload], { isRepeatable: true, isRetried: false }).catch(() => undefined);
  };
  const flush = (): void => {
    collecting = undefined;
    const json = asciiJson(waiting);
    waiting = [];
    if (json.length > MAX_LENGTH) return;
    const id = nextId++;
    const count = Math.ceil(json.length / PART_LENGTH);
    for (let index = 0; index < count; index++) {
      const part = json.slice(index * PART_LENGTH, (index + 1) * PART_LENGTH);
      sent = sent.then(() => notify(`${writer} ${id} ${index} ${count} ${part}`));
    }
  };
  const watch = (): void => {
    if (hasOthers()) void notify(`${writer}`);
  };
  const take = (from: string, [id = "", index, count, ...rest]: readonly string[]): void => {
    if (index === "0") arriving.set(from, { id, parts: [] });
    const message = arriving.get(from);
    // The beginning was sent before this node was connected.
    if (message?.id !== id || message.parts.length !== Number(index)) return;
    message.parts.push(rest.join(" "));
    if (message.parts.length < Number(count)) return;
    arriving.delete(from);
    for (const event of JSON.parse(message.parts.join("")) as unknown[]) for (const hear of listeners) hear(event);
  };

  return {
    /** Also for other listeners of this process; `own` does not hear it. */
    send: (event: unknown, own: Hear | undefined): void => {
      for (const hear of listeners) if (hear !== own) hear(event);
      if (performance.now() > watchedUntil) return;
      waiting.push(event);
      collecting ??= setTimeout(flush, COLLECT_MS);
    },
    listen: (hear: Hear): (() => void) => {
      listeners.add(hear);
      if (watching === undefined) watch();
      watching ??= setInterval(watch, WATCH_MS).unref();
      return () => {
        listeners.delete(hear);
        if (listeners.size > 0) return;
        clearInterval(watching);
        watching = undefined;
      };
    },
    /** Takes a payload of the channel. */
    receive: (payload: string): void => {
      const [from = "", ...message] = payload.split(" ");
      if (from === String(writer)) return;
      if (message.length > 0) take(from, message);
      else watchedUntil = performance.now() + WATCHED_MS;
    },
    close: async (): Promise<void> => {
      clearInterval(watching);
      clearTimeout(collecting);
      await sent;
    },
  };
}

/** Without NUL and halves of characters, and cut anywhere. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\u0080-\uffff]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
