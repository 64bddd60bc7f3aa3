/** Compares what a cluster did with what it promises. */
import { openAgent } from "../../src/compose/agent.ts";
import { loadConfig } from "../../src/config/load.ts";
import { transcriptPath } from "../../src/session/agent-handle.ts";
import { messageText } from "../../src/transcript/messages.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import type { FakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import type { Stretch } from "./cluster-nodes.ts";

/** Records every state of a lease, in the order of the commits of its key. */
export const RECORD_LEASES = `
  CREATE TABLE lease_history (seq bigint GENERATED ALWAYS AS IDENTITY, key text, epoch bigint, holder text);
  CREATE FUNCTION record_lease() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO public.lease_history (key, epoch, holder) VALUES (NEW.key, NEW.epoch, NEW.holder);
    RETURN NEW;
  END $$;
  CREATE TRIGGER record_lease AFTER INSERT OR UPDATE ON holdfast.leases FOR EACH ROW EXECUTE FUNCTION record_lease()`;

const MARK = /<s\d+n\d+>/;

type RunSql = (sql: string) => Promise<Record<string, unknown>[]>;

/** Marks of acknowledged messages by key, in the order in which they were written. */
export type Said = ReadonlyMap<string, readonly string[]>;

/** Every acknowledged message is in its transcript once, in order, and answered at once after it. */
export async function checkTranscripts(home: string, said: Said): Promise<string[]> {
  const failures: string[] = [];
  const { config } = await loadConfig({ env: process.env, cwd: home, home });
  const agent = await openAgent({ home, config });
  try {
    for (const [key, marks] of said) {
      const entry = await agent.store.get(key);
      if (entry === undefined) {
        if (marks.length > 0) failures.push(`${key} has no session`);
        continue;
      }
      const lines: string[] = [];
      for await (const item of readTranscript(await transcriptPath(agent, entry))) {
        if (item.kind !== "entry" || item.entry.type !== "message") continue;
        const { message } = item.entry;
        lines.push(`${message.role} ${MARK.exec(messageText(message))?.[0] ?? "?"}`);
      }
      // A message whose acknowledgement was lost may be there too.
      const asked = lines.filter((line) => line.startsWith("user")).map((line) => line.slice("user ".length));
      const pairs = asked.flatMap((mark) => [`user ${mark}`, `assistant ${mark}`]);
      if (lines.join() !== pairs.join()) failures.push(`${key} has the transcript ${lines.join()}`);
      const known = asked.filter((mark) => marks.includes(mark));
      if (known.join() !== marks.join()) failures.push(`${key} has ${known.join()} of ${marks.join()}`);
      if (new Set(asked).size !== asked.length) failures.push(`${key} has a message twice`);
    }
    const waiting = await agent.store.inbox.pending();
    if (waiting.length > 0) failures.push(`${waiting.length} messages still wait`);
  } finally {
    await agent.store.close();
  }
  return failures;
}

/** Every reply arrives, and twice only if the outbox knows of a repeated attempt. */
export async function checkReplies(run: RunSql, telegram: FakeTelegram, said: Said) {
  const failures: string[] = [];
  const chats = [...said].filter(([key]) => key.includes(":telegram:"));
  const shown = chats.flatMap(([key]) => telegram.shown(Number(/\d+$/.exec(key)?.[0])));
  const arrived = shown.flatMap((text) => MARK.exec(text)?.slice(0, 1) ?? []);
  const expected = chats.flatMap(([, marks]) => marks);
  const missing = expected.filter((mark) => !arrived.includes(mark));
  if (missing.length > 0) failures.push(`never answered on Telegram: ${missing.join()}`);
  const duplicates = arrived.length - new Set(arrived).size;
  const rows = await run("SELECT attempts, state, channel FROM holdfast.outbox WHERE channel = 'telegram'");
  const repeated = rows.reduce((sum, { attempts }) => sum + Number(attempts) - 1, 0);
  if (duplicates > repeated) failures.push(`${duplicates} duplicates, but ${repeated} repeated attempts`);
  if (rows.some(({ state }) => state !== "delivered")) failures.push("a reply is not delivered");
  return { failures, duplicates, repeated };
}

/** Epochs never fall, and no epoch has two holders. */
export async function checkEpochs(run: RunSql): Promise<string[]> {
  const rows = await run("SELECT key, epoch::integer, holder FROM lease_history ORDER BY seq");
  const last = new Map<string, { epoch: number; holder: unknown }>();
  return rows.flatMap(({ key, epoch, holder }) => {
    const name = String(key);
    const before = last.get(name);
    const now = { epoch: Number(epoch), holder: holder ?? before?.holder };
    last.set(name, now);
    if (before === undefined || now.epoch > before.epoch) return [];
    if (now.epoch < before.epoch) return [`the epoch of ${name} fell from ${before.epoch} to ${now.epoch}`];
    const isSame = before.holder === null || before.holder === undefined || now.holder === before.holder;
    return isSame ? [] : [`epoch ${now.epoch} of ${name} had two holders`];
  });
}

export interface Overlap {
  subject: string;
  nodes: [string, string];
  ms: number;
}

/** Times in which two nodes ran a turn of one key, or were connected as one account. A paused node does nothing. */
export function findOverlaps(history: readonly Stretch[], pauses: readonly Stretch[]): Overlap[] {
  return [...Map.groupBy(history, (one) => one.subject)].flatMap(([subject, stretches]) => {
    const inOrder = stretches.toSorted((a, b) => a.from - b.from);
    const pairs = inOrder.flatMap((one, index) => inOrder.slice(index + 1).map((other) => [one, other] as const));
    return pairs.flatMap(([one, other]): Overlap[] => {
      const from = Math.max(one.from, other.from);
      const to = Math.min(endOf(one), endOf(other));
      const nodes: [string, string] = [one.node, other.node];
      const isPaused = pauses.some((pause) => nodes.includes(pause.node) && pause.from <= from && endOf(pause) >= to);
      return one.node === other.node || to <= from || isPaused ? [] : [{ subject, nodes, ms: to - from }];
    });
  });
}

function endOf({ to }: Stretch): number {
  return to ?? Number.POSITIVE_INFINITY;
}
