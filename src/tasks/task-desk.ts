/** Takes the tasks of one agent, and answers questions about them. `task.ts` has the contract. */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { isInside } from "../base/files.ts";
import type { Logger } from "../base/log.ts";
import { processState } from "../base/processes.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import { type DiscoveredSession, visibleTo } from "../claude/discovered-session.ts";
import { renderProjectStatus } from "../claude/project-status.ts";
import { checkTaskLabel } from "../claude/registry/registry.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { allowedRepo, allowedRepos, requireBudget } from "./limits.ts";
import { createQuestions } from "./questions.ts";
import {
  type FollowUpOptions,
  type StartedTask,
  type Task,
  type TaskDesk,
  type TaskRequest,
  idOfRequest,
} from "./task.ts";
import { createTaskEntries } from "./task-entries.ts";
import { branchOf, statusText } from "./task-messages.ts";
import { type MessengerOptions, createTaskMessenger } from "./task-messenger.ts";
import { createTaskRuns } from "./task-runs.ts";
import { createTaskWorktrees } from "./task-worktrees.ts";

export interface TaskDeskOptions extends Pick<MessengerOptions, "findChannel" | "draft" | "onChange"> {
  agent: AgentHandle;
  claude: ClaudeSide;
  /** False in a process that ends with its command: it cannot run tasks. */
  canRun: boolean;
  clock: Clock;
  logger: Logger;
}

export function createTaskDesk(options: TaskDeskOptions): TaskDesk {
  const { agent, claude, clock, logger, canRun } = options;
  const entries = createTaskEntries(agent, (conversation) => options.onChange(conversation));
  const messenger = createTaskMessenger({
    ...options,
    onQueued: async ({ key }, ids) => {
      await entries.change(key, (state) => ({ ...state, messages: [...new Set([...(state.messages ?? []), ...ids])] }));
    },
  });
  const { questionMinutes: timeoutMinutes } = claude.config;
  const questions = createQuestions({ clock, messenger, entries, store: agent.store, timeoutMinutes });
  const worktrees = createTaskWorktrees({ ...options, entries });
  const runs = createTaskRuns({ ...options, entries, messenger, questions, worktrees });
  let sweptAt = -Infinity;
  let sweeping = Promise.resolve();

  const sweep = (): void => {
    if (clock.now() - sweptAt < SWEEP_MS) return;
    sweptAt = clock.now();
    sweeping = worktrees.removeMerged().catch((error: unknown) => {
      logger.warn("Worktrees of tasks could not be removed", { error });
    });
  };

  const list = async (conversation: string): Promise<Task[]> =>
    (await entries.list(conversation)).map((task) => ({ ...task, line: runs.lineOf(task.key) }));

  const start = async (request: TaskRequest): Promise<StartedTask> => {
    if (!canRun) throw needsGateway();
    const { conversation, text, model, budgetUsd, persistent, resume } = request;
    const repoPath = await allowedRepo(request.repo, { agent, repos: claude.config.repos });
    const label = request.label === undefined ? undefined : checkTaskLabel(request.label);
    requireBudget(claude.config.budgets, await entries.list(), clock.now());
    const worktree = await openWorktree(request, repoPath);
    const status = await claude.status(worktree ?? repoPath, { mayShow: visibleTo(conversation) });
    const decision = await decide({ ...request, repoPath, label }, status);
    const task = await entries.open(request, {
      state: "accepted",
      text,
      repoPath,
      worktree,
      label,
      model,
      budgetUsd,
      persistent,
      resume,
    });
    faultPoint("task.stored");
    if (task.state.state === "accepted") await messenger.showStatus(task, statusText(task, decision));
    runs.run(task);
    return { task, decision, status: renderProjectStatus(status), isShown: messenger.canShow(task) };
  };

  const openWorktree = async (request: TaskRequest, repoPath: string): Promise<string | undefined> => {
    if (request.worktree === true) return await worktrees.add(idOfRequest(request), repoPath);
    return request.folder === undefined ? undefined : await worktrees.reopen(request.folder, repoPath);
  };

  /** For the answer to the person; the run decides again when its turn comes. */
  const decide = async (
    { text, repoPath, label, resume, conversation, ...request }: TaskRequest & { repoPath: string },
    status: Awaited<ReturnType<ClaudeSide["status"]>>,
  ): Promise<string> => {
    if (resume !== undefined) return `It continues session ${resume.slice(0, 8)}.`;
    if (request.worktree === true) {
      return `It works in a new worktree, on branch ${branchOf(idOfRequest({ conversation, ...request }))}.`;
    }
    // A label may belong to another conversation, whose sessions the status does not show.
    const known = label === undefined ? status : undefined;
    const choice = { label, sessionKey: conversation, candidates: "own" as const, status: known };
    return (await claude.select(text, repoPath, choice)).selection.reason;
  };

  return {
    start,
    list,
    findByMessage: async (conversation, messageId, chat) => {
      for (let waited = 0; ; waited += SENDING_POLL_MS) {
        let isSending = false;
        for (const task of await list(conversation)) {
          const isFound = await messenger.isMessageOf(task, messageId, chat);
          if (isFound === true) return task;
          isSending ||= isFound === "soon";
        }
        if (!isSending || waited >= SENDING_MS) return undefined;
        await clock.sleep(SENDING_POLL_MS);
      }
    },
    followUp: async (conversation, text, { task, ...place }: FollowUpOptions) => {
      const newest = (await list(conversation)).find(({ state }) => state.sessionId !== undefined);
      const continued = task ?? newest;
      if (continued?.state.sessionId === undefined) throw nothingToContinue();
      const { repoPath: repo, worktree: folder, label, model, sessionId } = continued.state;
      return await start({ conversation, text, ...place, repo, folder, label, model, resume: sessionId });
    },
    stop: async (conversation, id) => {
      const open = (await list(conversation)).filter(({ state }) => state.state !== "ended");
      const mine = id === undefined ? open : open.filter((task) => task.id === id);
      for (const task of mine) await runs.interrupt(task);
      return mine;
    },
    answer: async (conversation, verdict, code) => await questions.answer(conversation, verdict, code),
    openQuestions: async (conversation) => await questions.codes(conversation),
    sessions: async (conversation, limit) => {
      const repos = await allowedRepos(agent, claude.config.repos);
      const { sessions } = await claude.discover(undefined, { limit: DISCOVERED });
      const isAllowed = ({ repoPath, cwds }: DiscoveredSession): boolean =>
        [repoPath, ...cwds].some((path) => repos.some((repo) => isInside(repo, path)));
      return sessions.filter(visibleTo(conversation)).filter(isAllowed).slice(0, limit);
    },
    recover: async () => {
      if (!canRun) return;
      for (const task of await entries.list()) {
        if (task.state.state === "accepted") runs.run(task);
        else if (isUnsettled(task)) await runs.settleLost(task);
      }
      sweep();
    },
    close: async () => {
      await runs.close();
      await sweeping;
    },
  };
}

const DISCOVERED = 500;
/** A person may reply before the platform has told us the id of the message. */
const SENDING_MS = 2000;
const SENDING_POLL_MS = 100;
/** How often worktrees are looked at, from the start of the gateway. */
const SWEEP_MS = 60 * 60 * 1000;

/** It runs or reports no more, because its process is dead. */
function isUnsettled({ state: { state, untold, process } }: Task): boolean {
  if (state === "ended" && untold === undefined) return false;
  return process === undefined || processState(process) === "dead";
}

function needsGateway(): HoldfastError {
  return new HoldfastError("unsupported", "task-needs-gateway", "Tasks for Claude Code need the gateway.", {
    hint: "Leave out --local.",
  });
}

function nothingToContinue(): HoldfastError {
  return new HoldfastError("not-found", "no-task", "This conversation has no task that could continue.", {
    hint: "/cc run <task> starts one.",
  });
}
