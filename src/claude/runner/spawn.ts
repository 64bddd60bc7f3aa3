/**
 * One task for Claude Code, from the decision to the result: reserve, start, send, record the cost.
 *
 * - If the session to resume is gone, a fresh session gets the rest of its history, and a warning says so.
 * - A process that dies at work is never restarted: the task may already have had effects.
 */
import { within } from "../../base/async.ts";
import { HoldfastError, hasCode } from "../../base/errors.ts";
import { checkLabel, checkTaskLabel } from "../registry/registry.ts";
import { ActiveRun, type RunnerContext, type TaskResult } from "./active-run.ts";
import { selectWaiting, type Reservation, reserve } from "./reservation.ts";
import { cancelled, sessionOfChat, throwIfCancelled } from "./leases.ts";
import { sendFollowUp } from "./open-sessions.ts";
import { withHandOff } from "./prompt-text.ts";
import { type EventRelay, createEventRelay } from "./run-events.ts";
import type { ClaudeCodeResult, SpawnOptions, RunnerParts } from "./runner-contract.ts";
import { redactText } from "../../base/redact.ts";
import { RUN_KIND_VARIABLE } from "../attribution.ts";
import type { AskPermission, ClaudeProcessOptions } from "./process/claude-process.ts";
import {
  type RunRecordFile,
  createRunRecord,
  mcpToolNames,
  removeRunFiles,
  writeMcpConfig,
  writeRunFile,
} from "./run-files.ts";
import { printableLine } from "../../base/text.ts";

type SpawnRequest = SpawnOptions & { signal: AbortSignal };

/** Sends the task to an idle session of the lane if it fits there, else to a process of its own. */
export async function runInBestSession(context: RunnerContext, options: SpawnRequest): Promise<ClaudeCodeResult> {
  checkOptions(context, options);
  // Tasks for one place enter the queue in the order of these calls, however long each lookup takes.
  const placed = await context.arrivals.run(JSON.stringify([options.repoPath, options.label]), async () => {
    const selection = await selectWaiting(context.parts, options);
    if (selection?.sessionId !== undefined) return { selection, sessionId: selection.sessionId };
    const arrived = Promise.withResolvers<void>();
    const result = runInNewProcess(context, options, arrived.resolve);
    await Promise.race([arrived.promise, result.catch(() => undefined)]);
    return { result };
  });
  if (placed.result !== undefined) return await placed.result;
  try {
    const { selection, sessionId } = placed;
    createEventRelay(options.onEvent, context.parts.log).emit({ type: "selected", selection });
    return { ...(await sendFollowUp(context, sessionId, options.task, { ...options, selection })), selection };
  } catch (error) {
    // The session ended in the meantime, and nothing was sent.
    if (!hasCode(error, "session-not-live")) throw error;
    return await runInNewProcess(context, options);
  }
}

/** Checks that need no I/O. `markTask` and the label checks throw on values that cannot be stored. */
function checkOptions({ parts }: RunnerContext, options: SpawnOptions): void {
  const { task, resume, fork, fresh, agentId, label } = options;
  parts.markTask(agentId, task);
  // The label of a chat is its session key, which tasks may not use.
  if (label !== undefined) (options.sessionKey === undefined ? checkTaskLabel : checkLabel)(label);
  if (task.trim() === "") {
    throw new HoldfastError("usage", "task-empty", "No task given.", { hint: "Say what Claude Code should do." });
  }
  if ([resume, fork, fresh === true ? "" : undefined].filter((one) => one !== undefined).length > 1) {
    throw new HoldfastError("usage", "session-choice-unclear", "Resume, fork and fresh exclude each other.", {
      hint: "Give one of them, or none and let Holdfast decide.",
    });
  }
}

interface Spawn {
  context: RunnerContext;
  options: SpawnRequest;
  reservation: Reservation;
  relay: EventRelay;
  warnings: string[];
}

async function runInNewProcess(
  context: RunnerContext,
  options: SpawnRequest,
  onArrived?: () => void,
): Promise<ClaudeCodeResult> {
  const { parts } = context;
  await refuseChat(context, options);
  const relay = createEventRelay(options.onEvent, parts.log);
  const reservation = await reserve({ options, parts, relay, signal: options.signal, onArrived });
  const asking = { ...options, onPermission: options.onPermission && afterEvents(relay, options.onPermission) };
  const spawn: Spawn = { context, options: asking, reservation, relay, warnings: [] };
  relay.emit({ type: "selected", selection: reservation.selection });
  const isFresh = reservation.start.kind === "new";
  const message = isFresh ? parts.markTask(options.agentId, options.task) : options.task;
  const result = await runReserved(spawn, message);
  return result === "stale" ? await runInFreshSession(spawn) : result;
}

const MAX_EVENT_DELAY_MS = 1000;

/** Asks once the watcher knows what came before, such as the cost, which it stores. */
function afterEvents(relay: EventRelay, ask: AskPermission): AskPermission {
  return async (question, withdrawn) => {
    await within(MAX_EVENT_DELAY_MS, relay.idle());
    return await ask(question, withdrawn);
  };
}

/** The chat's next answer would see the task, so only the conversation itself may resume its session. */
async function refuseChat({ parts }: RunnerContext, { resume, sessionKey }: SpawnOptions): Promise<void> {
  if (resume === undefined || sessionKey !== undefined) return;
  const conversation = await parts.conversationOf?.(resume);
  if (conversation !== undefined) throw sessionOfChat(resume, conversation);
}

/** `stale`: the session to resume is gone, and nothing was done. */
async function runReserved(spawn: Spawn, message: string): Promise<ClaudeCodeResult | "stale"> {
  const { context, options, reservation, relay, warnings } = spawn;
  const { selection, start } = reservation;
  let run: ActiveRun;
  try {
    throwIfCancelled(options.signal);
    run = await startRun(context, options, reservation);
  } catch (error) {
    await reservation.release();
    throw error;
  }
  const how = start.kind === "new" ? "fresh" : start.kind;
  relay.emit({ type: "started", sessionId: run.sessionId(), pid: run.process.pid, how });
  const { task, signal, timeoutMs } = options;
  const request = { task, message: () => message, selection, relay, warnings, signal, timeoutMs };
  const done = await run.runTask(request).catch(async (error: unknown) => {
    await run.finish();
    throw error;
  });
  if (done.turn.outcome !== "stale-resume" || how === "fresh") return await conclude(spawn, run, done);
  await run.finish();
  if (run.isEnded) throw cancelled();
  return "stale";
}

async function conclude(
  { context, options, relay }: Spawn,
  run: ActiveRun,
  { turn, result }: TaskResult,
): Promise<ClaudeCodeResult> {
  const isLive = options.persistent === true && turn.canContinue;
  const ended = { ...result, isLive };
  relay.emit({ type: "ended", result: ended });
  if (isLive) {
    run.keep(context.parts.configOf(options.agentId).idleTimeoutMinutes * 60_000);
  } else {
    await run.finish();
    await reportEnd(context, options, run);
  }
  return ended;
}

/** Not for chats and copies of their sessions: their hand-offs belong to the chat. */
async function reportEnd({ parts }: RunnerContext, options: SpawnOptions, run: ActiveRun): Promise<void> {
  if (run.reservation.conversation !== undefined) return;
  const { agentId, repoPath: cwd } = options;
  const sessionId = run.sessionId();
  await parts.onEnded?.({ agentId, sessionId, cwd }).catch((error: unknown) => {
    parts.log.warn("The hand-off of a session was not captured", { error, sessionId });
  });
}

/** Runs the task again after `stale`, with the rest of the old conversation. */
async function runInFreshSession(spawn: Spawn): Promise<ClaudeCodeResult> {
  const { context, options, relay, warnings } = spawn;
  const { parts } = context;
  const { conversation, start } = spawn.reservation;
  const { sessionId } = start;
  const history = await readHistory(spawn);
  const reason =
    `Session ${sessionId} could not be resumed: Claude Code no longer has it. The task runs in a fresh session, ` +
    (history === undefined
      ? "without the old conversation, which is lost."
      : "with the rest of the old conversation as context.");
  warnings.push(reason);
  parts.log.warn(reason, { sessionId });
  relay.emit({ type: "fallback", sessionId, text: reason });
  const selection = { ...spawn.reservation.selection, action: "fresh" as const, reason, sessionId: undefined };
  const wanted = { ...options, resume: undefined, fork: undefined, fresh: true };
  const reservation = await reserve({ options: wanted, parts, relay, signal: options.signal, selection });
  const why = `The session ${sessionId} could not be resumed.`;
  const task = history === undefined ? options.task : withHandOff(options.task, why, history);
  const fresh = { ...spawn, reservation: { ...reservation, conversation } };
  const result = await runReserved(fresh, parts.markTask(options.agentId, task));
  if (result !== "stale") return result;
  throw new HoldfastError(
    "unavailable",
    "session-not-started",
    "Claude Code started neither the old session nor a new one.",
    { hint: "Run `claude` by hand in this folder to see the reason." },
  );
}

/** The rest of a lost session's history, with the caller's additions. Undefined: nothing is left. */
async function readHistory({ context, options, reservation }: Spawn): Promise<string | undefined> {
  const { parts } = context;
  const { sessionId } = reservation.start;
  const orNothing = (error: unknown): undefined => {
    parts.log.warn("The earlier conversation of a lost session cannot be read", { error, sessionId });
  };
  const history = options.handOff ?? (await parts.peekHistory(sessionId, reservation.lane.worktree).catch(orNothing));
  const texts = [history, await options.recall?.().catch(orNothing)].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

const TASK_LENGTH = 200;

/** On failure the caller keeps the leases. */
async function startRun(
  { parts, runs, control }: RunnerContext,
  options: SpawnOptions,
  reservation: Reservation,
): Promise<ActiveRun> {
  const { agentId, sessionKey } = options;
  const runId = parts.ids.uuid();
  let record: RunRecordFile | undefined;
  const cleanUp = async (): Promise<void> => {
    runs.delete(runId);
    await record?.remove();
    await removeRunFiles(parts.locksFolder, runId);
    await control.leave(runId);
  };
  try {
    const { processOptions, budgetUsd, spentUsd } = await prepare(parts, options, reservation, runId);
    const socket = await control.join(runId).catch((error: unknown) => {
      parts.log.warn("Other processes cannot reach this run", { error });
      return undefined;
    });
    record = await createRunRecord(parts.locksFolder, {
      runId,
      sessionId: reservation.writes,
      agentId,
      ...reservation.lane,
      sessionKey,
      task: printableLine(redactText(options.task), TASK_LENGTH),
      persistent: options.persistent === true,
      state: "starting",
      budgetUsd,
      spentUsd,
      socket,
    });
    const process = parts.startProcess(processOptions);
    void record.update({ pid: process.pid });
    const run = new ActiveRun({ parts, agentId, reservation, process, record, onFinish: cleanUp });
    runs.set(runId, run);
    return run;
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

async function prepare(
  parts: RunnerParts,
  options: SpawnOptions,
  { start, lane, conversation }: Reservation,
  runId: string,
) {
  const { agentId, sessionKey } = options;
  const config = parts.configOf(agentId);
  const server = parts.mcpServer?.({ agentId, repoPath: lane.worktree, sessionKey });
  const folder = parts.locksFolder;
  const isNew = start.kind === "new";
  const systemPrompt = await systemPromptOf(parts, options, isNew);
  const costs = isNew
    ? undefined
    : await parts.registry.readSessionCosts(agentId, start.sessionId).catch(() => undefined);
  // Check the budget before any file is written.
  const maxBudgetUsd = options.maxBudgetUsd ?? budgetLeft(start, costs?.totalUsd, config.maxBudgetUsd);
  const processOptions: ClaudeProcessOptions = {
    command: config.command,
    cwd: options.repoPath,
    env: { ...(parts.env ?? process.env), [RUN_KIND_VARIABLE]: conversation === undefined ? "task" : "chat" },
    session: start,
    model: options.model ?? config.model,
    permissionMode: options.permissionMode ?? config.permissionMode,
    allowedTools: [...(options.allowedTools ?? config.allowedTools), ...mcpToolNames(server?.tools ?? [])],
    mcpConfigFile: server === undefined ? undefined : await writeMcpConfig(folder, runId, server),
    appendSystemPromptFile:
      systemPrompt === undefined ? undefined : await writeRunFile(folder, runId, "prompt", systemPrompt),
    effort: options.effort,
    onMessage: options.onMessage,
    onPermission: options.onPermission,
    maxTurns: options.maxTurns ?? config.maxTurns,
    resumedCostUsd: costs?.reportedUsd,
    maxBudgetUsd,
  };
  const isOwnBudget = options.maxBudgetUsd !== undefined && start.kind === "resume";
  return {
    processOptions,
    budgetUsd: options.maxBudgetUsd ?? config.maxBudgetUsd,
    // Earlier cost of the session that does not count against the budget.
    spentUsd: isOwnBudget ? (costs?.totalUsd ?? 0) : 0,
  };
}

async function systemPromptOf(
  { log }: RunnerParts,
  { systemPrompt, begin }: SpawnOptions,
  isNew: boolean,
): Promise<string | undefined> {
  if (!isNew || begin === undefined) return systemPrompt;
  const handOff = await begin().catch((error: unknown) => {
    log.warn("A fresh session starts without the hand-off of the previous one", { error });
    return undefined;
  });
  const texts = [systemPrompt, handOff].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

/** The configured budget covers all runs of a session. */
function budgetLeft(start: Reservation["start"], spent: number | undefined, budget: number): number {
  if (start.kind !== "resume" || spent === undefined) return budget;
  if (spent < budget) return Math.round((budget - spent) * 1e6) / 1e6;
  const { sessionId } = start;
  throw new HoldfastError("conflict", "budget-used-up", `Session ${sessionId} has used its budget of $${budget}.`, {
    hint: "Start a fresh session (--fresh), allow this run an amount (--max-budget-usd), or raise claudeCode.maxBudgetUsd.",
    data: { sessionId, spentUsd: spent, budgetUsd: budget },
  });
}
