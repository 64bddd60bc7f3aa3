/** Transcripts of Claude Code, written line by line, and an index over them. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createNativeIndex } from "../../src/claude/index/create-native-index.ts";
import type { NativeIndex } from "../../src/claude/index/native-index.ts";
import { temporaryFolder } from "./temp-folder.ts";

/** A folder for Claude Code's files and an index over them. */
export async function openIndexHome(threads = 0) {
  const folder = await temporaryFolder();
  const claudeHome = folder.join("claude");
  const path = folder.join("cache", "index.sqlite");
  let index: NativeIndex = createNativeIndex({ path, claudeHome, threads });
  return {
    folder,
    claudeHome,
    path,
    index: () => index,
    reopen: () => {
      index.close();
      index = createNativeIndex({ path, claudeHome, threads });
    },
    transcript: (name: string, project = "-repo") => join(claudeHome, "projects", project, name),
    [Symbol.asyncDispose]: async () => {
      index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export async function writeLines(path: string, ...lines: object[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, toText(...lines));
}

export const toText = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
/** Of the n-th session; `file` is its transcript. */
export const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
export const file = (number: number) => `${id(number)}.jsonl`;
const START = Date.parse("2026-11-15T12:00:00.000Z");
/** Of a line, by the second. */
export const time = (second: number) => new Date(START + second * 1000).toISOString();
export const prompt = (said: string, second = 0, more: object = {}) => ({
  type: "user",
  uuid: `u-${said}`,
  timestamp: time(second),
  cwd: "/repo",
  message: { role: "user", content: said },
  ...more,
});
export const answer = (message: string, output: number, second = 1) => ({
  type: "assistant",
  uuid: `a-${message}-${second}`,
  timestamp: time(second),
  cwd: "/repo",
  message: {
    id: message,
    model: "claude-opus-4-5-20251101",
    content: [],
    usage: { input_tokens: 10, output_tokens: output },
  },
});

/** A conversation of three lines, as every fork of it begins. */
export const THREE_LINES = [prompt("one"), answer("m1", 5, 1), answer("m2", 5, 2)];
