/**
 * `holdfast sessions reset`: closes the window of a session and opens the next. The agent saves its memory
 * first, in the gateway if one runs, else in this process. A store that was named with `--store` belongs to
 * no agent of ours: there only the window changes.
 */
import { findSession } from "../../session/find-session.ts";
import { withSessionLease } from "../../session/lease.ts";
import { resetSession } from "../../session/window.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { type AgentOptions, type Setup, withAgent } from "../context.ts";
import { print, printJson } from "../output.ts";
import { findRunningGateway } from "../rpc/gateway-client.ts";
import { waitingLine } from "../waiting-line.ts";

interface ResetResult {
  entry: SessionEntry;
  previousSessionId: string;
}

export async function reset(reference: string, options: AgentOptions & { json?: boolean }): Promise<void> {
  const { key, agentId, setup, done } = await withAgent(options, async (agent, setup) => {
    const { key } = await findSession(agent, reference);
    const named = { key, agentId: agent.agentId, setup };
    if (options.store === undefined) return { ...named, done: undefined };
    return await withSessionLease(agent, key, {}, async ({ lease }) => {
      const { entry, previous } = await resetSession(agent, key, { lease });
      return { ...named, done: { entry, previousSessionId: previous.sessionId } };
    });
  });
  const { entry, previousSessionId } = done ?? (await askAgent(setup, { key, agentId }));
  if (options.json === true) printJson({ ok: true, key, entry, previousSessionId });
  else print(`${key}: new window ${entry.sessionId}; the previous one is ${previousSessionId}`);
}

async function askAgent(setup: Setup, params: { key: string; agentId: string }): Promise<ResetResult> {
  using _line = waitingLine("The agent saves its memory");
  const gateway = await findRunningGateway(setup);
  if (gateway !== undefined) return await gateway.call("sessions.reset", params);
  const { openLocalCaller } = await import("../rpc/local-caller.ts");
  const local = await openLocalCaller(setup);
  try {
    return await local.call("sessions.reset", params);
  } finally {
    await local.close();
  }
}
