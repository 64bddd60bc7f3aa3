/**
 * Runs handlers, each call in a process of its own and on a leash: nothing that a handler does, not even using
 * up all memory, ends Holdfast or outlives it. A thread would be lighter, but takes the whole process with it
 * when it runs out of memory in one go, and cannot be ended while it waits for a program. Whoever calls gets
 * an answer within the time limit. What has answered may finish what it has begun until its time is up.
 */
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { errorMessage } from "../base/errors.ts";
import { randomIds } from "../base/ids.ts";
import { isRecord } from "../base/json-record.ts";
import type { Logger } from "../base/log.ts";
import { printableLine } from "../base/printable.ts";
import { redactText } from "../base/redact.ts";
import { type LeashedProgram, startOnLeash } from "../claude/runner/process/leash.ts";
import { type Additions, checkAdditions } from "./additions.ts";
import type { HookEvent } from "./hook.ts";
import { MAX_PRINTED_CHARACTERS, type ProgramRequest } from "./program-call.ts";

export interface HookCall {
  hook: string;
  handlerFile: string;
  /** Left out: the handler is loaded and not called. */
  event?: HookEvent;
  /** Its working folder. */
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
}

export interface HookProcesses {
  /** What was added; a text says what went wrong. Never rejects. */
  call(call: HookCall): Promise<Additions | string>;
  /** Ends all of them. */
  close(): Promise<void>;
}

const MOST_AT_ONCE = 8;
const MEMORY_MB = 256;
const MAX_LOGGED_CHARACTERS = 4_000;

export function createHookProcesses({ logger }: { logger: Logger }): HookProcesses {
  const running = new Set<HookProcess>();
  const waiting = new Set<() => void>();

  /** Only so many at once: those that have answered make room. */
  const hasRoom = (): boolean => {
    if (running.size < MOST_AT_ONCE) return true;
    for (const program of running) if (program.hasAnswered()) void program.end();
    return false;
  };
  const room = async (until: number): Promise<boolean> => {
    while (!hasRoom()) {
      const left = until - performance.now();
      if (left <= 0) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
      waiting.delete(resolve);
    }
    return true;
  };

  return {
    call: async (call) => {
      const until = performance.now() + call.timeoutMs;
      if (!(await room(until))) return `too many hooks were running for ${call.timeoutMs / 1000} s`;
      try {
        const program = startProcess(call, until, logger);
        running.add(program);
        void program.gone.then(() => {
          running.delete(program);
          for (const wake of waiting) wake();
        });
        return await program.answer;
      } catch (error) {
        return inWords(errorMessage(error));
      }
    },
    close: async () => {
      await Promise.all([...running].map(async (program) => await program.end()));
    },
  };
}

interface HookProcess {
  answer: Promise<Additions | string>;
  hasAnswered(): boolean;
  /** It and all that it started have ended. */
  gone: Promise<void>;
  end(): Promise<void>;
}

function startProcess(call: HookCall, until: number, logger: Logger): HookProcess {
  const mark = randomIds.uuid();
  const program = startProgram(call, mark);
  const answer = Promise.withResolvers<Additions | string>();
  const gone = Promise.withResolvers<void>();
  let hasAnswered = false;
  let isEnding = false;
  const settle = (value: Additions | string): void => {
    if (hasAnswered && typeof value === "string" && !isEnding) {
      logger.warn("hook failed after its answer", { hook: call.hook, reason: value });
    }
    hasAnswered = true;
    answer.resolve(value);
  };
  const end = async (): Promise<void> => {
    isEnding = true;
    await program.release();
  };
  const giveUp = (reason: string): void => {
    if (!hasAnswered) settle(reason);
    void end();
  };
  const timer = setTimeout(
    () => giveUp(`took longer than ${call.timeoutMs / 1000} s and was ended`),
    Math.max(1, until - performance.now()),
  );
  const printed = listen(program, {
    onLine: () => {
      const said = readAnswer(printed.stdout(), mark);
      if (said !== undefined && !hasAnswered) settle(said);
    },
    onTooMuch: () => giveUp("it printed or added more than fits"),
  });
  program.child.on("exit", () => {
    clearTimeout(timer);
    // What it has started goes with it, and with that the last who could hold its pipes open.
    void program.release().then(gone.resolve, gone.resolve);
  });
  program.child.on("close", (code, signal) => {
    // What it said last tells why it failed, unless it had answered before and went on.
    const last = readAnswer(printed.stdout(), mark);
    if (!hasAnswered || code !== 0) settle(last ?? exitReason(code, signal, printed.stderr()));
    printed.log(call.hook, mark, logger);
  });
  return { answer: answer.promise, hasAnswered: () => hasAnswered, gone: gone.promise, end };
}

function startProgram({ handlerFile, event, cwd, env }: HookCall, mark: string): LeashedProgram {
  const file = fileURLToPath(new URL(`./hook-program${extname(import.meta.url)}`, import.meta.url));
  const warnings = ["MODULE_TYPELESS_PACKAGE_JSON", "ExperimentalWarning"].map((name) => `--disable-warning=${name}`);
  const args = [...warnings, `--max-old-space-size=${MEMORY_MB}`, file];
  const program = startOnLeash({ program: process.execPath, args, cwd, env });
  if (program === undefined) throw new Error("no process could be started for it");
  const request: ProgramRequest = {
    handler: pathToFileURL(handlerFile).href,
    ...(event === undefined ? {} : { event }),
    mark,
  };
  // One that ends before it has read everything says so itself.
  program.stdin.on("error", () => undefined);
  program.stdin.end(JSON.stringify(request));
  return program;
}

interface Printed {
  stdout(): string;
  stderr(): string;
  /** Stdout is for data of Holdfast's own: what a hook prints is logged, as far as anybody would read it. */
  log(hook: string, mark: string, logger: Logger): void;
}

function listen({ stdout, stderr }: LeashedProgram, on: { onLine(): void; onTooMuch(): void }): Printed {
  const texts = { stdout: "", stderr: "" };
  const add = (stream: "stdout" | "stderr", piece: string): void => {
    if (texts[stream].length + piece.length > MAX_PRINTED_CHARACTERS) return on.onTooMuch();
    texts[stream] += piece;
    if (stream === "stdout" && piece.includes("\n")) on.onLine();
  };
  stdout.setEncoding("utf8").on("data", (piece: string) => add("stdout", piece));
  stderr.setEncoding("utf8").on("data", (piece: string) => add("stderr", piece));
  return {
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    log: (hook, mark, logger) => {
      const said = texts.stdout.split("\n").filter((line) => !line.startsWith(mark));
      const text = [...said, texts.stderr].join("\n").trim();
      if (text !== "") logger.info("hook printed", { hook, text: text.slice(0, MAX_LOGGED_CHARACTERS) });
    },
  };
}

/** The last one; undefined when there is none. */
function readAnswer(printed: string, mark: string): Additions | string | undefined {
  const start = printed.lastIndexOf(`\n${mark}`);
  const end = start === -1 ? -1 : printed.indexOf("\n", start + 1);
  if (end === -1) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(printed.slice(start + 1 + mark.length, end));
  } catch {
    return "its answer cannot be read";
  }
  if (isRecord(value) && typeof value["failed"] === "string") return inWords(value["failed"]);
  const added = isRecord(value) ? value["added"] : undefined;
  return isRecord(added) ? checkAdditions(added["messages"], added["bootstrapFiles"]) : "its answer cannot be read";
}

/** Exit code 13: Node's for a promise that nothing is left to settle. */
function exitReason(code: number | null, signal: NodeJS.Signals | null, stderr: string): string {
  if (/heap out of memory|heap limit/i.test(stderr)) return `it needs more than ${MEMORY_MB} MB of memory`;
  if (code === 13) return "it waits for something that never comes";
  if (code === null) return `it was ended by ${signal ?? "a signal"}`;
  return `it ended itself with process.exit(${code})`;
}

function inWords(reason: string): string {
  return printableLine(redactText(reason), 300);
}
