/**
 * The start of a turn: the session, its window, the model that the message may name, and the system prompt.
 * All changes of the entry are in the one update of `initSessionState`. Before the session leaves a window,
 * its hand-off is captured and the agent saves its memory.
 */
import { isDeepStrictEqual } from "node:util";
import type { WorkspacePrompt } from "../../engine/workspace/workspace-description.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { entryForNewWindow } from "../../session/entry.ts";
import { type SessionInitResult, initSessionState } from "../../session/init.ts";
import type { SessionEntry, SkillsSnapshot } from "../../store/session-entry.ts";
import type { WindowReason } from "../../store/store.ts";
import { findOpener, resetWord } from "../body/body.ts";
import type { TurnRequest } from "../pipeline.ts";
import type { ReplyPayload } from "../reply/payloads.ts";
import { flushMemory } from "./flush-memory.ts";
import { type HookMessages, bootstrapHooks, captureWindow, createHookMessages } from "./hooks-and-handoff.ts";
import type { EarlierPlace, TurnTrace } from "./turn-trace.ts";
import { type ModelSelection, applyResetModelOverride } from "../../session/model-choice.ts";

/** A turn that has started, as each later stage gets it. `messages` come without the reset word. */
export interface Turn extends TurnRequest {
  session: SessionInitResult;
  model: ModelSelection | undefined;
  workspace: Workspace;
  /** What an earlier attempt left. Undefined for a first attempt. */
  trace: TurnTrace | undefined;
  /** Resolves when the entry is on disk. Must be awaited before the engine is asked. */
  written: Promise<unknown>;
  /** Messages of the agent from the memory flush of the previous window. */
  flushed: ReplyPayload[];
  hooks: HookMessages;
}

/** A workspace that cannot be read fails the turn, but only after the message is written. */
type Workspace = { prompt: WorkspacePrompt; error?: undefined } | { prompt?: undefined; error: unknown };

/** `isQuiet`: without hooks and memory flush, which could end the process again. */
export async function beginTurn(request: TurnRequest, trace: TurnTrace | undefined, { isQuiet = false } = {}) {
  const { parts, held, turnId, messages } = request;
  const { agent, config } = parts;
  const opener = findOpener(messages, config.session.resetTriggers);
  const ctx = messages[opener] ?? {};
  const workspace = isQuiet ? { error: undefined } : await readWorkspace(request);
  const flushed: ReplyPayload[] = [];
  const hooks = createHookMessages();
  let written: Promise<unknown> = Promise.resolve();
  const onWriting = (writing: Promise<unknown>): void => {
    written = writing;
    // A turn that fails first does not await it; that must not be an unhandled rejection.
    writing.catch(() => undefined);
  };
  const complete = (entry: SessionEntry): SessionEntry => withTurnState(entry, workspace.prompt, request);
  const beforeNewWindow = async (entry: SessionEntry, reason: WindowReason): Promise<void> => {
    await captureBefore(request, ctx, hooks, entry, reason);
    const before = { turnId, itemId: request.itemId, trace };
    const { signal, emit } = request;
    const sessionKey = held.lease.key;
    flushed.push(...(await flushMemory({ parts, held, signal, emit, sessionKey, entry, occasion: "reset", before })));
  };

  const opened = await initSessionState({
    agent,
    ctx,
    cfg: config,
    lease: held.lease,
    turnId,
    begunBefore: trace?.begun === true,
    isHeartbeat: request.isHeartbeat,
    ...(isQuiet ? {} : { onWriting, complete, beforeNewWindow }),
  });
  const session = trace?.place === undefined ? opened : inEarlierWindow(opened, trace.place);
  const named = isQuiet || trace?.place !== undefined ? undefined : await nameModel(request, opened);
  const turn: Turn = {
    ...request,
    messages: messages.with(opener, session.sessionCtx),
    session: { ...session, sessionEntry: named?.sessionEntry ?? session.sessionEntry },
    model: named?.selection,
    workspace,
    trace,
    written,
    flushed,
    hooks,
  };
  if (trace?.complete !== true && !isQuiet) await addHookFiles(turn, ctx);
  return turn;
}

async function readWorkspace({ parts }: TurnRequest): Promise<Workspace> {
  try {
    return { prompt: await parts.describeWorkspace() };
  } catch (error) {
    return { error };
  }
}

function withTurnState(
  entry: SessionEntry,
  workspace: WorkspacePrompt | undefined,
  { parts: { hooks } }: TurnRequest,
): SessionEntry {
  const skillsSnapshot = workspace === undefined ? undefined : newSnapshot(entry.skillsSnapshot, workspace);
  // Hooks may change the prompt. Then the end of the turn reports it.
  const report = hooks?.listens("agent:bootstrap") === true ? undefined : workspace?.report;
  const isReported = report === undefined || isDeepStrictEqual(report, entry.systemPromptReport);
  return {
    ...entry,
    abortedLastRun: false,
    ...(skillsSnapshot === undefined ? {} : { skillsSnapshot }),
    ...(isReported ? {} : { systemPromptReport: report }),
  };
}

function newSnapshot(known: SkillsSnapshot | undefined, workspace: WorkspacePrompt): SkillsSnapshot | undefined {
  const { skills, version } = workspace;
  if (known === undefined ? skills.length === 0 : known.version === version) return undefined;
  // Every prompt has the whole text, so the entry only lists the skills.
  return { prompt: skills.map(({ name }) => `- ${name}`).join("\n"), skills, version };
}

async function captureBefore(
  { parts, held }: TurnRequest,
  ctx: MessageContext,
  hooks: HookMessages,
  entry: SessionEntry,
  windowReason: WindowReason,
): Promise<void> {
  const sessionKey = held.lease.key;
  const reason = windowReason === "command" ? resetWord(ctx, parts.config.session.resetTriggers) : windowReason;
  const call = { parts, sessionKey, entry, ctx, reason };
  // A hook captures before commands. A window that is not captured here is captured when it is offered.
  if (reason === "daily" || reason === "idle") await captureWindow(parts, sessionKey, entry, reason);
  if (reason === "new" || reason === "reset") await hooks.before({ ...call, event: `command:${reason}` });
  // Before the session leaves the window, so that a hook finds it.
  await hooks.before({ ...call, event: "session:end" });
}

async function nameModel({ parts, held }: TurnRequest, opened: SessionInitResult) {
  const { agent, config } = parts;
  const { sessionKey, resetTriggered, bodyStripped, sessionCtx } = opened;
  return await applyResetModelOverride({
    agent,
    sessionKey,
    models: config.models,
    defaultModel: config.agents[agent.agentId]?.model,
    resetTriggered,
    bodyStripped,
    sessionCtx,
    lease: held.lease,
  });
}

/** The session as it was in a window that it has left, for a turn that continues there. */
function inEarlierWindow(session: SessionInitResult, { window, path }: EarlierPlace): SessionInitResult {
  const { sessionId } = window;
  const entry = entryForNewWindow(session.sessionEntry, { sessionId, sessionFile: path, now: window.openedAt });
  return {
    ...session,
    sessionCtx: { ...session.sessionCtx, SessionId: sessionId, IsNewSession: "false" },
    sessionEntry: { ...entry, ...window.state },
    sessionId,
    transcriptPath: path,
    isNewSession: false,
    windowReason: undefined,
    previousSessionEntry: undefined,
  };
}

async function addHookFiles(turn: Turn, ctx: MessageContext): Promise<void> {
  const { parts, session, workspace, hooks } = turn;
  if (parts.hooks?.listens("agent:bootstrap") !== true) return;
  // A hook may read the entry.
  await turn.written;
  if (workspace.prompt === undefined) return;
  const { sessionKey, sessionEntry: entry } = session;
  const { prompt, messages } = await bootstrapHooks({ parts, sessionKey, entry, ctx }, workspace.prompt);
  hooks.add(messages);
  turn.workspace = { prompt };
}
