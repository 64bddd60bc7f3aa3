/** Starts the process of a reservation: settings, budget, files, run record, control socket. */
import { HoldfastError } from "../../base/errors.ts";
import { currentProcess } from "../../base/processes.ts";
import { redactText } from "../../base/redact.ts";
import { RUN_KIND_VARIABLE } from "../attribution.ts";
import { ActiveRun } from "./active-run.ts";
import type { ControlHost } from "./control.ts";
import type { ClaudeProcessOptions } from "./process/claude-process.ts";
import type { Reservation } from "./reservation.ts";
import { createRunRecord, mcpToolNames, removeRunFiles, writeMcpConfig, writePrompt } from "./run-files.ts";
import type { RunnerParts, SpawnOptions } from "./runner-contract.ts";
import type { KeyedMutex } from "../../base/async.ts";
import { printableLine } from "../../base/text.ts";

/** Shared by all runs of one runner. */
export interface RunnerContext {
  parts: RunnerParts;
  /** By run id. */
  runs: Map<string, ActiveRun>;
  control: ControlHost;
  /** Keeps tasks for one place in their order. */
  arrivals: KeyedMutex;
}

const TASK_LENGTH = 200;

/** On failure the caller keeps the leases. */
export async function startRun(
  { parts, runs, control }: RunnerContext,
  options: SpawnOptions,
  reservation: Reservation,
): Promise<ActiveRun> {
  const { agentId, sessionKey } = options;
  const runId = parts.ids.uuid();
  const cleanUp = async (): Promise<void> => {
    runs.delete(runId);
    await control.leave(runId);
    await removeRunFiles(parts.locksFolder, runId);
  };
  try {
    const { processOptions, budgetUsd, spentUsd } = await prepare(parts, options, reservation, runId);
    const socket = await control.join(runId).catch((error: unknown) => {
      parts.log.warn("Other processes cannot reach this run", { error });
      return undefined;
    });
    const record = await createRunRecord(parts.locksFolder, {
      schema: 1,
      runId,
      sessionId: reservation.writes,
      agentId,
      ...reservation.lane,
      sessionKey,
      task: printableLine(redactText(options.task), TASK_LENGTH),
      persistent: options.persistent === true,
      state: "starting",
      startedAt: new Date().toISOString(),
      budgetUsd,
      spentUsd,
      host: currentProcess(),
      socket,
    });
    let process: ActiveRun["process"];
    try {
      process = parts.startProcess(processOptions);
    } catch (error) {
      await record.remove();
      throw error;
    }
    void record.update({ pid: process.pid });
    const run = new ActiveRun({ parts, agentId, reservation, process, record, onFinish: cleanUp });
    runs.set(runId, run);
    return run;
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

interface PreparedRun {
  processOptions: ClaudeProcessOptions;
  /** Budget of the run, or of the session over all its runs. */
  budgetUsd: number;
  /** Earlier cost of the session that does not count against the budget. */
  spentUsd: number;
}

async function prepare(
  parts: RunnerParts,
  options: SpawnOptions,
  { start, lane, conversation }: Reservation,
  runId: string,
): Promise<PreparedRun> {
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
    appendSystemPromptFile: systemPrompt === undefined ? undefined : await writePrompt(folder, runId, systemPrompt),
    effort: options.effort,
    onMessage: options.onMessage,
    maxTurns: options.maxTurns ?? config.maxTurns,
    resumedCostUsd: costs?.reportedUsd,
    maxBudgetUsd,
  };
  const isOwnBudget = options.maxBudgetUsd !== undefined && start.kind === "resume";
  return {
    processOptions,
    budgetUsd: options.maxBudgetUsd ?? config.maxBudgetUsd,
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
