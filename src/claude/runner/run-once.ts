/** From a reservation to a running process, and from a message to its result. */
import type { KeyedMutex } from "../../base/mutex.ts";
import { printableLine } from "../../base/printable.ts";
import { currentProcess } from "../../base/processes.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { redactText } from "../../base/redact.ts";
import type { SessionSelection } from "../selection/selection.ts";
import { type ActiveRun, createActiveRun } from "./active-run.ts";
import type { ControlHost } from "./control-host.ts";
import type { EventRelay } from "./event-relay.ts";
import type { ClaudeProcessOptions, ClaudeTurn } from "./process/claude-process.ts";
import { RUN_KIND_VARIABLE } from "./process/environment.ts";
import type { Reservation } from "./reservation.ts";
import { mcpToolNames, removeRunFiles, writeMcpConfig, writePrompt } from "./run-files.ts";
import { createRunRecord } from "./run-record-file.ts";
import type { ClaudeCodeResult, SpawnOptions } from "./runner-contract.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { timerDelay } from "./timer-delay.ts";

/** What all runs of one runner share. */
export interface RunnerContext {
  parts: RunnerParts;
  /** By run id. */
  runs: Map<string, ActiveRun>;
  control: ControlHost;
  /** Keeps tasks for one place in the order in which they came. */
  arrivals: KeyedMutex;
}

const TASK_LENGTH = 200;

/** The leases stay with the caller when it fails. */
export async function startRun(
  { parts, runs, control }: RunnerContext,
  options: SpawnOptions,
  reservation: Reservation,
): Promise<ActiveRun> {
  const { lane } = reservation;
  const runId = parts.ids.uuid();
  const processOptions = await toProcessOptions(parts, options, reservation, runId).catch(async (error: unknown) => {
    await removeRunFiles(parts.locksFolder, runId);
    throw error;
  });
  const socket = await control.join(runId).catch((error: unknown) => {
    parts.log.warn("Other processes cannot reach this run", { error });
    return undefined;
  });
  const undo = async (): Promise<void> => {
    runs.delete(runId);
    await control.leave(runId);
    await removeRunFiles(parts.locksFolder, runId);
  };
  try {
    const record = await createRunRecord(parts.locksFolder, {
      schema: 1,
      runId,
      sessionId: reservation.writes,
      agentId: options.agentId,
      worktree: lane.worktree,
      ...labelOf(lane),
      ...sessionKeyOf(options),
      task: printableLine(redactText(options.task), TASK_LENGTH),
      persistent: options.persistent === true,
      state: "starting",
      startedAt: new Date().toISOString(),
      host: currentProcess(),
      ...(socket === undefined ? {} : { socket }),
    });
    const process = await startProcess(parts, processOptions).catch(async (error: unknown) => {
      await record.remove();
      throw error;
    });
    void record.update({ pid: process.pid });
    const run = createActiveRun({
      agentId: options.agentId,
      reservation,
      process,
      record,
      readRunning: parts.readRunning,
      log: parts.log,
      onOwnTurn: async (of, turn) => await noteCost(parts, of, turn),
      onFinish: undo,
    });
    runs.set(runId, run);
    return run;
  } catch (error) {
    await undo();
    throw error;
  }
}

/** An error at once becomes a rejection, as every other failure here. */
async function startProcess(parts: RunnerParts, options: ClaudeProcessOptions): Promise<ActiveRun["process"]> {
  return parts.startProcess(options);
}

async function toProcessOptions(
  parts: RunnerParts,
  options: SpawnOptions,
  { start, lane }: Reservation,
  runId: string,
): Promise<ClaudeProcessOptions> {
  const config = parts.configOf(options.agentId);
  const server = parts.mcpServer?.({ agentId: options.agentId, repoPath: lane.worktree, ...sessionKeyOf(options) });
  const model = options.model ?? config.model;
  const permissionMode = options.permissionMode ?? config.permissionMode;
  const maxTurns = options.maxTurns ?? config.maxTurns;
  const { effort, onMessage } = options;
  const folder = parts.locksFolder;
  const isNew = start.kind === "new";
  const told = isNew ? await beginning(parts, options) : undefined;
  const systemPrompt = told === undefined ? options.systemPrompt : joined(options.systemPrompt, told);
  const costs = isNew
    ? undefined
    : await parts.registry.readSessionCosts(options.agentId, start.sessionId).catch(() => undefined);
  // What can be refused comes before what would have to be removed again.
  const maxBudgetUsd = options.maxBudgetUsd ?? budgetLeft(start, costs?.totalUsd, config.maxBudgetUsd);
  return {
    command: config.command,
    cwd: options.repoPath,
    env: { ...(parts.env ?? process.env), [RUN_KIND_VARIABLE]: options.sessionKey === undefined ? "task" : "chat" },
    session: start,
    ...(model === undefined ? {} : { model }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    allowedTools: [...(options.allowedTools ?? config.allowedTools), ...mcpToolNames(server?.tools ?? [])],
    ...(server === undefined ? {} : { mcpConfigFile: await writeMcpConfig(folder, runId, server) }),
    ...(systemPrompt === undefined ? {} : { appendSystemPromptFile: await writePrompt(folder, runId, systemPrompt) }),
    ...(effort === undefined ? {} : { effort }),
    ...(onMessage === undefined ? {} : { onMessage }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(costs === undefined ? {} : { resumedCostUsd: costs.reportedUsd }),
    maxBudgetUsd,
  };
}

async function beginning({ log }: RunnerParts, { begin }: SpawnOptions): Promise<string | undefined> {
  return await begin?.().catch((error: unknown) => {
    log.warn("A fresh session is not told what the one before it left", { error });
    return undefined;
  });
}

function joined(systemPrompt: string | undefined, told: string): string {
  return systemPrompt === undefined ? told : `${systemPrompt}\n\n${told}`;
}

/** The configured budget is that of a session, over all its runs. */
function budgetLeft(start: Reservation["start"], spent: number | undefined, budget: number): number {
  if (start.kind !== "resume" || spent === undefined) return budget;
  if (spent < budget) return Math.round((budget - spent) * 1e6) / 1e6;
  const { sessionId } = start;
  throw new HoldfastError("conflict", "budget-used-up", `Session ${sessionId} has used its budget of $${budget}.`, {
    hint: "Start a fresh session (--fresh), allow this run an amount (--max-budget), or raise claudeCode.maxBudgetUsd.",
    data: { sessionId, spentUsd: spent, budgetUsd: budget },
  });
}

export interface TaskRequest {
  /** As the person wrote it. */
  task: string;
  /** As Claude Code gets it; asked for when it is its turn. */
  message: () => string;
  selection: SessionSelection;
  relay: EventRelay;
  warnings: string[];
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export async function runTask(
  { parts }: RunnerContext,
  run: ActiveRun,
  request: TaskRequest,
): Promise<{ turn: ClaudeTurn; result: ClaudeCodeResult }> {
  const config = parts.configOf(run.agentId);
  const { warnings, relay, signal } = request;
  const { lane } = run.reservation;
  const turn = await run.runTask(request.message, {
    relay,
    signal,
    warnings,
    timeoutMs: timerDelay(request.timeoutMs ?? config.timeoutMinutes * 60_000),
    progressMs: timerDelay(config.progressSeconds * 1000),
    onSession: async (sessionId) => {
      const session = { repoPath: lane.worktree, ...labelOf(lane), sessionId, task: request.task };
      await parts.registry.saveSession(run.agentId, session);
    },
  });
  if (turn.outcome !== "stale-resume" && turn.sessionId !== undefined) await noteCost(parts, run, turn, warnings);
  return { turn, result: toResult(turn, run, request) };
}

async function noteCost(
  { registry, log }: RunnerParts,
  run: ActiveRun,
  turn: ClaudeTurn,
  warnings: string[] = [],
): Promise<void> {
  const { start } = run.reservation;
  try {
    await registry.updateSessionStats(run.agentId, {
      sessionId: run.sessionId(),
      runId: run.runId,
      cumulativeCostUsd: turn.totalCostUsd,
      turns: run.totalTurns(),
      cliVersion: await run.cliVersion(),
      ...(start.kind === "fork" ? { forkedFrom: start.sessionId } : {}),
    });
  } catch (error) {
    warnings.push(`The registry does not know what this run has cost: ${errorMessage(error)}`);
    log.warn("The registry could not be updated", { error });
  }
}

function toResult(turn: ClaudeTurn, run: ActiveRun, { selection, warnings }: TaskRequest): ClaudeCodeResult {
  return {
    outcome: turn.outcome,
    // A new session that no process has named was never there.
    ...(turn.sessionId === undefined && run.reservation.start.kind !== "resume" ? {} : { sessionId: run.sessionId() }),
    text: turn.text,
    costUsd: turn.costUsd,
    turns: turn.numTurns,
    durationMs: turn.durationMs,
    selection,
    denials: turn.denials,
    warnings,
    ...(turn.error === undefined ? {} : { error: turn.error }),
    ...(turn.apiStatus === undefined ? {} : { apiStatus: turn.apiStatus }),
    isLive: false,
  };
}

function labelOf(lane: { label?: string }): { label?: string } {
  return lane.label === undefined ? {} : { label: lane.label };
}

function sessionKeyOf({ sessionKey }: SpawnOptions): { sessionKey?: string } {
  return sessionKey === undefined ? {} : { sessionKey };
}
