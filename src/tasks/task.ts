/**
 * A task is work that a conversation gave to Claude Code. It is a session of its own, `agent:<id>:subagent:cc-<task>`:
 * the entry says who asked (`spawnedBy`), where its messages go (`deliveryContext`) and how far it is (`task`). The
 * transcript keeps the request and the result.
 *
 * - A task is stored before it is acknowledged, and marked as running before Claude Code starts. It never runs twice:
 *   one whose process died has ended, and its conversation gets a message.
 * - Every message of a task has its own key in the outbox, so a repeated step sends nothing twice.
 * - Only people who may command the agent, in the conversation of the task, steer it or answer its questions.
 */
import { nodeCrypto } from "../base/builtin.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import type { TaskOrder } from "../engine/tools/session-tools.ts";
import type { SessionEntry, TaskState } from "../store/entry-schema.ts";
import type { DeliveryTarget } from "../store/queues.ts";

export type { TaskState } from "../store/entry-schema.ts";

export interface Task {
  /** Short enough to type. */
  id: string;
  /** Session key of the task. */
  key: string;
  /** Session key of the conversation that asked. */
  conversation: string;
  target: DeliveryTarget | undefined;
  state: TaskState;
  /** Current activity. Only for tasks of this process. */
  line?: string | undefined;
}

export interface TaskRequest extends TaskOrder {
  /** Where messages of the task go. Undefined: only into the transcripts. */
  target: DeliveryTarget | undefined;
  /** A native session to continue. Default: the selection decides. */
  resume?: string | undefined;
  /** The worktree of the task that this one continues. */
  folder?: string | undefined;
}

/** `always`: for the rest of the task. */
export type Verdict = "allow" | "always" | "deny";

/** The tasks of one agent. */
export interface TaskDesk {
  /** Resolves when the task is stored; Claude Code works in the background. */
  start(request: TaskRequest): Promise<StartedTask>;
  /** Continues the native session of the conversation's newest task, or of the named one. */
  followUp(conversation: string, text: string, options: FollowUpOptions): Promise<StartedTask>;
  /** Interrupts the running tasks of a conversation, or the one with this id. Resolves to them. */
  stop(conversation: string, id?: string): Promise<Task[]>;
  /** Answers an open question. Resolves to a sentence for the person. */
  answer(conversation: string, verdict: Verdict, code?: string): Promise<string>;
  /** The codes of the open questions of a conversation. */
  openQuestions(conversation: string): Promise<string[]>;
  /** Tasks of a conversation, newest first. */
  list(conversation: string): Promise<Task[]>;
  /** The task whose message has this id in this chat. Ids are unique only within a chat. */
  findByMessage(conversation: string, messageId: string, chat: DeliveryTarget): Promise<Task | undefined>;
  /** Native sessions of the allowed repos that the conversation may see, running ones first. */
  sessions(conversation: string, limit: number): Promise<DiscoveredSession[]>;
  /** Starts accepted tasks that never ran, and reports the tasks of dead processes. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

export interface StartedTask {
  task: Task;
  /** Why a session is resumed, or a fresh one started. */
  decision: string;
  /** The state of the repo, for a model. */
  status: string;
  /** The conversation has a message that shows the decision and the progress. */
  isShown: boolean;
}

export interface FollowUpOptions extends Pick<TaskRequest, "origin" | "target"> {
  task?: Task | undefined;
}

/** Where Claude Code works. */
export function folderOf({ state: { worktree, repoPath } }: Task): string {
  return worktree ?? repoPath;
}

const PREFIX = "cc-";
/** Occurs in the keys of tasks. */
export const TASK_KEYS = `subagent:${PREFIX}`;
const ID_LENGTH = 6;
/** Without characters that look alike. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";

/** An id for people: the same origin gives the same id. */
export function taskIdOf(origin: string, length = ID_LENGTH): string {
  const digest = nodeCrypto().createHash("sha256").update(origin).digest();
  return Array.from(digest.subarray(0, length), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** A repeated request has the same id. */
export function idOfRequest({ conversation, origin }: Pick<TaskRequest, "conversation" | "origin">): string {
  return taskIdOf(`${conversation}\n${origin}`);
}

export function taskKey(agentId: string, id: string): string {
  return `agent:${agentId}:${TASK_KEYS}${id}`;
}

/** Undefined for a session that is not a task. */
export function toTask(key: string, entry: SessionEntry | undefined): Task | undefined {
  if (entry?.task === undefined) return undefined;
  const { channel, to, accountId = "default", threadId } = entry.deliveryContext ?? {};
  const isKnown = channel !== undefined && to !== undefined;
  return {
    id: key.slice(key.lastIndexOf(PREFIX) + PREFIX.length),
    key,
    conversation: entry.spawnedBy ?? "",
    target: isKnown ? { channel, to, accountId, threadId, chatType: entry.chatType } : undefined,
    state: entry.task,
  };
}
