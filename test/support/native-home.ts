/**
 * A scratch Claude Code folder with realistic transcripts, an index over it, and the homes
 * of Holdfast and OpenClaw: `await using home = await createNativeHome()`.
 */
import { mkdirSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, dirname } from "node:path";
import { createNativeIndex } from "../../src/claude/index/create-native-index.ts";
import { parseFacts } from "../../src/claude/native/session-scan.ts";
import type { NativeIndex } from "../../src/claude/index/native-index.ts";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import { claudeLayout } from "../../src/config/layout.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";

export interface NativeHome extends AsyncDisposable {
  /** A real path. */
  root: string;
  claudeHome: string;
  home: string;
  openClawHome: string;
  index: NativeIndex;
  join(...parts: string[]): string;
  /** Writes a transcript and returns its path. */
  session(session: TestSession): string;
}

export interface TestSession {
  /** An id, or one digit or letter to repeat as the id. */
  id: string;
  /** Its first and later working folders. */
  cwds: readonly string[];
  branch?: string;
  prompts?: readonly string[];
  entrypoint?: string;
  files?: readonly string[];
  /** The file's modification time in ms. */
  modifiedAt?: number;
  /** Raw lines to append. */
  lines?: readonly object[];
}

export function testSessionId(letter: string): string {
  if (letter.length > 1) return letter;
  return `${letter.repeat(8)}-${letter.repeat(4)}-4${letter.repeat(3)}-8${letter.repeat(3)}-${letter.repeat(12)}`;
}

const START = Date.UTC(2026, 10, 1);

export async function createNativeHome(): Promise<NativeHome> {
  const folder: TemporaryFolder = await temporaryFolder();
  const root = realpathSync(folder.path);
  const claudeHome = join(root, "claude");
  const home = join(root, "holdfast");
  mkdirSync(join(claudeHome, "projects"), { recursive: true });
  const index = createNativeIndex({ path: claudeLayout(home).index, claudeHome, threads: 0 });
  return {
    root,
    claudeHome,
    home,
    openClawHome: join(root, "openclaw"),
    index,
    join: (...parts) => join(root, ...parts),
    session: (session) => writeSession(claudeHome, session),
    [Symbol.asyncDispose]: async () => {
      index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function writeSession(claudeHome: string, session: TestSession): string {
  const sessionId = testSessionId(session.id);
  const folder = join(claudeHome, "projects", projectFolderName(realPath(session.cwds[0] ?? "/")));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${sessionId}.jsonl`);
  const prompts = session.prompts ?? [`task of ${session.id}`];
  const lines: object[] = [];
  const add = (type: string, cwd: string, message: object): void => {
    const number = lines.length;
    lines.push({
      type,
      uuid: `${sessionId}-${number}`,
      parentUuid: number === 0 ? null : `${sessionId}-${number - 1}`,
      timestamp: new Date(START + number * 1000).toISOString(),
      isSidechain: false,
      userType: "external",
      entrypoint: session.entrypoint ?? "cli",
      cwd,
      sessionId,
      version: "2.1.197",
      gitBranch: session.branch ?? "main",
      message,
    });
  };
  for (const [number, cwd] of session.cwds.entries()) {
    for (const text of number === 0 ? prompts : ["go on"]) add("user", cwd, { role: "user", content: text });
    const content = (session.files ?? []).map((file) => ({
      type: "tool_use",
      name: "Edit",
      input: { file_path: file },
    }));
    const usage = { input_tokens: 10, output_tokens: 5 };
    add("assistant", cwd, {
      id: `${sessionId}-m${number}`,
      model: "claude-sonnet-4-5",
      role: "assistant",
      content,
      usage,
    });
  }
  writeFileSync(path, [...lines, ...(session.lines ?? [])].map((line) => `${JSON.stringify(line)}\n`).join(""));
  if (session.modifiedAt !== undefined) utimesSync(path, session.modifiedAt / 1000, session.modifiedAt / 1000);
  return path;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A folder for Claude Code's files and an index over them. */
export async function createIndexHome(threads = 0) {
  const folder = await temporaryFolder();
  const claudeHome = folder.join("claude");
  const path = folder.join("cache", "index.sqlite");
  let index: NativeIndex = createNativeIndex({ path, claudeHome, threads });
  return {
    folder,
    claudeHome,
    path,
    index: () => index,
    /** Everything that the index knows about a session. */
    facts: (sessionId: string) => {
      const session = index.get(sessionId);
      return session && { ...session, ...parseFacts(session.shown), ...index.details(sessionId) };
    },
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
/** The id of the n-th session; `file` is its transcript. */
export const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
export const file = (number: number) => `${id(number)}.jsonl`;
const FIRST_SECOND = Date.parse("2026-11-15T12:00:00.000Z");
/** The timestamp of a line, by second. */
export const time = (second: number) => new Date(FIRST_SECOND + second * 1000).toISOString();
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

/** A conversation of three lines, shared by its forks. */
export const THREE_LINES = [prompt("one"), answer("m1", 5, 1), answer("m2", 5, 2)];
