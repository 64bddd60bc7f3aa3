/** The entries of tasks in the agent's store. `task.ts` describes them. */
import { openWindow } from "../session/window.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/entry-schema.ts";
import { TASK_KEYS, type Task, type TaskRequest, type TaskState, idOfRequest, taskKey, toTask } from "./task.ts";
import { taskTitle } from "./task-messages.ts";

export type TaskEntries = ReturnType<typeof createTaskEntries>;

/** How many tasks of the agent are looked at; older ones are archived like other sessions. */
const LISTED = 500;

export function createTaskEntries(agent: AgentHandle, onChange: (conversation: string) => void) {
  const { store } = agent;

  const openFirst = async (
    key: string,
    { text, origin }: TaskRequest,
    complete: (entry: SessionEntry) => SessionEntry,
  ) => {
    const message = { role: "user" as const, content: text, timestamp: agent.clock.now() };
    // The turn that asked: clients that show its message do not show it twice.
    const entries = [{ type: "message" as const, message, turnId: origin }];
    await openWindow(agent, { key, previous: undefined, reason: "initial", entries, complete });
  };

  const get = async (key: string): Promise<Task | undefined> => toTask(key, await store.get(key));

  /** Newest first. */
  const list = async (conversation?: string): Promise<Task[]> => {
    const fields = ["spawnedBy", "deliveryContext", "chatType", "task"] as const;
    const { sessions } = await store.list({ text: TASK_KEYS, fields, limit: LISTED });
    const tasks = sessions.flatMap(({ key, entry }) => toTask(key, entry) ?? []);
    return conversation === undefined ? tasks : tasks.filter((task) => task.conversation === conversation);
  };

  /** Stores the task, or finds it if the request is repeated. */
  const open = async (request: TaskRequest, state: TaskState): Promise<Task> => {
    const { conversation, target } = request;
    const key = taskKey(agent.agentId, idOfRequest(request));
    if ((await store.get(key)) === undefined) {
      const { chatType, ...deliveryContext } = target ?? {};
      const route = { chatType, deliveryContext };
      // A conversation may begin with a command. Its messages need a transcript too.
      if ((await store.get(conversation)) === undefined) {
        await openFirst(conversation, request, (entry) => ({ ...entry, ...route }));
      }
      const own = { spawnedBy: conversation, displayName: taskTitle(request.text), task: state };
      await openFirst(key, request, (entry) => ({ ...entry, ...route, ...own }));
    }
    const task = await get(key);
    if (task === undefined) throw new Error(`The task ${key} was not stored`);
    return task;
  };

  /** Undefined if `next` changes nothing. */
  const change = async (key: string, next: (state: TaskState) => TaskState | undefined): Promise<Task | undefined> => {
    let isChanged = false;
    const entry = await store.update(key, (current) => {
      const state = current?.task === undefined ? undefined : next(current.task);
      isChanged = state !== undefined;
      return current === undefined || state === undefined ? undefined : { ...current, task: state };
    });
    const task = isChanged ? toTask(key, entry) : undefined;
    if (task !== undefined) onChange(task.conversation);
    return task;
  };

  return { get, list, open, change };
}
