/** `holdfast cc run`: one task for Claude Code. The answer is on stdout, what happens meanwhile on stderr. */
import { HoldfastError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/log.ts";
import type { PermissionMode } from "../../../claude/protocol/messages.ts";
import type { SpawnOptions } from "../../../claude/runner/runner-contract.ts";
import type { ClaudeRunner } from "../../../claude/runner/runner.ts";
import type { ClaudeSide } from "../../../compose-claude.ts";
import { parseAmount, parseChoice } from "../../arguments.ts";
import type { Setup } from "../../context.ts";
import { talk } from "../../output.ts";
import { type ClaudeOptions, requireFolder, withClaude } from "./claude-side.ts";
import { listenForInterrupts } from "./interruption.ts";
import { sessionFolder } from "./resume-command.ts";
import { createEventPrinter, printResult } from "./run-result.ts";
import { shortId } from "./session-view.ts";

export interface RunOptions extends ClaudeOptions {
  repo?: string;
  label?: string;
  model?: string;
  permissionMode?: string;
  maxBudgetUsd?: string;
  maxTurns?: number;
  timeout?: string;
  resume?: string;
  fork?: string;
  fresh?: boolean;
  onRunning?: string;
  persistent?: boolean;
  noHandoff?: boolean;
}

const PERMISSION_MODES: readonly PermissionMode[] = [
  "default",
  "acceptEdits",
  "plan",
  "bypassPermissions",
  "dontAsk",
  "auto",
];

export async function runTask(task: string, options: RunOptions): Promise<void> {
  const limits = toLimits(options);
  await withClaude(options, async (side, setup) => {
    const place = await findPlace(side, options);
    const runner = await side.runner();
    using interruption = listenForInterrupts(async () => await runner.stopAllClaudeCode());
    const { told, onEvent } = createEventPrinter(options.json === true);
    const { signal } = interruption;
    const begin = options.noHandoff === true ? {} : { begin: async () => await whatWasLeft(setup, place.repoPath) };
    const { agentId } = side;
    const result = await runner.spawnClaudeCode({ ...limits, ...place, ...begin, task, agentId, signal, onEvent });
    printResult(result, told, options.json === true);
    if (result.isLive) await stayOpen(runner, result.sessionId ?? "", signal);
  });
}

const LEFT_MS = 3000;

/** Of the session before it in the repo, whoever had that one; a task does not wait for it for long. */
async function whatWasLeft(setup: Setup, cwd: string): Promise<string | undefined> {
  const [{ tellNative }, { within }] = await Promise.all([
    import("../../../compose-handoff.ts"),
    import("../../../base/within.ts"),
  ]);
  const left = await within(LEFT_MS, tellNative({ ...setup, env: process.env, logger: silentLogger, cwd }));
  return typeof left === "string" ? left : undefined;
}

function toLimits(options: RunOptions): Partial<SpawnOptions> {
  const { label, model, permissionMode, maxBudgetUsd, maxTurns, timeout, onRunning } = options;
  return {
    ...(label === undefined ? {} : { label }),
    ...(model === undefined ? {} : { model }),
    ...(permissionMode === undefined
      ? {}
      : { permissionMode: parseChoice("--permission-mode", permissionMode, PERMISSION_MODES) }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd: parseAmount("--max-budget-usd", maxBudgetUsd) }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(timeout === undefined ? {} : { timeoutMs: parseAmount("--timeout", timeout) * 60_000 }),
    ...(onRunning === undefined
      ? {}
      : { onRunning: parseChoice("--on-running", onRunning, ["queue", "fork", "refuse"]) }),
    ...(options.fresh === true ? { fresh: true } : {}),
    ...(options.persistent === true ? { persistent: true } : {}),
  };
}

type Place = Pick<SpawnOptions, "repoPath" | "resume" | "fork">;

/** A session that is named also says where it works, unless the person does. */
async function findPlace(side: ClaudeSide, { repo, resume, fork }: RunOptions): Promise<Place> {
  const named = resume ?? fork;
  if (named === undefined) return { repoPath: requireFolder(repo) };
  const session = await findNamed(side, named);
  const folder = session === undefined ? undefined : sessionFolder(session);
  const sessionId = session?.sessionId ?? named;
  return {
    repoPath: requireFolder(repo ?? folder),
    ...(resume === undefined ? {} : { resume: sessionId }),
    ...(fork === undefined ? {} : { fork: resume === undefined ? sessionId : fork }),
  };
}

/** A whole id that nobody knows may still be one that only Claude Code can find. */
async function findNamed(side: ClaudeSide, id: string) {
  const { isSessionId } = await import("../../../claude/runner/lease-files.ts");
  try {
    return await side.find(id);
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "not-found" && isSessionId(id)) return undefined;
    throw error;
  }
}

/** Until nobody has sent anything for long, `cc kill` ends it, or the person does. */
async function stayOpen(runner: ClaudeRunner, sessionId: string, signal: AbortSignal): Promise<void> {
  talk(`Session ${sessionId} takes follow-ups: holdfast cc send ${shortId(sessionId)} "…". Ctrl-C ends it.`);
  const processes = [...runner.activeSpawns.values()].map(async (run) => await run.process.ended);
  const left = Promise.withResolvers<void>();
  const leave = (): void => left.resolve();
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  // Timers of an idle session do not keep a process alive.
  const alive = setInterval(() => undefined, 60_000);
  await Promise.race([Promise.all(processes), left.promise]);
  clearInterval(alive);
  await runner.stopAllClaudeCode();
}
