/** /cc gives work to Claude Code from a chat, follows it, and answers its questions. `src/tasks/` does the work. */
import { basename } from "node:path";
import type { StartedTask, Task, TaskDesk } from "../../tasks/task.ts";
import { costText, durationText, taskTitle } from "../../tasks/task-messages.ts";
import { replyTarget } from "../reply/draft-replies.ts";
import { type CommandRequest, type CommandSpec, currentEntry, shown } from "./command.ts";

export const ccCommand: CommandSpec = {
  usage: "/cc [status|run|send|stop|costs]",
  summary: "Claude Code: sessions of the repo, start a task, follow up, stop, costs",
  when: "now",
  run: async (request) => {
    const { tasks } = request.parts;
    if (tasks === undefined) return "Tasks for Claude Code are not available here.";
    const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(request.argument) ?? [];
    const name = word.toLowerCase();
    const run = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (run === undefined) return `/cc does not know "${shown(word, 40)}". ${USAGE}`;
    return await run(await tasks.open(), request, rest.trim());
  },
};

type Action = (desk: TaskDesk, request: CommandRequest, rest: string) => Promise<string>;

const USAGE =
  "It takes status, run [--worktree] [in <repo>:] <task>, send <text>, stop, costs, allow, always, deny or nothing.";

const ACTIONS: Readonly<Record<string, Action>> = {
  "": listSessions,
  status: showTasks,
  run: startTask,
  send: continueTask,
  stop: stopTasks,
  costs: showCosts,
  allow: async (desk, { sessionKey }, code) => await desk.answer(sessionKey, "allow", code),
  always: async (desk, { sessionKey }, code) => await desk.answer(sessionKey, "always", code),
  deny: async (desk, { sessionKey }, code) => await desk.answer(sessionKey, "deny", code),
};

async function startTask(desk: TaskDesk, request: CommandRequest, rest: string): Promise<string> {
  const [, asked, given = ""] = /^(--worktree(?:\s+|$))?([\s\S]*)$/.exec(rest) ?? [];
  const [, repo, text = given] = IN_REPO.exec(given) ?? [];
  if (text === "") return "Say what Claude Code should do: /cc run <task>, or /cc run in <repo>: <task>.";
  const worktree = asked !== undefined;
  return acceptance(await desk.start({ ...(await placeOf(request)), text, repo, worktree }));
}

/** `in shop: …`, also as phones write it. `in 10:30 …` and `in https://…` name no repo. */
const IN_REPO = /^in (\S+?):(?:\s+|(?=\p{L}))([\s\S]+)$/iu;

async function continueTask(desk: TaskDesk, request: CommandRequest, rest: string): Promise<string> {
  const place = await placeOf(request);
  const [, id, following] = /^#(\w+)\s+([\s\S]+)$/.exec(rest) ?? [];
  const text = following ?? rest;
  if (text === "") return "Say what Claude Code should do next: /cc send <text>.";
  const task = (await desk.list(place.conversation)).find((one) => one.id === id);
  if (id !== undefined && task === undefined) return `This conversation has no task ${shown(id, 20)}.`;
  return acceptance(await desk.followUp(place.conversation, text, { ...place, task }));
}

/** Nothing if the conversation has a message about the task already. */
function acceptance({ task, decision, isShown }: StartedTask): string {
  return isShown ? "" : `Task ${task.id} is accepted. ${decision}`;
}

/** A repeated command finds the task that it has started. */
async function placeOf(request: CommandRequest) {
  const { sessionKey: conversation, ctx, turnId = "" } = request;
  return { conversation, target: replyTarget(ctx, await currentEntry(request)), origin: turnId };
}

async function stopTasks(desk: TaskDesk, { sessionKey }: CommandRequest, id: string): Promise<string> {
  const stopped = await desk.stop(sessionKey, id === "" ? undefined : id);
  const none = id === "" ? "No task is running." : `Task ${shown(id, 20)} is not running.`;
  return stopped.length === 0 ? none : `Stopping ${stopped.map(({ id }) => id).join(", ")}.`;
}

const SHOWN = 8;

async function listSessions(desk: TaskDesk, { sessionKey }: CommandRequest): Promise<string> {
  const sessions = await desk.sessions(sessionKey, SHOWN);
  if (sessions.length === 0) return "There are no Claude Code sessions here yet. /cc run <task> starts one.";
  return sessions
    .map(({ sessionId, isRunning, branch, title, firstMessage, repoPath }) => {
      const name = shown(title ?? firstMessage, 60);
      const place = [basename(repoPath), branch].filter((part) => part !== "").map((part) => shown(part, 40));
      return `${isRunning ? "● " : ""}${sessionId.slice(0, 8)} ${name} (${place.join(", ")})`;
    })
    .join("\n");
}

async function showTasks(desk: TaskDesk, request: CommandRequest): Promise<string> {
  const tasks = await desk.list(request.sessionKey);
  if (tasks.length === 0) return "This conversation has no tasks. /cc run <task> starts one.";
  const now = request.parts.agent.clock.now();
  return tasks
    .slice(0, SHOWN)
    .map((task) => `${task.id} ${taskTitle(task.state.text)}: ${describeState(task, now)}`)
    .join("\n");
}

function describeState({ state, line }: Task, now: number): string {
  if (state.question !== undefined) {
    const { tool, detail, code } = state.question;
    return `asks to use ${tool} (${shown(detail, 120)}); /cc allow ${code}`;
  }
  if (state.state !== "ended") return line ?? `${state.state} for ${durationText(now - (state.startedAt ?? now))}`;
  const cost = costText(state.costUsd ?? 0);
  return [state.outcome ?? "ended", ...(cost === undefined ? [] : [cost])].join(", ");
}

async function showCosts(desk: TaskDesk, { sessionKey }: CommandRequest): Promise<string> {
  const costs = (await desk.list(sessionKey)).map(({ state }) => state.costUsd ?? 0);
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return `${costs.length === 1 ? "1 task" : `${costs.length} tasks`} of this conversation: ${costText(total) ?? "$0.00"}.`;
}
