/**
 * The list of what is to be done that Claude Code's agent keeps with a tool: `TodoWrite` gives it as a
 * whole, `TaskCreate` and `TaskUpdate` change it. The id of a new task is only in the tool's answer.
 */
import { isRecord } from "../../base/json-record.ts";
import type { ReadMessage, TodoChange, TodoItem } from "../state.ts";
import { headOf } from "./read-transcript.ts";

type Todos = Pick<ReadMessage, "todos" | "todoChanges">;

const MOST_TODOS = 50;
const TODO_LENGTH = 1000;
const ID_LENGTH = 80;

export function todosOfCall(name: string, input: unknown): Todos {
  if (!isRecord(input)) return {};
  if (name === "TodoWrite" && Array.isArray(input["todos"])) {
    return { todos: input["todos"].slice(0, MOST_TODOS).flatMap(readTodo) };
  }
  const { taskId, status, subject } = input;
  if (name !== "TaskUpdate" || typeof taskId !== "string") return {};
  const change: TodoChange = {
    id: headOf(taskId, ID_LENGTH),
    ...(typeof subject === "string" ? { text: headOf(subject, TODO_LENGTH) } : {}),
    ...(status === "deleted" || isStatus(status) ? { status } : {}),
  };
  return { todoChanges: [change] };
}

const CREATED = /^Task #(\S{1,80}) created successfully: (.+)/;

export function todosOfResult(text: string): Todos {
  const [, id, subject] = CREATED.exec(text) ?? [];
  if (id === undefined || subject === undefined) return {};
  return { todoChanges: [{ id, text: headOf(subject, TODO_LENGTH), status: "pending" }] };
}

/** Several calls stand in one message: a whole list, then changes. */
export function joinTodos(parts: readonly Todos[]): Todos {
  const todos = parts.findLast((part) => part.todos !== undefined)?.todos;
  const todoChanges = parts.flatMap((part) => part.todoChanges ?? []);
  return { ...(todos === undefined ? {} : { todos }), ...(todoChanges.length === 0 ? {} : { todoChanges }) };
}

function readTodo(item: unknown): TodoItem[] {
  if (!isRecord(item) || typeof item["content"] !== "string" || !isStatus(item["status"])) return [];
  return [{ text: headOf(item["content"], TODO_LENGTH), status: item["status"] }];
}

function isStatus(value: unknown): value is TodoItem["status"] {
  return value === "pending" || value === "in_progress" || value === "completed";
}
