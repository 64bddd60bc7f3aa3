/** Starts the tasks of one agent, follows them, and tells their conversations. `task.ts` has the contract. */
import type { Clock } from "../base/clock.ts";
import { HoldfastError, messageWithHint } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { Logger } from "../base/log.ts";
import { currentProcess, processState } from "../base/processes.ts";
import { printableLine } from "../base/text.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import { type ProjectStatus, renderProjectStatus } from "../claude/project-status.ts";
import type { ClaudeCodeResult, RunnerEvent } from "../claude/runner/runner-contract.ts";
import { checkTaskLabel } from "../claude/registry/registry.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { openWindow } from "../session/window.ts";
import { mirrorDelivery } from "../session/transcript-changes.ts";
import { allowedRepo, budgetNotice, remainingBudget, requireBudget } from "./limits.ts";
import { createQuestions } from "./questions.ts";
import {
  type FollowUpOptions,
  type StartedTask,
  TASK_KEYS,
  type Task,
  type TaskDesk,
  type TaskRequest,
  taskIdOf,
  taskKey,
  toTask,
} from "./task.ts";
import {
  type Aftermath,
  GATEWAY_STOPPED,
  eventLine,
  lostText,
  resultText,
  statusText,
  taskTitle,
} from "./task-messages.ts";
import { type MessengerOptions, createTaskMessenger } from "./task-messenger.ts";
import type { SessionEntry, TaskState } from "../store/entry-schema.ts";

export interface TaskDeskOptions extends Pick<MessengerOptions, "findChannel" | "draft" | "onChange"> {
  agent: AgentHandle;
  claude: ClaudeSide;
  /** False in a process that ends with its command: it cannot run tasks. */
  canRun: boolean;
  clock: Clock;
  logger: Logger;
}

/** How many tasks of the agent are looked at; older ones are archived like other sessions. */
const LISTED = 500;

export function createTaskDesk(options: TaskDeskOptions): TaskDesk {
  const { agent, claude, clock, logger } = options;
  const { store } = agent;
  /** What this process runs, by task key. */
  const running = new Map<string, { stop: AbortController; done: Promise<void>; line?: string }>();
  /** Persistent sessions that tasks of this process have left open. */
  const kept = new Set<string>();
  let isClosing = false;
  const change = async (key: string, next: (state: TaskState) => TaskState | undefined): Promise<Task | undefined> => {
    let isChanged = false;
    const entry = await store.update(key, (current) => {
      const state = current?.task === undefined ? undefined : next(current.task);
      isChanged = state !== undefined;
      return current === undefined || state === undefined ? undefined : { ...current, task: state };
    });
    const task = isChanged ? toTask(key, entry) : undefined;
    if (task !== undefined) options.onChange(task.conversation);
    return task;
  };
  const messenger = createTaskMessenger({
    ...options,
    onQueued: async ({ key }, ids) => {
      await change(key, (state) => ({ ...state, messages: [...new Set([...(state.messages ?? []), ...ids])] }));
    },
  });
  const { questionMinutes: timeoutMinutes } = claude.config;
  const questions = createQuestions({ clock, messenger, change, timeoutMinutes });

  const listAll = async (): Promise<Task[]> => {
    const fields = ["spawnedBy", "deliveryContext", "chatType", "task"] as const;
    const { sessions } = await store.list({ text: TASK_KEYS, fields, limit: LISTED });
    return sessions.flatMap(({ key, entry }) => {
      const task = toTask(key, entry);
      return task === undefined ? [] : [{ ...task, line: running.get(key)?.line }];
    });
  };
  const list = async (conversation: string): Promise<Task[]> =>
    (await listAll()).filter((task) => task.conversation === conversation);

  const start = async (request: TaskRequest): Promise<StartedTask> => {
    if (!options.canRun) throw needsGateway();
    const { conversation, text, model, budgetUsd, persistent, resume } = request;
    const repoPath = await allowedRepo(request.repo, { agent, repos: claude.config.repos });
    const label = request.label === undefined ? undefined : checkTaskLabel(request.label);
    requireBudget(claude.config.budgets, await listAll(), clock.now());
    const status = await claude.status(repoPath, { mayShow: visibleTo(conversation) });
    const decision = await decide(claude, { ...request, repoPath, label }, status);
    const task = await open(request, {
      state: "accepted",
      text,
      repoPath,
      label,
      model,
      budgetUsd,
      persistent,
      resume,
    });
    faultPoint("task.stored");
    if (task.state.state === "accepted") await messenger.showStatus(task, statusText(task, decision));
    run(task);
    return { task, decision, status: renderProjectStatus(status), isShown: messenger.canShow(task) };
  };

  /** Stores the task, or finds it if the request is repeated. */
  const open = async ({ conversation, origin, target, text }: TaskRequest, state: TaskState): Promise<Task> => {
    const key = taskKey(agent.agentId, taskIdOf(`${conversation}\n${origin}`));
    if ((await store.get(key)) === undefined) {
      const { chatType, ...deliveryContext } = target ?? {};
      const request = { role: "user" as const, content: text, timestamp: clock.now() };
      const begun = {
        previous: undefined,
        reason: "initial" as const,
        entries: [{ type: "message" as const, message: request }],
      };
      // A conversation may begin with a command. Its messages need a transcript too.
      if ((await store.get(conversation)) === undefined) {
        const complete = (entry: SessionEntry): SessionEntry => ({ ...entry, chatType, deliveryContext });
        await openWindow(agent, { key: conversation, ...begun, complete });
      }
      const own = { spawnedBy: conversation, displayName: taskTitle(text), task: state };
      const complete = (entry: SessionEntry): SessionEntry => ({ ...entry, chatType, deliveryContext, ...own });
      await openWindow(agent, { key, ...begun, complete });
    }
    const task = toTask(key, await store.get(key));
    if (task === undefined) throw new Error(`The task ${key} was not stored`);
    return task;
  };

  /** Only one process gets a task from `accepted` to `running`. After `close` the next process runs it. */
  const run = (accepted: Task): void => {
    const { key } = accepted;
    if (isClosing || running.has(key) || accepted.state.state !== "accepted") return;
    inBackground(key, async (stopped) => await work(accepted, stopped));
  };

  /** `close` waits for it. */
  const inBackground = (key: string, action: (stopped: AbortSignal) => Promise<void>): void => {
    const stop = new AbortController();
    const done = action(stop.signal)
      .catch((error: unknown) => logger.error("A task could not be recorded", { key, error }))
      .finally(() => running.delete(key));
    running.set(key, { stop, done });
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
    try {
      before = await claude.status(task.state.repoPath, { github: false, mayShow: visibleTo(task.conversation) });
      result = await runClaude(task, renderProjectStatus(before), stopped);
    } catch (error) {
      await endUnsent(task, error, stopped);
      return;
    }
    if (result.isLive && result.sessionId !== undefined) kept.add(result.sessionId);
    const text = resultText(task, result, await aftermath(task, before.git?.recentCommits ?? []));
    const why = isClosing && result.outcome === "interrupted" ? `\n${GATEWAY_STOPPED}` : "";
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

  /** A failure here must not hide the result. */
  const aftermath = async ({ key, state }: Task, before: readonly { sha: string }[]): Promise<Aftermath> => {
    try {
      const { git, github } = await claude.status(state.repoPath);
      const known = new Set(before.map(({ sha }) => sha));
      const commits = (git?.recentCommits ?? []).filter(({ sha }) => !known.has(sha));
      return { commits, failingChecks: github?.failingChecks ?? [] };
    } catch (error) {
      logger.warn("The repo of a task could not be read", { key, error });
      return { commits: [], failingChecks: [] };
    }
  };

  /** The result is stored before it is sent. A process that dies in between leaves it to the next one. */
  const end = async (task: Task, text: string, ended: { outcome: string; costUsd: number }): Promise<void> => {
    const notice = budgetNotice(claude.config.budgets, await listAll(), { at: clock.now(), costUsd: ended.costUsd });
    const untold = notice === undefined ? text : `${text}\n${notice}`;
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
    const { text, repoPath, label, model, persistent, resume } = task.state;
    const { conversation: sessionKey } = task;
    const runner = await claude.runner();
    const onEvent = async (event: RunnerEvent): Promise<void> => await follow(task, event);
    if (resume !== undefined && (await claude.liveRun(resume))?.persistent === true) {
      await change(task.key, (state) => ({ ...state, sessionId: resume }));
      try {
        return await runner.sendFollowUpAndWait(resume, text, { sessionKey, signal, onEvent });
      } catch (error) {
        // The session ended in the meantime, and nothing was sent.
        if (!(error instanceof HoldfastError) || error.code !== "session-not-live") throw error;
      }
    }
    return await runner.spawnClaudeCode({
      task: text,
      agentId: agent.agentId,
      sessionKey,
      candidates: "own",
      repoPath,
      label,
      model,
      maxBudgetUsd: await budgetOf(task),
      persistent,
      resume,
      begin: async () => await Promise.resolve(status),
      signal,
      onEvent,
      onPermission: async (question, withdrawn) => await questions.ask(task, question, withdrawn),
    });
  };

  /** Undefined: as configured for all runs. */
  const budgetOf = async ({ state: { budgetUsd } }: Task): Promise<number | undefined> => {
    const { budgets, maxBudgetUsd } = claude.config;
    const left = remainingBudget(budgets, await listAll(), clock.now()) ?? Infinity;
    if (budgetUsd === undefined && left >= maxBudgetUsd) return undefined;
    return Math.min(budgetUsd ?? Infinity, left);
  };

  const follow = async (task: Task, event: RunnerEvent): Promise<void> => {
    const line = eventLine(event);
    if (line !== undefined) {
      const mine = running.get(task.key);
      if (mine !== undefined) mine.line = line;
      options.onChange(task.conversation);
      await messenger.showStatus(task, statusText(task, line));
    }
    if (event.type === "queued" && !messenger.canShow(task)) {
      await messenger.send(task, "queued", `Task ${task.id} is waiting: ${event.reason}`);
    }
    const sessionId =
      event.type === "started" ? event.sessionId : event.type === "session-changed" ? event.to : undefined;
    if (sessionId !== undefined) await change(task.key, (state) => ({ ...state, sessionId }));
  };

  const settleLost = async (task: Task): Promise<void> => {
    if (task.state.state === "running") await messenger.withdrawQuestions(task);
    inBackground(task.key, async () => {
      if (task.state.state === "ended") await tell(task);
      else await end(task, lostText(task), { outcome: "lost", costUsd: 0 });
    });
  };

  const interrupt = async ({ key, state: { sessionId } }: Task): Promise<void> => {
    const mine = running.get(key);
    if (mine !== undefined) mine.stop.abort();
    else if (sessionId !== undefined) {
      // Another gateway of this home runs it.
      const runner = await claude.runner();
      await runner.interruptClaudeCode(sessionId).catch((error: unknown) => {
        logger.warn("A task of another process could not be stopped", { key, error });
      });
    }
  };

  return {
    start,
    list,
    findByMessage: async (conversation, messageId) => {
      for (const task of await list(conversation)) {
        if (await messenger.isMessageOf(task, messageId)) return task;
      }
      return undefined;
    },
    followUp: async (conversation, text, { task, ...place }: FollowUpOptions) => {
      const newest = (await list(conversation)).find(({ state }) => state.sessionId !== undefined);
      const continued = task ?? newest;
      if (continued?.state.sessionId === undefined) throw nothingToContinue();
      const { repoPath: repo, label, model, sessionId } = continued.state;
      return await start({ conversation, text, ...place, repo, label, model, resume: sessionId });
    },
    stop: async (conversation, id) => {
      const open = (await list(conversation)).filter(({ state }) => state.state !== "ended");
      const mine = id === undefined ? open : open.filter((task) => task.id === id);
      for (const task of mine) await interrupt(task);
      return mine;
    },
    answer: async (conversation, verdict, code) => await questions.answer(conversation, verdict, code),
    openQuestion: (conversation) => questions.onlyOpen(conversation),
    sessions: async (conversation, limit) => {
      const { sessions } = await claude.discover(agent.workspace, { limit: LISTED });
      return sessions.filter(visibleTo(conversation)).slice(0, limit);
    },
    recover: async () => {
      if (!options.canRun) return;
      for (const task of await listAll()) {
        if (isClosing || running.has(task.key)) continue;
        if (task.state.state === "accepted") run(task);
        else if (isUnsettled(task)) await settleLost(task);
      }
    },
    close: async () => {
      isClosing = true;
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...running.values()].map(async ({ done }) => await done));
      if (kept.size === 0) return;
      const runner = await claude.runner();
      for (const sessionId of kept) await runner.stopPersistentSession(sessionId);
    },
  };
}

/** Work of other conversations is not shown. */
export function visibleTo(conversation: string): (session: DiscoveredSession) => boolean {
  return (session) => session.conversation === undefined || session.conversation === conversation;
}

/** It runs or reports no more, because its process is dead. */
function isUnsettled({ state: { state, untold, process } }: Task): boolean {
  if (state === "ended" && untold === undefined) return false;
  return process === undefined || processState(process) === "dead";
}

/** For the answer to the person; the run decides again when its turn comes. */
async function decide(
  claude: ClaudeSide,
  { text, repoPath, label, resume, conversation }: TaskRequest & { repoPath: string },
  status: Awaited<ReturnType<ClaudeSide["status"]>>,
): Promise<string> {
  if (resume !== undefined) return `It continues session ${resume.slice(0, 8)}.`;
  const { selection } = await claude.select(text, repoPath, {
    label,
    sessionKey: conversation,
    candidates: "own",
    status,
  });
  return selection.reason;
}

/** Undefined for a task that Claude Code has begun. */
function toWaiting({ process: _own, startedAt: _begun, ...state }: TaskState): TaskState | undefined {
  return state.state === "running" && state.sessionId === undefined ? { ...state, state: "accepted" } : undefined;
}

function describeError(error: unknown): string {
  return printableLine(messageWithHint(error), 500);
}

function needsGateway(): HoldfastError {
  return new HoldfastError("unavailable", "task-needs-gateway", "Tasks for Claude Code need the gateway.", {
    hint: "Start it with `holdfast gateway`, and leave out --local.",
  });
}

function nothingToContinue(): HoldfastError {
  return new HoldfastError("not-found", "no-task", "This conversation has no task that could continue.", {
    hint: "/cc run <task> starts one.",
  });
}
