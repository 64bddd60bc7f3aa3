/**
 * Runs the tasks of one agent in this process: Claude Code works, its conversation follows. A task is marked as running
 * before Claude Code starts, and its result is stored before it is sent, so another process can finish what this one
 * leaves.
 */
import type { Clock } from "../base/clock.ts";
import { messageWithHint, hasCode } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { Logger } from "../base/log.ts";
import { currentProcess } from "../base/processes.ts";
import { printable, printableLine } from "../base/text.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import { countedCost, visibleTo } from "../claude/discovered-session.ts";
import { type ProjectStatus, renderProjectStatus } from "../claude/project-status.ts";
import type { ClaudeCodeResult, RunnerEvent } from "../claude/runner/runner-contract.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { mirrorDelivery } from "../session/transcript-changes.ts";
import { type Budgets, budgetNotices, isBudgetUsedUp, remainingBudget, withCost } from "./limits.ts";
import type { Questions } from "./questions.ts";
import { type Task, type TaskState, folderOf } from "./task.ts";
import type { TaskEntries } from "./task-entries.ts";
import {
  type Aftermath,
  GATEWAY_STOPPED,
  eventLine,
  lostText,
  progressNote,
  resultText,
  statusText,
} from "./task-messages.ts";
import type { TaskMessenger } from "./task-messenger.ts";
import type { TaskWorktrees } from "./task-worktrees.ts";

export interface TaskRunsOptions {
  agent: AgentHandle;
  claude: ClaudeSide;
  clock: Clock;
  logger: Logger;
  entries: TaskEntries;
  messenger: TaskMessenger;
  questions: Questions;
  worktrees: TaskWorktrees;
  onChange: (conversation: string) => void;
}

interface RunningTask {
  stop: AbortController;
  done: Promise<void>;
  line?: string;
  /** When the next progress note is due, from the start of Claude Code. */
  noteAtMs: number;
}

export function createTaskRuns(options: TaskRunsOptions) {
  const { agent, claude, clock, logger, entries, messenger, questions, worktrees } = options;
  const { change } = entries;
  const budgets: Budgets = { ...claude.config.budgets, taskUsd: claude.config.maxBudgetUsd };
  /** What this process runs, by task key. */
  const running = new Map<string, RunningTask>();
  /** Persistent sessions that tasks of this process have left open. */
  const kept = new Set<string>();
  let isClosing = false;

  /** `close` waits for it. */
  const inBackground = (key: string, action: (stopped: AbortSignal) => Promise<void>): void => {
    const stop = new AbortController();
    const done = action(stop.signal)
      .catch((error: unknown) => logger.error("A task could not be recorded", { key, error }))
      .finally(() => running.delete(key));
    running.set(key, { stop, done, noteAtMs: FIRST_NOTE * claude.config.progressSeconds * 1000 });
  };

  const work = async ({ key }: Task, stopped: AbortSignal): Promise<void> => {
    const task = await change(key, (state) =>
      state.state === "accepted"
        ? { ...state, state: "running", process: currentProcess(), startedAt: clock.now() }
        : undefined,
    );
    if (task === undefined) return;
    faultPoint("task.running");
    let before: ProjectStatus;
    let result: ClaudeCodeResult;
    const { worktree, repoPath } = task.state;
    try {
      // From here on, a running task keeps it.
      if (worktree !== undefined) await worktrees.reopen(worktree, repoPath);
      before = await claude.status(folderOf(task), { github: false, mayShow: visibleTo(task.conversation) });
      result = asLimit(await runClaude(task, renderProjectStatus(before), stopped), stopped);
    } catch (error) {
      await endUnsent(task, error, stopped);
      return;
    }
    if (result.isLive && result.sessionId !== undefined) kept.add(result.sessionId);
    const text = resultText(task, result, await aftermath(task, before.git?.headCommitSha ?? ""));
    const why = result.outcome === "interrupted" && isClosing ? `\n${GATEWAY_STOPPED}` : "";
    await end(task, `${text}${why}`, { outcome: result.outcome, costUsd: result.costUsd });
  };

  /** The runner fails only before it has sent anything, so a task that a gateway did not begin waits for the next. */
  const endUnsent = async (task: Task, error: unknown, stopped: AbortSignal): Promise<void> => {
    const isWaiting = isClosing && (await change(task.key, toWaiting)) !== undefined;
    if (isWaiting) return;
    const text = stopped.aborted ? "was stopped before it began." : `failed: ${describeError(error)}`;
    const outcome = stopped.aborted ? "interrupted" : "failed";
    await end(task, `Task ${task.id} ${text}`, { outcome, costUsd: 0 });
  };

  /** `before`: the HEAD when the task began. A failure here must not hide the result. */
  const aftermath = async (task: Task, before: string): Promise<Aftermath> => {
    try {
      const { git, github } = await claude.status(folderOf(task), { sessions: async () => [] });
      const { commitsSince } = await import("../project/repo-changes.ts");
      const since = new Date(task.state.startedAt ?? 0);
      const commits = git === undefined ? [] : await commitsSince(folderOf(task), { since, before });
      return { commits, failingChecks: github?.failingChecks ?? [], branch: git?.currentBranch };
    } catch (error) {
      logger.warn("The repo of a task could not be read", { key: task.key, error });
      return { commits: [], failingChecks: [] };
    }
  };

  /** The result is stored before it is sent. A process that dies in between leaves it to the next one. */
  const end = async (task: Task, text: string, ended: { outcome: string; costUsd: number }): Promise<void> => {
    const notices = budgetNotices(budgets, await entries.list(), { task, costUsd: ended.costUsd, at: clock.now() });
    const untold = [text, ...notices.map((notice) => notice.text)].join("\n");
    const stored = await change(task.key, ({ question: _asked, ...state }) =>
      state.state === "running" ? { ...state, ...ended, state: "ended", endedAt: clock.now(), untold } : undefined,
    );
    faultPoint("task.ended");
    if (stored !== undefined) await tell(stored);
  };

  const tell = async (task: Task): Promise<void> => {
    const { untold, outcome } = task.state;
    if (untold === undefined) return;
    await messenger.send(task, "result", untold);
    faultPoint("task.told");
    await mirrorDelivery(agent, { sessionKey: task.key, text: untold, turnId: `task:${task.id}` });
    await messenger.endStatus(task, statusText(task, `Ended: ${outcome}.`));
    await change(task.key, ({ untold: _told, process: _own, ...state }) => state);
  };

  /** Rejects only before anything was sent. */
  const runClaude = async (task: Task, status: string, signal: AbortSignal): Promise<ClaudeCodeResult> => {
    const { text, label, model, persistent, resume, worktree } = task.state;
    const { conversation: sessionKey } = task;
    const runner = await claude.runner();
    const onEvent = async (event: RunnerEvent): Promise<void> => await follow(task, event);
    if (resume !== undefined && (await claude.liveRun(resume))?.persistent === true) {
      await change(task.key, (state) => ({ ...state, sessionId: resume }));
      try {
        return await runner.sendFollowUpAndWait(resume, text, { sessionKey, signal, onEvent });
      } catch (error) {
        // The session ended in the meantime, and nothing was sent.
        if (!hasCode(error, "session-not-live")) throw error;
      }
    }
    return await runner.spawnClaudeCode({
      task: text,
      agentId: agent.agentId,
      sessionKey,
      candidates: "own",
      repoPath: folderOf(task),
      label,
      model,
      maxBudgetUsd: await budgetOf(task),
      persistent,
      resume,
      // No session has worked in a new worktree.
      fresh: worktree !== undefined && resume === undefined ? true : undefined,
      begin: async () => await Promise.resolve(status),
      signal,
      onEvent,
      onPermission: async (question, withdrawn) => await questions.ask(task, question, withdrawn),
    });
  };

  /** Undefined: as configured for all runs. */
  const budgetOf = async ({ state: { budgetUsd } }: Task): Promise<number | undefined> => {
    const { maxBudgetUsd } = claude.config;
    const left = remainingBudget(budgets, await entries.list(), clock.now()) ?? Infinity;
    if (budgetUsd === undefined && left >= maxBudgetUsd) return undefined;
    return Math.min(budgetUsd ?? Infinity, left);
  };

  const follow = async (task: Task, event: RunnerEvent): Promise<void> => {
    const line = eventLine(event);
    if (line !== undefined) await show(task, line);
    switch (event.type) {
      case "queued":
        if (messenger.canShow(task)) return;
        await messenger.send(task, "queued", `Task ${task.id} is waiting: ${event.reason}`);
        return;
      case "progress":
        return await noteProgress(task, event.progress.elapsedMs, line ?? "");
      case "cost":
        return await watchCost(task, event.costUsd);
      case "announced":
        // The MCP server has sent it if the conversation has a chat.
        return await messenger.record(task, `announced:${event.id}`, printable(event.text.trim()));
      case "started":
        return event.sessionId === undefined ? undefined : await noteSession(task, event.sessionId);
      case "session-changed":
        await change(task.key, (state) => ({ ...state, sessionId: event.to }));
        return;
      default:
    }
  };

  const show = async (task: Task, line: string): Promise<void> => {
    const mine = running.get(task.key);
    if (mine !== undefined) mine.line = line;
    options.onChange(task.conversation);
    await messenger.showStatus(task, statusText(task, line));
  };

  /** For channels that cannot edit. Each note is twice as late as the one before; an open question needs none. */
  const noteProgress = async (task: Task, elapsedMs: number, line: string): Promise<void> => {
    const mine = running.get(task.key);
    if (mine === undefined || elapsedMs < mine.noteAtMs || messenger.canShow(task)) return;
    mine.noteAtMs = 2 * elapsedMs;
    const now = await entries.get(task.key);
    if (now?.state.question === undefined) await messenger.note(task, `note:${elapsedMs}`, progressNote(task, line));
  };

  /** The cost so far is stored, because other tasks count it. A task that uses up a budget is stopped. */
  const watchCost = async (task: Task, costUsd: number): Promise<void> => {
    const tasks = await entries.list();
    if (!(costUsd > (tasks.find(({ key }) => key === task.key)?.state.costUsd ?? 0))) return;
    await change(task.key, (state) => (state.state === "running" ? { ...state, costUsd } : undefined));
    if (isBudgetUsedUp(budgets, withCost(tasks, task.key, costUsd), clock.now()))
      running.get(task.key)?.stop.abort(BUDGET_USED_UP);
    for (const { name, text } of budgetNotices(budgets, tasks, { task, costUsd, at: clock.now() })) {
      await messenger.send(task, `budget:${name}`, text);
    }
  };

  /** The cost of a session that continues does not belong to this task. */
  const noteSession = async (task: Task, sessionId: string): Promise<void> => {
    const earlierUsd = task.state.resume === undefined ? undefined : await costOf(sessionId);
    await change(task.key, (state) => ({ ...state, sessionId, earlierUsd }));
  };

  /** From the transcript. Undefined: unknown. */
  const costOf = async (sessionId: string): Promise<number | undefined> =>
    await claude.find(sessionId).then(countedCost, () => undefined);

  const lostCost = async ({ state: { sessionId, costUsd = 0, earlierUsd = 0 } }: Task): Promise<number> => {
    const whole = sessionId === undefined ? undefined : await costOf(sessionId);
    return whole === undefined ? costUsd : Math.max(costUsd, whole - earlierUsd);
  };

  return {
    lineOf: (key: string): string | undefined => running.get(key)?.line,

    /** Only one process gets a task from `accepted` to `running`. After `close` the next process runs it. */
    run(accepted: Task): void {
      const { key, state } = accepted;
      if (isClosing || running.has(key) || state.state !== "accepted") return;
      inBackground(key, async (stopped) => await work(accepted, stopped));
    },

    /** Reports what a dead process left. */
    async settleLost(task: Task): Promise<void> {
      if (isClosing || running.has(task.key)) return;
      if (task.state.state === "running") await messenger.withdrawQuestions(task);
      inBackground(task.key, async () => {
        if (task.state.state === "ended") await tell(task);
        else await end(task, lostText(task), { outcome: "lost", costUsd: await lostCost(task) });
      });
    },

    async interrupt({ key, state: { sessionId } }: Task): Promise<void> {
      const mine = running.get(key);
      if (mine !== undefined) return mine.stop.abort();
      if (sessionId === undefined) return;
      // Another gateway of this home runs it.
      const runner = await claude.runner();
      await runner.interruptClaudeCode(sessionId).catch((error: unknown) => {
        logger.warn("A task of another process could not be stopped", { key, error });
      });
    },

    async close(): Promise<void> {
      isClosing = true;
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...running.values()].map(async ({ done }) => await done));
      if (kept.size === 0) return;
      const runner = await claude.runner();
      for (const sessionId of kept) await runner.stopPersistentSession(sessionId);
    },
  };
}

/** In progress reports: 3 minutes by default. */
const FIRST_NOTE = 6;

/** The reason of a stop. */
const BUDGET_USED_UP = Symbol("the budget is used up");

/** Claude Code ends at its own limit, and this process stops it at the budgets of all tasks: whichever is first. */
function asLimit(result: ClaudeCodeResult, { reason }: AbortSignal): ClaudeCodeResult {
  const isStopped = result.outcome === "interrupted" && reason === BUDGET_USED_UP;
  return isStopped ? { ...result, outcome: "limit-budget" } : result;
}

/** Undefined for a task that Claude Code has begun. */
function toWaiting({ process: _own, startedAt: _begun, ...state }: TaskState): TaskState | undefined {
  return state.state === "running" && state.sessionId === undefined ? { ...state, state: "accepted" } : undefined;
}

function describeError(error: unknown): string {
  return printableLine(messageWithHint(error), 500);
}
