/** Starts the tasks of one agent, follows them, and tells their conversations. `task.ts` has the contract. */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { currentProcess, processState } from "../base/processes.ts";
import { printableLine } from "../base/text.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import { renderProjectStatus } from "../claude/project-status.ts";
import type { ClaudeCodeResult, RunnerEvent } from "../claude/runner/runner-contract.ts";
import { checkTaskLabel } from "../claude/registry/registry.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { openWindow } from "../session/window.ts";
import { mirrorDelivery } from "../session/transcript-changes.ts";
import { allowedRepo, budgetNotice, requireBudget } from "./limits.ts";
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
import { lostText, progressLine, resultText, statusText, stopButton, taskTitle } from "./task-messages.ts";
import { type MessengerOptions, createTaskMessenger } from "./task-messenger.ts";
import type { TaskState } from "../store/entry-schema.ts";

export interface TaskDeskOptions extends Pick<MessengerOptions, "findChannel" | "draft"> {
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
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  const change = async (key: string, next: (state: TaskState) => TaskState | undefined): Promise<Task | undefined> => {
    let isChanged = false;
    const entry = await store.update(key, (current) => {
      const state = current?.task === undefined ? undefined : next(current.task);
      isChanged = state !== undefined;
      return current === undefined || state === undefined ? undefined : { ...current, task: state };
    });
    return isChanged ? toTask(key, entry) : undefined;
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
    return sessions.flatMap(({ key, entry }) => toTask(key, entry) ?? []);
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
    await messenger.showStatus(task, statusText(task, decision), [stopButton(task)]);
    run(task);
    return { task, decision, status: renderProjectStatus(status), isShown: messenger.canShow(task) };
  };

  /** Stores the task, or finds it if the request is repeated. */
  const open = async ({ conversation, origin, target, text }: TaskRequest, state: TaskState): Promise<Task> => {
    const key = taskKey(agent.agentId, taskIdOf(`${conversation}\n${origin}`));
    if ((await store.get(key)) === undefined) {
      const { chatType, ...deliveryContext } = target ?? {};
      const request = { role: "user" as const, content: text, timestamp: clock.now() };
      await openWindow(agent, {
        key,
        previous: undefined,
        reason: "initial",
        entries: [{ type: "message", message: request }],
        complete: (entry) => ({
          ...entry,
          spawnedBy: conversation,
          displayName: taskTitle(text),
          chatType,
          deliveryContext,
          task: state,
        }),
      });
    }
    const task = toTask(key, await store.get(key));
    if (task === undefined) throw new Error(`The task ${key} was not stored`);
    return task;
  };

  /** Only one process gets a task from `accepted` to `running`. */
  const run = (accepted: Task): void => {
    const { key } = accepted;
    if (running.has(key) || accepted.state.state !== "accepted") return;
    const stop = new AbortController();
    const done = work(accepted, stop)
      .catch((error: unknown) => logger.error("A task could not be recorded", { key, error }))
      .finally(() => running.delete(key));
    running.set(key, { stop, done });
  };

  const work = async ({ key }: Task, stop: AbortController): Promise<void> => {
    const task = await change(key, (state) =>
      state.state === "accepted"
        ? { ...state, state: "running", process: currentProcess(), startedAt: clock.now() }
        : undefined,
    );
    if (task === undefined) return;
    const before = await claude.status(task.state.repoPath, { github: false });
    const result = await runClaude(task, renderProjectStatus(before), stop.signal);
    if (result instanceof Error) {
      await end(task, `Task ${task.id} failed: ${describeError(result)}`, { outcome: "failed", costUsd: 0 });
      return;
    }
    const text = resultText(task, result, await aftermath(claude, task, before.git?.recentCommits ?? []));
    await end(task, text, { outcome: result.outcome, costUsd: result.costUsd });
  };

  /** The result is in the outbox before the task has ended, so a crash in between repeats the same message. */
  const end = async (task: Task, text: string, ended: { outcome: string; costUsd: number }): Promise<void> => {
    const notice = budgetNotice(claude.config.budgets, await listAll(), { at: clock.now(), costUsd: ended.costUsd });
    await messenger.send(task, "result", notice === undefined ? text : `${text}\n${notice}`);
    await mirrorDelivery(agent, { sessionKey: task.key, text, turnId: `task:${task.id}` });
    await messenger.showStatus(task, statusText(task, `Ended: ${ended.outcome}.`));
    await change(task.key, ({ question: _asked, process: _own, ...state }) =>
      state.state === "running" ? { ...state, state: "ended", ...ended, endedAt: clock.now() } : undefined,
    );
  };

  const runClaude = async (task: Task, status: string, signal: AbortSignal): Promise<ClaudeCodeResult | Error> => {
    const { text, repoPath, label, model, budgetUsd, persistent, resume } = task.state;
    try {
      const runner = await claude.runner();
      return await runner.spawnClaudeCode({
        task: text,
        agentId: agent.agentId,
        sessionKey: task.conversation,
        candidates: "own",
        repoPath,
        label,
        model,
        maxBudgetUsd: budgetUsd,
        persistent,
        resume,
        systemPrompt: status,
        signal,
        onEvent: async (event) => await follow(task, event),
        onPermission: async (question, withdrawn) => await questions.ask(task, question, withdrawn),
      });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };

  const follow = async (task: Task, event: RunnerEvent): Promise<void> => {
    const line = eventLine(event);
    if (line !== undefined) await messenger.showStatus(task, statusText(task, line), [stopButton(task)]);
    const sessionId =
      event.type === "started" ? event.sessionId : event.type === "session-changed" ? event.to : undefined;
    if (sessionId !== undefined) await change(task.key, (state) => ({ ...state, sessionId }));
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
    stop: async (conversation) => {
      const mine = (await list(conversation)).filter(({ state }) => state.state !== "ended");
      for (const { key } of mine) running.get(key)?.stop.abort();
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
        if (task.state.state === "accepted") run(task);
        if (task.state.state === "running" && isLost(task))
          await end(task, lostText(task), { outcome: "lost", costUsd: 0 });
      }
    },
    close: async () => {
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...running.values()].map(async ({ done }) => await done));
    },
  };
}

/** Work of other conversations is not shown. */
export function visibleTo(conversation: string): (session: DiscoveredSession) => boolean {
  return (session) => session.conversation === undefined || session.conversation === conversation;
}

function isLost({ state }: Task): boolean {
  return state.process === undefined || processState(state.process) === "dead";
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

async function aftermath(claude: ClaudeSide, { state }: Task, before: readonly { sha: string }[]) {
  const { git, github } = await claude.status(state.repoPath);
  const known = new Set(before.map(({ sha }) => sha));
  return {
    commits: (git?.recentCommits ?? []).filter(({ sha }) => !known.has(sha)),
    failingChecks: github?.failingChecks ?? [],
  };
}

function eventLine(event: RunnerEvent): string | undefined {
  switch (event.type) {
    case "queued":
      return `Waiting: ${event.reason}`;
    case "selected":
      return event.selection.reason;
    case "progress":
      return progressLine(event.progress);
    default:
      return undefined;
  }
}

function describeError(error: Error): string {
  const hint = error instanceof HoldfastError ? error.hint : undefined;
  return printableLine(hint === undefined ? error.message : `${error.message} ${hint}`, 500);
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
