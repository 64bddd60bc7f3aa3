/**
 * How Claude Code calls our hooks: the command, its input on stdin, and the log for errors. The command runs in the
 * session's folder, so all its paths are absolute and quoted. It never fails a session: if Holdfast is gone, or was
 * never installed on this machine, the command still succeeds.
 */
import { appendFileSync, existsSync, renameSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { PRIVATE_FILE } from "../../base/files.ts";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { type Logger, createLogger } from "../../base/log.ts";
import { programFile } from "../../base/package.ts";
import { projectsFolder } from "../../claude/native/layout.ts";

export const CLAUDE_HOOK_EVENTS = ["SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"] as const;
export type ClaudeHookEvent = (typeof CLAUDE_HOOK_EVENTS)[number];

export interface HookEntry {
  type: "command";
  command: string;
  timeout: number;
}

/** In seconds. Holdfast answers much faster. By default Claude Code waits for minutes, or 1.5 s at the end of a session. */
const TIMEOUT_S = 5;

export interface CommandOptions {
  /** HOLDFAST_HOME, if set: Claude Code may be started without it. */
  home?: string | undefined;
}

export function hookEntry(event: ClaudeHookEvent, { home }: CommandOptions): HookEntry {
  const words = [process.execPath, programFile(), "hook", event].map(quoted).join(" ");
  const setting = home === undefined ? "" : `HOLDFAST_HOME=${quoted(home)} `;
  return { type: "command", command: `${setting}${words} || true`, timeout: TIMEOUT_S };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** As written by `quoted`, or in double quotes. */
const WORD = String.raw`(?:[\w@%+=:,./~-]|'[^']*'|\\'|"[^"$\x60\\]*")+`;
const OURS = new RegExp(
  String.raw`^(?:HOLDFAST_HOME=${WORD} )?(?:(?<runtime>${WORD}) )?(?<program>${WORD}) hook [A-Z]\w+(?: \|\| true)?$`,
);

/** Recognizes our command, also of other versions and installations, but no command that wraps ours. */
export function isOurCommand(command: unknown): boolean {
  const { runtime = "node", program = "" } = (typeof command === "string" && OURS.exec(command)?.groups) || {};
  return /(?:^|[/'"])node[\w.-]*['"]?$/.test(runtime) && /(?:^|[/'"])holdfast(?:\.js)?['"]?$/.test(program);
}

export interface HookInput {
  sessionId: string;
  /** The session's working folder. May be gone. */
  cwd: string;
  /** May not exist yet. */
  transcriptPath: string;
  source: string;
}

/** More than the longest answer of a model, which the `Stop` event includes. */
const MAX_INPUT_BYTES = 1024 * 1024;

/**
 * Undefined: not a JSON object, too long, or no data within `waitMs`. The time starts again with each chunk, because
 * long input arrives in pieces. Does not wait for the end of the stream.
 */
export async function readInput(stream: NodeJS.ReadableStream, waitMs: number): Promise<JsonRecord | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const done = Promise.withResolvers<JsonRecord | undefined>();
  const giveUp = (): void => {
    // After a pause of the process, the timer fires before pending data is read.
    const sizeThen = size;
    setImmediate(() => size === sizeThen && done.resolve(undefined));
  };
  const timer = setTimeout(giveUp, waitMs);
  stream.on("data", (chunk: Buffer | string) => {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    timer.refresh();
    if (size > MAX_INPUT_BYTES) return done.resolve(undefined);
    // The input is one object, so only a chunk that ends in a brace can complete it.
    const record = /\}\s*$/.test(bytes.toString("latin1")) ? parseInput(chunks) : undefined;
    if (record !== undefined) done.resolve(record);
  });
  stream.on("end", () => done.resolve(parseInput(chunks)));
  stream.on("error", () => done.resolve(undefined));
  try {
    return await done.promise;
  } finally {
    clearTimeout(timer);
    stream.pause();
  }
}

function parseInput(chunks: readonly Buffer[]): JsonRecord | undefined {
  const value = parseJson(Buffer.concat(chunks).toString("utf8"));
  return isRecord(value) ? value : undefined;
}

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Undefined: not what Claude Code sends. Only values of the expected form become a path. */
export function toHookInput(record: JsonRecord, claudeHome: string): HookInput | undefined {
  const { session_id: sessionId, cwd, transcript_path: path, source } = record;
  if (typeof sessionId !== "string" || !SESSION_ID.test(sessionId)) return undefined;
  if (typeof cwd !== "string" || !isAbsolute(cwd) || cwd.includes("\0")) return undefined;
  const folder = typeof path === "string" ? basename(dirname(path)) : "";
  if (!/^[A-Za-z0-9-]+$/.test(folder)) return undefined;
  return {
    sessionId: sessionId.toLowerCase(),
    cwd,
    transcriptPath: join(projectsFolder(claudeHome), folder, `${sessionId}.jsonl`),
    source: typeof source === "string" ? source : "",
  };
}

const MAX_LOG_BYTES = 256 * 1024;

/** Writes to a file, because Claude Code would show output to the person. Never fails, and never creates the home folder. */
export function createHookLog(path: string): Logger {
  return createLogger({ level: "warn", write: (line) => append(path, line) });
}

function append(path: string, line: string): void {
  try {
    if (!existsSync(dirname(path))) return;
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
    appendFileSync(path, line.slice(0, MAX_LINE), { mode: PRIVATE_FILE });
  } catch {
    // A full disk or a read-only folder: nothing can be done.
  }
}

const MAX_LINE = 8 * 1024;
