/** Changes of a transcript outside a turn: compaction by hand, and messages delivered without a model. */
import { HoldfastError, undefinedOn } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { findDamage } from "../transcript/damage.ts";
import { readTail } from "../transcript/reader.ts";
import type { OnProblem } from "../transcript/scan.ts";
import { type AgentHandle, expectedTranscript, recordedEnd, transcriptName, transcriptPath } from "./agent-handle.ts";
import { incrementCompactionCount } from "./entry-updates.ts";
import { type HeldLease, withSessionLease } from "./lease.ts";
import { sessionNotFound, ensureTranscript } from "./window.ts";
import { createDeliveryMirrorMessage, deliveredText, droppedDraft } from "../transcript/messages.ts";

const DEFAULT_MAX_LINES = 400;

interface CompactionOptions {
  maxLines?: number | undefined;
  waitMs?: number | undefined;
  /** Wraps the compaction, for work before and after it. Optional. */
  around?: (<T>(key: string, shorten: () => Promise<T>) => Promise<T>) | undefined;
  /** Called for damage of the transcript. Optional. */
  onProblem?: OnProblem | undefined;
}

export async function compactSession(agent: AgentHandle, key: string, options: CompactionOptions = {}) {
  const { around = async (_key, shorten) => await shorten() } = options;
  return await withSessionLease(agent, key, { waitMs: options.waitMs }, async (held) => {
    const entry = await agent.store.get(key);
    if (entry === undefined) throw sessionNotFound(key);
    const path = await transcriptPath(agent, entry);
    const damage = await findDamage(path, expectedTranscript(entry));
    if (damage?.kind === "not-a-file" || !(await fileExists(path))) {
      if (damage !== undefined) options.onProblem?.({ reason: damage.reason });
      return { key, compacted: false, kept: 0 };
    }

    const limits = {
      maxEntries: options.maxLines ?? DEFAULT_MAX_LINES,
      keepLastTurn: await wasInterrupted(agent, key),
    };
    await rememberEnd(agent, key, entry, held, options.onProblem);
    const { compacted, archived, kept } = await around(key, async () => {
      return await agent.store.transcripts.compact(transcriptName(entry), { ...limits, held });
    });
    if (compacted) await incrementCompactionCount({ agent, sessionKey: key, lease: held.lease });
    return { key, compacted, archived, kept };
  });
}

/** A turn began and did not end, so it will be repeated. One that was put off has a note and may have no attempts. */
async function wasInterrupted({ store }: AgentHandle, key: string): Promise<boolean> {
  return (await store.inbox.pending(key)).some(({ attempts, note }) => attempts > 0 || note !== undefined);
}

/**
 * The compaction may remove the entry that the store remembers as the end, but never the last line. Opening the
 * log first records earlier damage, which would be invisible afterwards.
 */
async function rememberEnd(
  agent: AgentHandle,
  key: string,
  entry: SessionEntry,
  held: HeldLease,
  onProblem: OnProblem | undefined,
): Promise<void> {
  const expected = expectedTranscript(entry);
  await using log = await agent.store.transcripts.open(transcriptName(entry), { held, expected, onProblem });
  await log.close();
  const last = (await readTail(log.path, 1)).entries.at(-1);
  if (last === undefined) return;
  const { sessionId } = entry;
  const end = recordedEnd(sessionId, { id: last.entry.id, bytes: last.end });
  await agent.store.update(key, (current) => (current?.sessionId === sessionId ? { ...current, ...end } : undefined), {
    lease: held.lease,
  });
}

export type MirrorResult = { ok: true; sessionFile: string } | { ok: false; reason: string };

export async function appendAssistantMessageToSessionTranscript(params: {
  agent: AgentHandle;
  sessionKey: string;
  text?: string | undefined;
  mediaUrls?: readonly string[] | undefined;
  /** Identifies the delivery in the transcript when it is repeated. Optional. */
  turnId?: string | undefined;
  /** The running turn's lease. Default: take the lease for this append. */
  held?: HeldLease | undefined;
}): Promise<MirrorResult> {
  const { agent, sessionKey } = params;
  if (sessionKey.trim() === "") return { ok: false, reason: "missing sessionKey" };
  const text = deliveredText(params);
  if (text === null) return { ok: false, reason: "empty text" };

  const append = async (held: HeldLease): Promise<MirrorResult> => {
    // Read under the lease: the session may have moved to a new window.
    const entry = await agent.store.get(sessionKey);
    if (entry === undefined) return { ok: false, reason: `unknown sessionKey: ${sessionKey}` };
    const path = await ensureTranscript(agent, sessionKey, entry);
    const expected = expectedTranscript(entry);
    await using log = await agent.store.transcripts.open(transcriptName(entry), { held, expected });
    const message = createDeliveryMirrorMessage(text, agent.clock.now());
    await log.append([{ type: "message", turnId: params.turnId, message }]);
    await log.sync();
    const now = agent.clock.now();
    const change = { lastInteractionAt: now, updatedAt: now, ...recordedEnd(entry.sessionId, log.end) };
    await agent.store.update(sessionKey, (current) => current && { ...current, ...change }, { lease: held.lease });
    return { ok: true, sessionFile: path };
  };
  return params.held === undefined ? await withSessionLease(agent, sessionKey, {}, append) : await append(params.held);
}

const LEASE_WAIT_MS = 2000;
/** How many entries are searched for an earlier copy of the message; requests are repeated soon or never. */
const LOOK_BACK_ENTRIES = 500;

/**
 * Writes a message that was sent in the agent's name into the transcript, once per `turnId`. False if the session is
 * busy; the agent then learns of the message in its next turn.
 */
export async function mirrorDelivery(
  agent: AgentHandle,
  message: { sessionKey: string; text?: string | undefined; mediaUrls?: readonly string[] | undefined; turnId: string },
): Promise<boolean> {
  const { sessionKey: key, turnId } = message;
  try {
    return await withSessionLease(agent, key, { waitMs: LEASE_WAIT_MS }, async (held) => {
      if (await hasTurn(agent, key, turnId)) return true;
      const result = await appendAssistantMessageToSessionTranscript({ agent, held, ...message });
      if (!result.ok) agent.logger.warn("cannot add a sent message to the transcript", { key, reason: result.reason });
      return result.ok;
    });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "locked") throw error;
    const words = deliveredText(message) ?? "";
    await agent.store.systemEvents.enqueueSystemEvent(key, `This was sent to the chat in your name: ${words}`);
    return false;
  }
}

async function hasTurn(agent: AgentHandle, key: string, turnId: string): Promise<boolean> {
  const entry = await agent.store.get(key);
  if (entry === undefined) return false;
  const tail = await undefinedOn(readTail(await transcriptPath(agent, entry), LOOK_BACK_ENTRIES), "not-found");
  return tail?.entries.some(({ entry: line }) => line.type === "message" && line.turnId === turnId) === true;
}

/** Keeps messages that were accepted and are then dropped. Call it before the drop, with the session's lease. */
export async function writeDropped(
  agent: AgentHandle,
  held: HeldLease,
  messages: readonly { text: string; reason: string; receivedAt: number }[],
): Promise<void> {
  const { key } = held.lease;
  const entry = await agent.store.get(key);
  if (entry === undefined) return;
  await ensureTranscript(agent, key, entry);
  const expected = expectedTranscript(entry);
  await using log = await agent.store.transcripts.open(transcriptName(entry), { held, expected });
  await log.append(messages.map(droppedDraft));
  await log.sync();
}
