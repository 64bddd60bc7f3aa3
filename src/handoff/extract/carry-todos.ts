/** The agent's own list of what is to be done, carried from message to message: given anew, or changed item by item. */
import { redactText } from "../../base/redact.ts";
import { excerpt } from "../patterns/content.ts";
import type { CarriedState, ReadMessage, TodoChange, TodoItem } from "../state.ts";
import type { ToLine } from "./carry.ts";

const MOST_TODOS = 50;

export function takeTodos(carried: CarriedState, message: ReadMessage, line: ToLine): void {
  const { todos, todoChanges } = message;
  if (todos === undefined && todoChanges === undefined) return;
  const before = todos === undefined ? (carried.todos?.items ?? []) : todos.map(cleanTodo);
  const items = (todoChanges ?? []).reduce(changeTodo, before).slice(-MOST_TODOS);
  const { entryId, timestamp, project } = line("");
  carried.todos = { items, entryId, timestamp, project };
}

function changeTodo(items: TodoItem[], { id, text, status }: TodoChange): TodoItem[] {
  const known = items.find((item) => item.id === id);
  if (status === "deleted") return items.filter((item) => item !== known);
  const next = { text: known?.text ?? "", status: known?.status ?? "pending", ...withoutAbsent({ text, status }), id };
  if (known !== undefined) return items.map((item) => (item === known ? cleanTodo(next) : item));
  return next.text === "" ? items : [...items, cleanTodo(next)];
}

function withoutAbsent({
  text,
  status,
}: {
  text: string | undefined;
  status: TodoItem["status"] | undefined;
}): Partial<TodoItem> {
  return { ...(text === undefined ? {} : { text }), ...(status === undefined ? {} : { status }) };
}

function cleanTodo(item: TodoItem): TodoItem {
  const id = item.id === undefined ? {} : { id: redactText(item.id) };
  return { ...item, ...id, text: excerpt(redactText(item.text)) };
}
