/** What was delivered to a person outside of a model's turn belongs into the transcript too. */
import { basename } from "node:path";
import { openTranscriptLog } from "../transcript/log.ts";
import { createDeliveryMirrorMessage, resolveMirroredTranscriptText } from "../transcript/mirror.ts";
import type { AgentHandle } from "./agent-handle.ts";
import { type HeldLease, withSessionLease } from "./lease.ts";
import { persistSessionUsageUpdate } from "./usage.ts";
import { ensureTranscript } from "./window.ts";

export type MirrorResult = { ok: true; sessionFile: string } | { ok: false; reason: string };

export async function appendAssistantMessageToSessionTranscript(params: {
  agent: AgentHandle;
  sessionKey: string;
  text?: string;
  mediaUrls?: string[];
  /** Names the delivery: whoever repeats it finds it in the transcript. */
  turnId?: string;
  /** The lease of the turn that is running. Left out: the session is taken for this append. */
  held?: HeldLease;
}): Promise<MirrorResult> {
  const { agent, sessionKey } = params;
  if (sessionKey.trim() === "") return { ok: false, reason: "missing sessionKey" };
  const text = resolveMirroredTranscriptText(params);
  if (text === null) return { ok: false, reason: "empty text" };

  const append = async (held: HeldLease): Promise<MirrorResult> => {
    // Read under the lease: the session may have got a new window while this waited.
    const entry = await agent.store.get(sessionKey);
    if (entry === undefined) return { ok: false, reason: `unknown sessionKey: ${sessionKey}` };
    const path = await ensureTranscript(agent, sessionKey, entry);
    await using log = await openTranscriptLog({
      path,
      durability: agent.durability,
      clock: agent.clock,
      fence: () => held.fence(),
      epoch: held.lease.epoch,
      onProblem: (problem) => agent.logger.warn("transcript problem", { file: basename(path), ...problem }),
    });
    const mark = params.turnId === undefined ? {} : { turnId: params.turnId };
    await log.append([{ type: "message", ...mark, message: createDeliveryMirrorMessage(text, agent.clock.now()) }]);
    await log.sync();
    await persistSessionUsageUpdate({ agent, sessionKey, answeredAt: agent.clock.now(), lease: held.lease });
    return { ok: true, sessionFile: path };
  };
  return params.held === undefined ? await withSessionLease(agent, sessionKey, {}, append) : await append(params.held);
}
