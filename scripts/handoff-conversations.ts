/** Labelled conversations: their format, and how one becomes a transcript that a capture can read. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nothingCarried, takeMessage } from "../src/handoff/digest.ts";
import { scoreMessage } from "../src/handoff/patterns/detect-patterns.ts";
import type { Section } from "../src/handoff/patterns/note.ts";
import { readNative } from "../src/handoff/read/read-native.ts";
import { readSession } from "../src/handoff/read/read-session.ts";
import type { CarriedState, Said } from "../src/handoff/state.ts";

export interface Conversation {
  id: string;
  kind: "coding" | "chat" | "tricky";
  language: string;
  messages: ConversationMessage[];
  /** Left out: the section is not labelled. */
  expected: Partial<Record<Label, ExpectedLine[]>>;
  /** Parts of lines that must never appear. */
  forbidden: string[];
}

export interface ConversationMessage {
  role: "user" | "assistant";
  text: string;
  /** In the order they ran, before the text. */
  tools?: { name: string; input: Record<string, unknown>; result?: string; isError?: boolean }[];
}

export interface ExpectedLine {
  text: string;
  /** A right line contains all of them, case-insensitively; `|` separates alternatives. */
  keys: string[];
  /** Acceptable, not required. */
  optional?: boolean;
}

/** The labels of each section. */
export const LABELS = {
  "in-progress": "inProgress",
  blocker: "blockers",
  decision: "decisions",
  accomplishment: "done",
  "next-step": "nextStep",
} as const satisfies Record<Section, string>;

export type Label = (typeof LABELS)[Section];

export async function readConversations(file: string | URL): Promise<Conversation[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => JSON.parse(line) as Conversation);
}

export function isMatch(text: string, { keys }: Pick<ExpectedLine, "keys">): boolean {
  const lower = text.toLowerCase();
  return keys.every((key) => key.split("|").some((part) => lower.includes(part.toLowerCase())));
}

const FIRST_AT = Date.UTC(2026, 9, 1, 9);
const INTERRUPTED = "[Request interrupted";

/** As Claude Code writes it when tools were used, else as Holdfast does. */
export async function writeTranscript(conversation: Conversation, path: string): Promise<"native" | "session"> {
  const isNative = conversation.kind === "coding" || conversation.messages.some(({ tools = [] }) => tools.length > 0);
  const lines = isNative ? nativeLines(conversation) : sessionLines(conversation);
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return isNative ? "native" : "session";
}

function nativeLines({ id, messages }: Conversation): unknown[] {
  let count = 0;
  const line = (type: "user" | "assistant", content: unknown): unknown => {
    count += 1;
    return {
      type,
      uuid: `${id}-${count}`,
      timestamp: at(count),
      sessionId: id,
      cwd: "/work/project",
      gitBranch: "main",
      isSidechain: false,
      message: { role: type, content },
    };
  };
  return messages.flatMap(({ role, text, tools = [] }) => {
    if (role === "user") return [line("user", text.startsWith(INTERRUPTED) ? [{ type: "text", text }] : text)];
    const used = tools.flatMap(({ name, input, result = "", isError = false }) => {
      const callId = `call-${count}`;
      return [
        line("assistant", [{ type: "tool_use", id: callId, name, input }]),
        line("user", [{ type: "tool_result", tool_use_id: callId, content: result, is_error: isError }]),
      ];
    });
    return [...used, ...(text === "" ? [] : [line("assistant", [{ type: "text", text }])])];
  });
}

function at(index: number): string {
  return new Date(FIRST_AT + index * 30_000).toISOString();
}

function sessionLines({ id, messages }: Conversation): unknown[] {
  const header = { type: "session", version: 3, id, timestamp: at(0), cwd: "/work/project" };
  const entries = messages.map(({ role, text }, index) => ({
    type: "message",
    id: `e${index + 1}`,
    parentId: index === 0 ? null : `e${index}`,
    timestamp: at(index + 1),
    message: { role, content: [{ type: "text", text }], timestamp: Date.parse(at(index + 1)) },
  }));
  return [header, ...entries];
}

/** A conversation as a capture remembers it, by way of a transcript in the folder. */
export async function digestConversation(conversation: Conversation, folder: string): Promise<CarriedState> {
  return (await digestWithFeatures(conversation, folder)).carried;
}

/** By sentence: the features of its words. */
export type SentenceFeatures = ReadonlyMap<Said, readonly string[]>;

export async function digestWithFeatures(
  conversation: Conversation,
  folder: string,
): Promise<{ carried: CarriedState; features: SentenceFeatures }> {
  const path = join(folder, `${conversation.id}.jsonl`);
  const kind = await writeTranscript(conversation, path);
  const reading = kind === "native" ? await readNative(path, { offset: 0 }) : await readSession(path, { offset: 0 });
  const carried = nothingCarried();
  const features = new Map<Said, readonly string[]>();
  for (const [index, message] of (reading?.messages ?? []).entries()) {
    const scored = takeMessage(carried, message, { index: index + 1, project: PROJECT }, scoreMessage);
    const digest = carried.digests.at(-1);
    if (digest?.entryId !== message.entryId) continue;
    for (const said of digest.said) features.set(said, scored[said.at]?.features ?? []);
  }
  return { carried, features };
}

export const PROJECT = "project";
