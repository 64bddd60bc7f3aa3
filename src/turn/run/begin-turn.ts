/**
 * The beginning of a turn: the session that it belongs to, the window that it is in, the model that the
 * message may have named, and what the agent is told about itself. Everything that changes the entry
 * goes into the one update that `initSessionState` makes.
 */
import type { MessageContext } from "../../keys/message-context.ts";
import { type SessionInitResult, initSessionState } from "../../session/init.ts";
import { type ModelSelection, applyResetModelOverride } from "../../session/model-hint.ts";
import type { SessionEntry, SkillsSnapshot } from "../../store/session-entry.ts";
import { finalizeInboundContext } from "../body/inbound-context.ts";
import { flushMemory } from "../flush-memory.ts";
import type { ReplyPayload } from "../reply/payload.ts";
import type { TurnRequest, WorkspacePrompt } from "../turn.ts";
import { findOpener } from "./turn-body.ts";
import type { TurnTrace } from "./turn-trace.ts";

export interface BegunTurn {
  session: SessionInitResult;
  model: ModelSelection | undefined;
  /** Finalised; the one that reset the session without its trigger. */
  messages: MessageContext[];
  workspace: Workspace;
  /** What the agent said when it saved its memory before the old window was closed. */
  flushed: ReplyPayload[];
}

/** A workspace that cannot be read fails the turn, but not before the message is kept. */
export type Workspace = { prompt: WorkspacePrompt; error?: undefined } | { prompt?: undefined; error: unknown };

export async function beginTurn(request: TurnRequest, trace: TurnTrace | undefined): Promise<BegunTurn> {
  const { parts, held, turnId } = request;
  const { agent, config } = parts;
  const messages: MessageContext[] = request.messages.map(finalizeInboundContext);
  const opener = findOpener(messages, config.session.resetTriggers);
  const workspace = await describeWorkspace(request);
  const flushed: ReplyPayload[] = [];

  const opened = await initSessionState({
    agent,
    ctx: messages[opener] ?? {},
    cfg: config,
    lease: held.lease,
    turnId,
    begunBefore: trace?.begun === true,
    ...(request.isHeartbeat === undefined ? {} : { isHeartbeat: request.isHeartbeat }),
    complete: (entry) => withTurnState(entry, workspace.prompt),
    beforeNewWindow: async (entry) => {
      const before = { turnId, itemId: request.itemId, trace: trace?.flush };
      const { signal, emit } = request;
      const saved = await flushMemory({
        parts,
        held,
        sessionKey: held.lease.key,
        entry,
        occasion: "reset",
        signal,
        emit,
        before,
      });
      flushed.push(...saved.payloads);
    },
  });
  const hint = await applyResetModelOverride({
    agent,
    sessionKey: opened.sessionKey,
    models: config.models,
    defaultModel: config.agents[agent.agentId]?.model,
    resetTriggered: opened.resetTriggered,
    bodyStripped: opened.bodyStripped,
    sessionCtx: opened.sessionCtx,
    lease: held.lease,
  });
  const session = { ...opened, sessionEntry: hint.sessionEntry ?? opened.sessionEntry };
  return { session, model: hint.selection, messages: messages.with(opener, session.sessionCtx), workspace, flushed };
}

async function describeWorkspace({ parts }: TurnRequest): Promise<Workspace> {
  try {
    return { prompt: await parts.describeWorkspace() };
  } catch (error) {
    return { error };
  }
}

function withTurnState(entry: SessionEntry, workspace: WorkspacePrompt | undefined): SessionEntry {
  const skillsSnapshot = workspace === undefined ? undefined : newSnapshot(entry.skillsSnapshot, workspace);
  return { ...entry, abortedLastRun: false, ...(skillsSnapshot === undefined ? {} : { skillsSnapshot }) };
}

/** Undefined while the one in the entry is up to date. */
function newSnapshot(known: SkillsSnapshot | undefined, workspace: WorkspacePrompt): SkillsSnapshot | undefined {
  const { skills, version } = workspace;
  if (known === undefined ? skills.length === 0 : known.version === version) return undefined;
  // The whole text is in the prompt of every turn; the entry only has to tell which skills there were.
  return { prompt: skills.map(({ name }) => `- ${name}`).join("\n"), skills, version };
}
