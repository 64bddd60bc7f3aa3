/** The gateway's log file: every gateway writes it, wherever it runs, and `holdfast gateway logs` shows it. */
import { appendFileSync, fstatSync, renameSync, statSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import { PRIVATE_FILE } from "../../base/files.ts";
import { readLines, readLinesBackward } from "../../base/jsonl.ts";
import { gatewayLayout, resolveHome } from "../../config/layout.ts";
import { type Counts, type Flags, invalidOption } from "../command.ts";
import { print, printJson, talk } from "../output.ts";

const MAX_LOG_BYTES = 10_000_000;

/** Keeps one earlier log, as `<path>.1`. */
export function rotateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
}

/** Ignores failures: a log that cannot be written must not end a turn. */
export function appendToLog(path: string, line: string): void {
  try {
    appendFileSync(path, line, { mode: PRIVATE_FILE });
  } catch {
    // A lost log line cannot be reported anywhere else.
  }
}

/** Writes to stderr and to the file. Skips the file if stderr is that file, or if its folder was replaced. */
export function createLogWriter(path: string): (line: string) => void {
  const isFile = isStderr(path);
  const folder = inodeOf(dirname(path));
  if (!isFile) {
    try {
      rotateLog(path);
    } catch {
      // A log that cannot be rotated keeps growing.
    }
    appendToLog(path, "");
  }
  return (line) => {
    process.stderr.write(line);
    if (!isFile && inodeOf(dirname(path)) === folder) appendToLog(path, line);
  };
}

function inodeOf(folder: string): number | undefined {
  try {
    return statSync(folder).ino;
  } catch {
    return undefined;
  }
}

function isStderr(path: string): boolean {
  try {
    const [own, file] = [fstatSync(2), statSync(path)];
    return own.ino === file.ino && own.dev === file.dev;
  } catch {
    return false;
  }
}

type LogsOptions = Flags<"json" | "follow"> & Counts<"lines">;

const DEFAULT_LINES = 50;

export async function showLogs(options: LogsOptions): Promise<void> {
  if (options.json === true && options.follow === true) {
    throw invalidOption("--json and --follow exclude each other", "--follow prints lines as they are in the log.");
  }
  const path = gatewayLayout(resolveHome()).logFile;
  const end = await readEnd(path, options.lines ?? DEFAULT_LINES);
  if (end === undefined && options.follow !== true) throw noLog(path);
  const { lines, position } = end ?? { lines: [], position: 0 };
  if (options.json === true) return printJson({ schema: 1, path, lines });
  for (const line of lines) print(line);
  if (options.follow === true) return await follow(path, position);
  if (lines.length === 0) talk(`The log is empty (${path}). To log more: holdfast config set log.level info`);
}

function noLog(path: string): HoldfastError {
  return new HoldfastError("not-found", "log-not-found", `There is no log yet (${path})`, {
    hint: "`holdfast gateway start` starts a gateway in the background that writes one.",
    data: { path },
  });
}

/** Undefined if there is no file. */
async function readEnd(path: string, count: number): Promise<{ lines: string[]; position: number } | undefined> {
  await using handle = await openIfPresent(path);
  if (handle === undefined) return undefined;
  const { size } = await handle.stat();
  const lines: string[] = [];
  for await (const { bytes } of readLinesBackward(handle, { end: size })) {
    if (lines.push(String(bytes)) >= count) break;
  }
  return { lines: lines.reverse(), position: size };
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

const POLL_MS = 250;

/** Prints whole lines as they are added, until interrupted. A replaced log is read from its start. */
async function follow(path: string, from: number): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  let position = from;
  let inode = (await stat(path).catch(() => undefined))?.ino;
  while (!stop.signal.aborted) {
    await delay(POLL_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    await using handle = await openIfPresent(path);
    if (handle === undefined) continue;
    const { size, ino } = await handle.stat();
    if (ino !== inode || size < position) position = 0;
    inode = ino;
    for await (const { bytes, end, terminated } of readLines(handle, { start: position, end: size })) {
      if (!terminated) break;
      print(String(bytes));
      position = end;
    }
  }
}
