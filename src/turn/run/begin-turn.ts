/**
 * The beginning of a turn: the session that it belongs to, the window that it is in, the model that the
 * message may have named, and what the agent is told about itself. Everything that changes the entry
 * goes into the one update that `initSessionState` makes. Before a window is left, what it leaves for the
 * next is captured and the agent saves its memory.
 */
import type { MessageContext } from "../../keys/message-context.ts";
import { type SessionInitResult, initSessionState } from "../../session/init.ts";
import { type ModelSelection, applyResetModelOverride } from "../../session/model-hint.ts";
import type { SessionEntry, SkillsSnapshot } from "../../store/session-entry.ts";
import type { WindowReason } from "../../store/store.ts";
import { finalizeInboundContext } from "../body/inbound-context.ts";
import { flushMemory } from "../flush-memory.ts";
import type { ReplyPayload } from "../reply/payload.ts";
import type { TurnRequest, WorkspacePrompt } from "../turn.ts";
import { bootstrapHooks } from "./bootstrap-hooks.ts";
import { captureWindow } from "./hand-over.ts";
import { type HookWords, createHookWords } from "./hook-calls.ts";
import { findOpener, resetWord } from "./turn-body.ts";
import type { TurnTrace } from "./turn-trace.ts";

export interface BegunTurn {
  session: SessionInitResult;
  model: ModelSelection | undefined;
  /** Finalised; the one that reset the session without its trigger. */
  messages: MessageContext[];
  workspace: Workspace;
  /** The entry is on disk. Whoever goes on before it is must wait for it before an engine is asked. */
  written: Promise<unknown>;
  /** What the agent said when it saved its memory before the old window was closed. */
  flushed: ReplyPayload[];
  /** What hooks want the person to know. */
  hooks: HookWords;
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
  const hooks = createHookWords();
  let written: Promise<unknown> = Promise.resolve();
  const ctx = messages[opener] ?? {};

  const opened = await initSessionState({
    agent,
    ctx,
    cfg: config,
    lease: held.lease,
    turnId,
    begunBefore: trace?.begun === true,
    ...(request.isHeartbeat === undefined ? {} : { isHeartbeat: request.isHeartbeat }),
    onWriting: (writing) => {
      written = writing;
      // Whoever waits for it hears of it; somebody may give up before.
      writing.catch(() => undefined);
    },
    complete: (entry) => withTurnState(entry, workspace.prompt),
    beforeNewWindow: async (entry, reason) => {
      await captureBefore({ request, ctx, hooks }, entry, reason);
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
  // A hook may look at the entry.
  if (parts.hooks?.listens("agent:bootstrap") === true) await written;
  return {
    session,
    model: hint.selection,
    messages: messages.with(opener, session.sessionCtx),
    workspace: trace?.complete === true ? workspace : await withHooks({ request, ctx, hooks }, session, workspace),
    written,
    flushed,
    hooks,
  };
}

interface Beginning {
  request: TurnRequest;
  ctx: MessageContext;
  hooks: HookWords;
}

/** Of commands the hooks take care; whatever nobody has captured is captured when it is offered. */
async function captureBefore(
  { request, ctx, hooks }: Beginning,
  entry: SessionEntry,
  reason: WindowReason,
): Promise<void> {
  const { parts, held } = request;
  const sessionKey = held.lease.key;
  const why = reason === "command" ? resetWord(ctx, parts.config.session.resetTriggers) : reason;
  const place = { parts, sessionKey, entry, ctx, reason: why };
  if (why === "daily" || why === "idle") await captureWindow(parts, sessionKey, entry, why);
  if (why === "new" || why === "reset") await hooks.before({ ...place, event: `command:${why}` });
  // While the session is still in it: a handler that looks finds the window that ends.
  await hooks.before({ ...place, event: "session:end" });
}

async function withHooks(
  { request, ctx, hooks }: Beginning,
  { sessionKey, sessionEntry: entry }: SessionInitResult,
  workspace: Workspace,
): Promise<Workspace> {
  const { parts } = request;
  if (workspace.prompt === undefined || parts.hooks?.listens("agent:bootstrap") !== true) return workspace;
  const { prompt, messages } = await bootstrapHooks({ parts, sessionKey, entry, ctx }, workspace.prompt);
  hooks.add(messages);
  return { prompt };
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
