/**
 * A reset that somebody asks for from outside of the conversation: a command, a client of the gateway.
 * The agent writes down what it must not forget first, as before a `/new`. What it wants the person to
 * know waits in the outbox before the window is closed, and stands in the new window once it is open: a
 * process that dies between the two has told it, and one that repeats the reset does not tell it twice.
 */
import { type HeldLease, withSessionLease } from "../session/lease.ts";
import { appendAssistantMessageToSessionTranscript } from "../session/mirror.ts";
import { resolveSendPolicy } from "../session/send-policy.ts";
import { assertExpected, resetSession, sessionNotFound } from "../session/window.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { DeliveryTarget, OutboxDraft } from "../store/store.ts";
import { flushMemory } from "./flush-memory.ts";
import { type ReplyPayload, payloadMedia } from "./reply/payload.ts";
import { replyTarget } from "./reply/reply-target.ts";
import { createHookWords } from "./run/hook-calls.ts";
import type { TurnEvent } from "./turn-events.ts";
import type { AgentParts } from "./turn.ts";

export interface ResetRequest {
  parts: AgentParts;
  sessionKey: string;
  expectedSessionId?: string;
  /** Ends the saving of memories early; the reset is done all the same. */
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  /** What the outbox is given for payloads: split as their channel needs it. */
  draft: (payloads: readonly ReplyPayload[], target: DeliveryTarget, turnId: string) => Promise<OutboxDraft[]>;
}

export async function resetAfterFlush(request: ResetRequest): Promise<{ previous: SessionEntry; entry: SessionEntry }> {
  const { parts, sessionKey, signal, emit } = request;
  const { agent } = parts;
  const expected = request.expectedSessionId === undefined ? {} : { expectedSessionId: request.expectedSessionId };
  return await withSessionLease(agent, sessionKey, {}, async (held) => {
    const entry = await agent.store.get(sessionKey);
    if (entry === undefined) throw sessionNotFound(sessionKey);
    assertExpected(sessionKey, entry, request.expectedSessionId);
    const hooks = createHookWords();
    await hooks.before({ parts, sessionKey, event: "command:reset", entry, reason: "reset" });
    await hooks.before({ parts, sessionKey, event: "session:end", entry, reason: "reset" });
    const { payloads } = await flushMemory({ parts, held, sessionKey, entry, occasion: "reset", signal, emit });
    const notices = (await hooks.take()).map((text) => ({ text }));
    const isHeard = maySend(parts, sessionKey, entry);
    if (isHeard) await enqueue(request, held, entry, [...notices, ...payloads]);
    const result = await resetSession(agent, sessionKey, { ...expected, lease: held.lease });
    if (isHeard) await mirror(request, held, payloads);
    return { ...result, entry: (await agent.store.get(sessionKey)) ?? result.entry };
  });
}

function maySend({ config }: AgentParts, sessionKey: string, entry: SessionEntry): boolean {
  return resolveSendPolicy({ cfg: config, entry, sessionKey }) === "allow";
}

/** A session that no channel leads to has nobody to send to; the new window tells whoever looks. */
async function enqueue(
  { parts, sessionKey, draft }: ResetRequest,
  held: HeldLease,
  entry: SessionEntry,
  payloads: readonly ReplyPayload[],
): Promise<void> {
  const target = replyTarget({}, entry);
  if (payloads.length === 0 || target === undefined) return;
  const { store, logger } = parts.agent;
  let drafts: OutboxDraft[];
  try {
    // A window is reset once: the same name for whoever does it again.
    drafts = await draft(payloads, target, `reset:${entry.sessionId}`);
  } catch (error) {
    logger.error("what the agent said before a reset cannot be made ready for its channel", { key: sessionKey, error });
    return;
  }
  await store.outbox.enqueue(sessionKey, drafts, { lease: held.lease });
}

async function mirror(
  { parts, sessionKey }: ResetRequest,
  held: HeldLease,
  payloads: readonly ReplyPayload[],
): Promise<void> {
  const { agent } = parts;
  for (const payload of payloads) {
    const content = payload.text === undefined ? { mediaUrls: payloadMedia(payload) } : { text: payload.text };
    const result = await appendAssistantMessageToSessionTranscript({ agent, sessionKey, ...content, held });
    if (!result.ok) {
      agent.logger.warn("what was said before a reset is not in the new window", {
        key: sessionKey,
        reason: result.reason,
      });
    }
  }
}
