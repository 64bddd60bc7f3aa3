/**
 * Changes of a session from outside its conversation, by a command or a client of the gateway.
 *
 * - A reset flushes the agent's memory first, like `/new`. Messages of the agent are in the outbox before the
 *   window is closed, and in the new window once it is open. A crash in between neither loses nor repeats them.
 * - A change of project is also written to the transcript: later readers must know which messages belong to
 *   which project. Only the holder of the session writes there.
 */
import { projectMark } from "../../handoff/project.ts";
import { type AgentHandle, recordedEnd } from "../../session/agent-handle.ts";
import { type HeldLease, withSessionLease } from "../../session/lease.ts";
import { type SessionPatch, changesProject, patchSession } from "../../session/patch.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import { assertExpected, ensureTranscript, resetSession, sessionNotFound } from "../../session/window.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { AgentParts, TurnEvent } from "../pipeline.ts";
import { type DraftRequest, replyTarget } from "../reply/draft-replies.ts";
import { type ReplyPayload, payloadMedia } from "../reply/payloads.ts";
import { flushMemory } from "./flush-memory.ts";
import { createHookMessages } from "./hooks-and-handoff.ts";
import { openTurnLog, updateOwnEntry } from "./turn-record.ts";
import { appendAssistantMessageToSessionTranscript } from "../../session/transcript-changes.ts";
import type { OutboxDraft } from "../../store/queues.ts";

export interface ResetRequest {
  parts: AgentParts;
  sessionKey: string;
  expectedSessionId?: string | undefined;
  /** Ends the memory flush early. The session is reset all the same. */
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  /** Splits payloads into outbox items as their channel needs it. */
  draft: (request: Pick<DraftRequest, "payloads" | "target" | "turnId">) => Promise<OutboxDraft[]>;
}

export async function resetAfterFlush(request: ResetRequest): Promise<{ previous: SessionEntry; entry: SessionEntry }> {
  const { parts, sessionKey, expectedSessionId, signal, emit } = request;
  const { agent, config } = parts;
  return await withSessionLease(agent, sessionKey, {}, async (held) => {
    const entry = await expectSession(agent, sessionKey, expectedSessionId);
    const hooks = createHookMessages();
    await hooks.before({ parts, sessionKey, event: "command:reset", entry, reason: "reset" });
    await hooks.before({ parts, sessionKey, event: "session:end", entry, reason: "reset" });
    const payloads = await flushMemory({ parts, held, sessionKey, entry, occasion: "reset", signal, emit });
    const notices = (await hooks.take()).map((text) => ({ text }));
    const maySend = resolveSendPolicy({ cfg: config, entry, sessionKey }) === "allow";
    if (maySend) await enqueueReplies(request, held, entry, [...notices, ...payloads]);
    const result = await resetSession(agent, sessionKey, { expectedSessionId, lease: held.lease });
    if (maySend) await mirrorReplies(request, held, payloads);
    return { ...result, entry: (await agent.store.get(sessionKey)) ?? result.entry };
  });
}

async function expectSession(agent: AgentHandle, sessionKey: string, sessionId?: string): Promise<SessionEntry> {
  const entry = await agent.store.get(sessionKey);
  if (entry === undefined) throw sessionNotFound(sessionKey);
  assertExpected(sessionKey, entry, sessionId);
  return entry;
}

/** A session without a channel has no recipient; its new window shows the messages. */
async function enqueueReplies(
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
    // A window is reset once, so a repeated reset gives its replies the same name.
    drafts = await draft({ payloads, target, turnId: `reset:${entry.sessionId}` });
  } catch (error) {
    logger.error("could not prepare the agent's messages before a reset", { key: sessionKey, error });
    return;
  }
  await store.outbox.enqueue(sessionKey, drafts, { lease: held.lease });
}

async function mirrorReplies(
  { parts, sessionKey }: ResetRequest,
  held: HeldLease,
  payloads: readonly ReplyPayload[],
): Promise<void> {
  const { agent } = parts;
  for (const payload of payloads) {
    const content = { text: payload.text, mediaUrls: payloadMedia(payload) };
    const result = await appendAssistantMessageToSessionTranscript({ agent, sessionKey, ...content, held });
    if (result.ok) continue;
    const { reason } = result;
    agent.logger.warn("a message from before a reset is not in the new window", { key: sessionKey, reason });
  }
}

export type PatchParts = Pick<AgentParts, "agent" | "handoff" | "transcripts">;

export async function patchFromOutside(
  parts: PatchParts,
  sessionKey: string,
  patch: SessionPatch,
  options: { expectedSessionId?: string | undefined } = {},
): Promise<SessionEntry> {
  const { agent, handoff } = parts;
  // The project is marked only for the hand-off. A session that does not exist needs no lease.
  const isMarked = changesProject(patch) && handoff !== undefined && (await agent.store.get(sessionKey)) !== undefined;
  if (!isMarked) return await patchSession(agent, sessionKey, patch, options);
  return await withSessionLease(agent, sessionKey, {}, async (held) => {
    const entry = await expectSession(agent, sessionKey, options.expectedSessionId);
    await markProjectChange(parts, held, { sessionKey, entry, patch });
    return await patchSession(agent, sessionKey, patch, { ...options, lease: held.lease });
  });
}

export type ProjectPatch = Pick<SessionPatch, "project" | "projectFolder">;

/** Called before the change, with the entry as it is then. The mark is true even if the change fails. */
export async function markProjectChange(
  parts: PatchParts,
  held: HeldLease,
  { sessionKey, entry, patch }: { sessionKey: string; entry: SessionEntry; patch: ProjectPatch },
): Promise<void> {
  const { handoff, agent } = parts;
  if (handoff === undefined) return;
  // In a patch, undefined keeps a value and null removes it.
  const { project: named = entry.project, projectFolder = entry.projectFolder } = patch;
  const next = { ...entry, project: named ?? undefined, projectFolder: projectFolder ?? undefined };
  const [before, project] = await Promise.all([handoff.projectOf(entry), handoff.projectOf(next)]);
  if (before === project) return;
  await ensureTranscript(agent, sessionKey, entry);
  await using log = await openTurnLog(parts, held, entry);
  await log.append([projectMark({ before, project, folder: next.projectFolder ?? agent.workspace })]);
  await log.sync();
  const { sessionId } = entry;
  await updateOwnEntry({ agent, held, sessionKey, sessionId }, () => recordedEnd(sessionId, log.end));
}
