/** `holdfast cc run`, `cc send` and `cc kill`: tasks for Claude Code, follow-ups, and ending a process. */
import { constants } from "node:os";
import { join } from "node:path";
import { ERROR_KINDS, HoldfastError, hasCode } from "../../../base/errors.ts";
import { shortId } from "../../../base/ids.ts";
import { silentLogger } from "../../../base/log.ts";
import type {
  SpawnOptions,
  ClaudeCodeResult,
  Holder,
  ProgressSummary,
  RunnerEvent,
} from "../../../claude/runner/runner-contract.ts";
import type { ClaudeRunner } from "../../../claude/runner/runner.ts";
import type { SessionSelection } from "../../../claude/selection/selection.ts";
import type { Counts, Flags, Texts } from "../../command.ts";
import type { Setup } from "../../context.ts";
import { print, printJson, talk, plural } from "../../output.ts";
import { askInTerminal } from "./ask-permission.ts";
import { sessionFolder } from "./attach.ts";
import {
  type ClaudeOptions,
  candidatesFor,
  requireFolder,
  surenessText,
  withClaude,
  formatDuration,
  formatUsd,
} from "./claude-side.ts";
import type { ClaudeSide } from "../../../compose/claude.ts";
import { nodeUtil } from "../../../base/builtin.ts";
import { printableLine } from "../../../base/text.ts";

/** `timeout` is in minutes. */
type RunOptions = ClaudeOptions &
  Pick<SpawnOptions, "label" | "model" | "permissionMode" | "maxBudgetUsd" | "maxTurns" | "resume" | "fork"> &
  Pick<SpawnOptions, "onRunning" | "fresh" | "persistent"> &
  Flags<"worktree" | "noHandoff"> &
  Texts<"repo"> &
  Counts<"timeout"> & { from?: "own" | "all" | undefined };

/** The answer goes to stdout, progress to stderr. */
export async function runTask(task: string, options: RunOptions): Promise<void> {
  const { json, agent: _agent, repo: _repo, from, worktree, noHandoff, timeout, ...given } = options;
  await withClaude(options, async (side, setup) => {
    const place = await findPlace(side, options);
    const repoPath = worktree === true ? await addWorktreeIn(side, place.repoPath) : place.repoPath;
    const runner = await side.runner();
    using interruption = listenForInterrupts(async () => await runner.stopAllClaudeCode());
    const { signal } = interruption;
    const { shownWarnings, onEvent } = createEventPrinter(json === true);
    const result = await runner.spawnClaudeCode({
      ...given,
      ...place,
      task,
      agentId: side.agentId,
      candidates: candidatesFor(from, side),
      repoPath,
      // No session has worked in a new worktree.
      fresh: worktree === true ? true : given.fresh,
      timeoutMs: timeout === undefined ? undefined : timeout * 60_000,
      begin: noHandoff === true ? undefined : async () => await previousHandoff(setup, place.repoPath),
      signal,
      onEvent,
      onPermission: json === true ? undefined : askInTerminal(),
    });
    printResult(result, shownWarnings, json === true);
    // Another process may keep the session open.
    const isOwn = runner.activeSpawns.size > 0;
    if (result.isLive && isOwn) await stayOpen(runner, result.sessionId ?? "", signal);
  });
}

async function addWorktreeIn({ home }: ClaudeSide, repoPath: string): Promise<string> {
  const [{ addWorktree }, { claudeLayout }, { randomIds }] = await Promise.all([
    import("../../../project/worktree.ts"),
    import("../../../config/layout.ts"),
    import("../../../base/ids.ts"),
  ]);
  const name = shortId(randomIds.uuid());
  const path = join(claudeLayout(home).worktreesFolder, name);
  const folder = await addWorktree(repoPath, { path, branch: `holdfast/${name}` });
  talk(`worktree: ${folder}, branch holdfast/${name}`);
  return folder;
}

function worktreeIsNew(): HoldfastError {
  return new HoldfastError("usage", "worktree-is-new", "A session cannot continue in a new worktree.", {
    hint: "Leave out --worktree, or --resume and --fork.",
  });
}

type Place = Pick<SpawnOptions, "repoPath" | "resume" | "fork">;

/** A named session also names the folder, unless `--repo` does. */
async function findPlace(side: ClaudeSide, { repo, resume, fork, worktree }: RunOptions): Promise<Place> {
  const named = resume ?? fork;
  if (named === undefined) return { repoPath: requireFolder(repo) };
  if (worktree === true) throw worktreeIsNew();
  const session = await findNamed(side, named);
  const folder = session === undefined ? undefined : sessionFolder(session);
  const sessionId = session?.sessionId ?? named;
  return {
    repoPath: requireFolder(repo ?? folder),
    resume: resume === undefined ? undefined : sessionId,
    fork: resume === undefined ? sessionId : fork,
  };
}

/** Undefined for a full id that only Claude Code may know. */
async function findNamed(side: ClaudeSide, id: string) {
  const { isNativeSessionId } = await import("../../../claude/runner/run-files.ts");
  try {
    return await side.find(id);
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "not-found" && isNativeSessionId(id)) return undefined;
    throw error;
  }
}

const HANDOFF_MS = 3000;

/** The hand-off of the previous session in the repo, if it can be read in time. */
async function previousHandoff(setup: Setup, cwd: string): Promise<string | undefined> {
  const [{ tellNative }, { within }] = await Promise.all([
    import("../../../compose/handoff.ts"),
    import("../../../base/async.ts"),
  ]);
  const text = await within(HANDOFF_MS, tellNative({ ...setup, env: process.env, logger: silentLogger, cwd }));
  return typeof text === "string" ? text : undefined;
}

/** Waits until the session was idle for long, `cc kill` ended it, or the person interrupts. */
async function stayOpen(runner: ClaudeRunner, sessionId: string, signal: AbortSignal): Promise<void> {
  talk(`Session ${sessionId} is open for follow-ups: holdfast cc send ${shortId(sessionId)} "…". Ctrl-C ends it.`);
  const processes = [...runner.activeSpawns.values()].map(async (run) => await run.process.ended);
  const interrupted = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => interrupted.resolve());
  if (signal.aborted) interrupted.resolve();
  // The timers of an idle session do not keep this process alive.
  const alive = setInterval(() => undefined, 60_000);
  await Promise.race([Promise.all(processes), interrupted.promise]);
  clearInterval(alive);
  await runner.stopAllClaudeCode();
}

/** Sends a follow-up to a session that a Holdfast process keeps open. */
export async function sendText(id: string, text: string, options: ClaudeOptions): Promise<void> {
  await withClaude(options, async (side) => {
    const runner = await side.runner();
    const sessionId = await findLiveId(side, runner, id);
    using interruption = listenForInterrupts(async () => undefined);
    interruption.signal.addEventListener(
      "abort",
      () => void runner.interruptClaudeCode(sessionId).catch(() => undefined),
    );
    const { shownWarnings, onEvent } = createEventPrinter(options.json === true);
    const result = await runner.sendFollowUpAndWait(sessionId, text, { onEvent });
    printResult(result, shownWarnings, options.json === true);
  });
}

export async function kill(id: string, options: ClaudeOptions & { force?: boolean | undefined }): Promise<void> {
  await withClaude(options, async (side) => {
    const runner = await side.runner();
    const sessionId = await findLiveId(side, runner, id);
    const killed = await runner.killClaudeCode(sessionId, { force: options.force === true }).catch(withForceHint);
    if (killed.length === 0) {
      throw new HoldfastError("not-found", "session-not-live", `Session ${sessionId} is not running`, {
        hint: "`holdfast cc list --all --running` lists running sessions.",
      });
    }
    if (options.json === true) printJson({ schema: 1, ok: true, sessionId, killed });
    else for (const { pid } of killed) print(`${shortId(sessionId)}: process ${pid} has ended`);
  });
}

function withForceHint(error: unknown): never {
  if (!hasCode(error, "session-in-use")) throw error;
  throw new HoldfastError(error.kind, error.code, error.message, {
    hint: "--force ends it anyway; anything not yet in the transcript is lost.",
    data: error.data,
    cause: error,
  });
}

const MIN_PREFIX = 4;

/** The id of a running session by its prefix. A running session may have no transcript yet. */
async function findLiveId(side: ClaudeSide, runner: ClaudeRunner, idOrPrefix: string): Promise<string> {
  const prefix = idOrPrefix.trim().toLowerCase();
  const live = await runner.getAllLiveSessions();
  const matching = live.flatMap(({ sessionId }) => (sessionId?.startsWith(prefix) === true ? [sessionId] : []));
  const [only, second] = new Set(prefix.length < MIN_PREFIX ? [] : matching);
  if (only !== undefined && second === undefined) return only;
  return (await side.find(idOrPrefix)).sessionId;
}

/**
 * The first Ctrl-C asks Claude Code to stop, so that the answer so far is kept; the second one ends it, and so do
 * SIGTERM and SIGHUP. `endAll` resolves when no process is left.
 */
function listenForInterrupts(endAll: () => Promise<void>) {
  const controller = new AbortController();
  const end = (code: number): void => {
    void endAll().finally(() => process.exit(code));
  };
  const onInterrupt = (): void => {
    if (controller.signal.aborted) {
      talk("holdfast: ending Claude Code");
      end(ERROR_KINDS.interrupted.exitCode);
    } else {
      talk("holdfast: interrupting; Ctrl-C again ends Claude Code");
      controller.abort();
    }
  };
  const onTerminate = (signal: "SIGTERM" | "SIGHUP"): void => end(128 + constants.signals[signal]);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.on("SIGHUP", onTerminate);
  return {
    /** Aborted by the first Ctrl-C. */
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      process.off("SIGHUP", onTerminate);
    },
  };
}

const EXIT_CODES: Record<ClaudeCodeResult["outcome"], number> = {
  completed: 0,
  // It finished, but some tools were not allowed.
  "permission-denied": ERROR_KINDS.degraded.exitCode,
  interrupted: ERROR_KINDS.interrupted.exitCode,
  "stale-resume": ERROR_KINDS["not-found"].exitCode,
  "limit-turns": 1,
  "limit-budget": 1,
  "api-error": 1,
  "rate-limited": 1,
  "timed-out": 1,
  crashed: 1,
};

export function printResult(result: ClaudeCodeResult, shownWarnings: ReadonlySet<string>, json: boolean): void {
  process.exitCode = EXIT_CODES[result.outcome];
  if (json) {
    printJson({ schema: 1, ...result });
    return;
  }
  if (result.text !== "") print(result.text);
  for (const text of result.warnings) {
    if (!shownWarnings.has(text)) writeLine(`WARNING: ${text}`, "loud");
  }
  for (const { toolName } of result.denials) talk(`not allowed: ${toolName}`);
  if (result.error !== undefined) talk(`holdfast: ${result.error}`);
  const flag = LIMIT_FLAGS[result.outcome];
  if (flag === undefined || result.sessionId === undefined) return;
  talk(`  To continue: holdfast cc run "…" --resume ${shortId(result.sessionId)} ${flag}`);
}

/** The options that give a run more than it had. */
const LIMIT_FLAGS: Partial<Record<ClaudeCodeResult["outcome"], string>> = {
  "limit-budget": "--max-budget-usd <dollars>",
  "limit-turns": "--max-turns <n>",
  "timed-out": "--timeout <minutes>",
};

/** Prints events as lines or JSON, and collects the warnings that were shown. */
export function createEventPrinter(json: boolean): {
  shownWarnings: Set<string>;
  onEvent: (event: RunnerEvent) => void;
} {
  const shownWarnings = new Set<string>();
  return {
    shownWarnings,
    onEvent(event) {
      if (json) {
        process.stderr.write(`${JSON.stringify({ event })}\n`);
        return;
      }
      if ("text" in event) shownWarnings.add(event.text);
      const line = toLine(event);
      if (line !== undefined) writeLine(...line);
    },
  };
}

type RunLine = [text: string, tone?: "quiet" | "loud"];

/** Undefined for events that are not shown; the text of the answer is printed at the end. */
function toLine(event: RunnerEvent): RunLine | undefined {
  switch (event.type) {
    case "queued":
      return [`waiting: ${event.reason} ${holderText(event.holder)}; ${formatDuration(event.waitedMs)} so far`];
    case "selected":
      return [decisionText(event.selection)];
    case "started":
      return [`started: ${event.how}, session ${event.sessionId ?? "?"}, process ${event.pid}`];
    case "tool":
      return [`${event.isSubagent ? "    " : "  "}${event.name}  ${event.detail}`, "quiet"];
    case "tool-failed":
      return [`  ${event.name} failed: ${event.text}`, "quiet"];
    case "progress":
      return [`working: ${progressText(event.progress)}`];
    case "session-changed":
      return [`the session continues as ${event.to}`];
    case "second-writer":
    case "fallback":
      return [`WARNING: ${event.text}`, "loud"];
    case "ended":
      return [endText(event.result)];
    case "dropped":
      return [`  (${plural(event.count, "event")} omitted)`, "quiet"];
    default:
      return undefined;
  }
}

function decisionText(selection: SessionSelection): string {
  const sure = surenessText(selection);
  const { suggested } = selection;
  const other = suggested?.sessionId === undefined ? "a fresh one" : shortId(suggested.sessionId);
  const isOverride = suggested !== undefined && suggested.sessionId !== selection.sessionId;
  const instead = isOverride ? ` The suggestion was ${other}.` : "";
  return `decision${sure === undefined ? "" : ` (${sure})`}: ${selection.reason}${instead}`;
}

const MAX_LINE = 300;

function writeLine(...[text, tone]: RunLine): void {
  const indent = /^ */.exec(text)?.[0] ?? "";
  const safe = `${indent}${printableLine(text, tone === "loud" ? Number.POSITIVE_INFINITY : MAX_LINE)}`;
  const dress = (): string =>
    nodeUtil().styleText(tone === "loud" ? ["bold", "yellow"] : "dim", safe, { stream: process.stderr });
  process.stderr.write(`${tone === undefined ? safe : dress()}\n`);
}

function holderText({ kind, pid, agentId, task, sessionId, status }: Holder): string {
  const who = kind === "person" ? "A person's `claude`" : `Agent ${agentId ?? "?"}`;
  const about = [
    `process ${pid}`,
    ...(sessionId === undefined ? [] : [`session ${shortId(sessionId)}`]),
    ...(status === undefined ? [] : [status]),
    ...(task === undefined ? [] : [`"${task.slice(0, 80)}"`]),
  ];
  return `${who} is using it (${about.join(", ")})`;
}

function progressText(progress: ProgressSummary): string {
  const { elapsedMs, toolUses, lastTool, lastToolDetail, lastText, costUsd, retries, subagents } = progress;
  return [
    formatDuration(elapsedMs),
    plural(toolUses, "tool use"),
    ...(subagents === 0 ? [] : [plural(subagents, "subagent")]),
    ...(costUsd === 0 ? [] : [formatUsd(costUsd)]),
    ...(retries === 0 ? [] : [`retried ${retries} ×`]),
    ...(lastTool === undefined ? [] : [`last ${lastTool} ${lastToolDetail ?? ""}`.trim()]),
    ...(lastText === undefined || lastText === "" ? [] : [`"${lastText.slice(-100)}"`]),
  ].join(", ");
}

function endText({ outcome, durationMs, turns, costUsd, sessionId, isLive }: ClaudeCodeResult): string {
  const figures = [formatDuration(durationMs), plural(turns, "turn"), formatUsd(costUsd)].join(", ");
  const session = sessionId === undefined ? "" : `; session ${sessionId}${isLive ? " stays open" : ""}`;
  return `${outcome}: ${figures}${session}`;
}
