/**
 * Facts from tool calls and their results, without reading sentences: commands and whether they failed, written files,
 * commits, pull requests, refused calls, and the to-do list of Claude Code's agent.
 */
import { isRecord } from "../../base/json-record.ts";
import { redactText } from "../../base/redact.ts";
import { printableLine } from "../../base/text.ts";
import type { ReadMessage, TodoChange, TodoItem, ToolCall, ToolResult } from "../state.ts";
import { headOf } from "./read-transcript.ts";

const COMMAND_LENGTH = 120;
const PATH_LENGTH = 300;
const SUBJECT_LENGTH = 120;
const ID_LENGTH = 80;
/** Characters of a tool's output that are searched for commits and pull requests. */
const OUTPUT_LENGTH = 4_000;

/** What an agent's message says about its tool calls. */
type CallFacts = Pick<ReadMessage, "callsTools" | "calls" | "todos" | "todoChanges">;

export interface RawCall {
  id: unknown;
  name: unknown;
  input: unknown;
}

export function callFacts(calls: readonly RawCall[], isToolTurn: boolean): CallFacts {
  return {
    callsTools: calls.length > 0 || isToolTurn ? true : undefined,
    calls: calls.length === 0 ? undefined : calls.flatMap(callOf),
    ...joinTodos(calls.map(todosOfCall)),
  };
}

const WRITES = /^(?:edit|multi_?edit|write|write_?file|edit_?file|create_?file|apply_?patch|notebook_?edit)$/i;

const LOOKS = /^(?:read|view|grep|glob|ls|list|search|find|get|fetch|web|todo|task|ask|bash_?output|exit_?plan)/i;

function callOf({ id, name, input }: RawCall): ToolCall[] {
  if (typeof id !== "string" || typeof name !== "string") return [];
  const call: ToolCall = { id: id.slice(0, ID_LENGTH) };
  if (isRecord(input)) {
    const { command } = input;
    const path = input["file_path"] ?? input["notebook_path"] ?? input["path"];
    if (typeof command === "string") call.command = shortCommand(command);
    if (WRITES.test(name) && typeof path === "string") call.file = printableLine(path, PATH_LENGTH);
  }
  // Of other tools the name is enough to say what failed. That a search finds nothing is no failure.
  if (call.command === undefined && call.file === undefined) {
    if (LOOKS.test(name)) return [];
    call.command = printableLine(name, COMMAND_LENGTH);
  }
  return [call];
}

function shortCommand(command: string): string {
  return printableLine(redactText(command.slice(0, 8 * COMMAND_LENGTH)), COMMAND_LENGTH);
}

/** Claude Code's words for a call that a person refused or stopped. */
const DENIED =
  /^(?:The user doesn't want to (?:proceed|take this action)|\[Request interrupted|Permission to use .{1,80} has been denied)/;
const COMMIT = /^\[([^\s\]]{1,120})(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.{1,300})$/m;
const PULL_REQUEST = /https:\/\/[\w.-]{1,100}\/[\w.-]{1,100}\/[\w.-]{1,100}\/(?:pull|-\/merge_requests)\/\d{1,9}/;
/** A test runner that is piped into another program ends without an error code. */
const FAILED_TESTS =
  /(?:^|[\s,(:])[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?)\b|^(?:FAIL|FAILED|BUILD FAILED)\b/m;

export function resultOf(id: unknown, text: string, isError: boolean): ToolResult[] {
  if (typeof id !== "string") return [];
  const output =
    text.length <= OUTPUT_LENGTH ? text : `${text.slice(0, OUTPUT_LENGTH / 2)}\n${text.slice(-OUTPUT_LENGTH / 2)}`;
  const result: ToolResult = { id: id.slice(0, ID_LENGTH) };
  if (isError || FAILED_TESTS.test(output)) result.isError = true;
  if (isError && DENIED.test(text)) result.isDenied = true;
  const [, branch = "", hash, subject = ""] = COMMIT.exec(output) ?? [];
  if (hash !== undefined) {
    const line = printableLine(redactText(subject), SUBJECT_LENGTH);
    result.commit = { hash: hash.slice(0, 8), branch, subject: line };
  }
  const pullRequest = PULL_REQUEST.exec(output)?.[0];
  if (pullRequest !== undefined) result.pullRequest = pullRequest;
  return [result];
}

type Todos = Pick<ReadMessage, "todos" | "todoChanges">;

const MAX_TODOS = 50;
const TODO_LENGTH = 1000;

/** `TodoWrite` has the whole list; `TaskUpdate` changes one item. */
function todosOfCall({ name, input }: RawCall): Todos {
  if (!isRecord(input)) return {};
  if (name === "TodoWrite" && Array.isArray(input["todos"])) {
    return { todos: input["todos"].slice(0, MAX_TODOS).flatMap(readTodo) };
  }
  const { taskId, status, subject } = input;
  if (name !== "TaskUpdate" || typeof taskId !== "string") return {};
  const change: TodoChange = { id: headOf(taskId, ID_LENGTH) };
  if (typeof subject === "string") change.text = headOf(subject, TODO_LENGTH);
  if (status === "deleted" || isStatus(status)) change.status = status;
  return { todoChanges: [change] };
}

const CREATED = /^Task #(\S{1,80}) created successfully: (.+)/;

/** The id of a new task is only in the result of `TaskCreate`. */
export function todosOfResult(text: string): Todos {
  const [, id, subject] = CREATED.exec(text) ?? [];
  if (id === undefined || subject === undefined) return {};
  return { todoChanges: [{ id, text: headOf(subject, TODO_LENGTH), status: "pending" }] };
}

/** A message may have several calls: the whole list first, then changes. */
export function joinTodos(parts: readonly Todos[]): Todos {
  const todoChanges = parts.flatMap((part) => part.todoChanges ?? []);
  return {
    todos: parts.findLast((part) => part.todos !== undefined)?.todos,
    todoChanges: todoChanges.length === 0 ? undefined : todoChanges,
  };
}

function readTodo(item: unknown): TodoItem[] {
  if (!isRecord(item) || typeof item["content"] !== "string" || !isStatus(item["status"])) return [];
  return [{ text: headOf(item["content"], TODO_LENGTH), status: item["status"] }];
}

function isStatus(value: unknown): value is TodoItem["status"] {
  return value === "pending" || value === "in_progress" || value === "completed";
}
