/**
 * Runs each call of a handler in its own leashed process. Nothing a handler does, not even using up all memory, ends
 * Holdfast or outlives it. A worker thread would take the process down when memory suddenly runs out, and cannot be
 * ended while it waits for a program. Callers get an answer within the time limit; a handler that has answered may
 * finish its work until then.
 */
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { within } from "../base/async.ts";
import { errorMessage } from "../base/errors.ts";
import { randomIds } from "../base/ids.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import type { Logger } from "../base/log.ts";
import { redactText } from "../base/redact.ts";
import { type LeashedProgram, startOnLeash } from "../claude/runner/process/leash.ts";
import type { Environment } from "../config/layout.ts";
import { type HookEvent, MAX_PRINTED_CHARACTERS, type ProgramRequest, type BootstrapFile } from "./hook.ts";
import { printableLine } from "../base/text.ts";

export interface HookCall {
  hook: string;
  handlerFile: string;
  event?: HookEvent | undefined;
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
}

export type HookProcesses = ReturnType<typeof createHookProcesses>;

const MAX_PROCESSES = 8;
const MEMORY_MB = 256;
const MAX_LOGGED_CHARACTERS = 4_000;

export function createHookProcesses({ logger }: { logger: Logger }) {
  const running = new Set<HookProcess>();

  /** Processes that have answered are ended to make room. */
  const hasRoom = (): boolean => {
    if (running.size < MAX_PROCESSES) return true;
    for (const program of running) if (program.hasAnswered()) void program.end();
    return false;
  };
  const room = async (until: number): Promise<boolean> => {
    while (!hasRoom()) {
      const left = until - performance.now();
      if (left <= 0) return false;
      await within(left, Promise.race([...running].map(async ({ gone }) => await gone)));
    }
    return true;
  };

  return {
    /** A string: what went wrong. Never rejects. */
    call: async (call: HookCall): Promise<HookResult | string> => {
      const until = performance.now() + call.timeoutMs;
      if (!(await room(until))) return `too many hooks were running for ${call.timeoutMs / 1000} s`;
      try {
        const program = startProcess(call, until, logger);
        running.add(program);
        void program.gone.then(() => running.delete(program));
        return await program.answer;
      } catch (error) {
        return inWords(errorMessage(error));
      }
    },
    close: async (): Promise<void> => {
      await Promise.all([...running].map(async (program) => await program.end()));
    },
  };
}

type HookProcess = ReturnType<typeof startProcess>;

/** `gone` resolves when the process and its children have ended. */
function startProcess(call: HookCall, until: number, logger: Logger) {
  const mark = randomIds.uuid();
  const program = startProgram(call, mark);
  const answer = Promise.withResolvers<HookResult | string>();
  const gone = Promise.withResolvers<void>();
  let hasAnswered = false;
  let isEnding = false;
  const settle = (value: HookResult | string): void => {
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
    onTooMuch: () => giveUp("it printed or added too much"),
  });
  program.child.on("exit", () => {
    clearTimeout(timer);
    // Also ends its children, which could hold its pipes open.
    void program.release().then(gone.resolve, gone.resolve);
  });
  program.child.on("close", (code, signal) => {
    // The last answer explains a failure, unless the handler had answered before.
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
  if (program === undefined) throw new Error("cannot start a process for it");
  const request: ProgramRequest = { handler: pathToFileURL(handlerFile).href, event, mark };
  // A process that exits early reports that itself.
  program.stdin.on("error", () => undefined);
  program.stdin.end(JSON.stringify(request));
  return program;
}

function listen({ stdout, stderr }: LeashedProgram, on: { onLine(): void; onTooMuch(): void }) {
  const texts = { stdout: "", stderr: "" };
  const add = (stream: "stdout" | "stderr", piece: string): void => {
    if (texts[stream].length + piece.length > MAX_PRINTED_CHARACTERS) return on.onTooMuch();
    texts[stream] += piece;
    if (stream === "stdout" && piece.includes("\n")) on.onLine();
  };
  stdout.setEncoding("utf8").on("data", (piece: string) => add("stdout", piece));
  stderr.setEncoding("utf8").on("data", (piece: string) => add("stderr", piece));
  return {
    stdout: (): string => texts.stdout,
    stderr: (): string => texts.stderr,
    /** Logs what a hook prints, because stdout is for Holdfast's own data. */
    log: (hook: string, mark: string, logger: Logger): void => {
      const said = texts.stdout.split("\n").filter((line) => !line.startsWith(mark));
      const text = [...said, texts.stderr].join("\n").trim();
      if (text !== "") logger.info("hook printed", { hook, text: text.slice(0, MAX_LOGGED_CHARACTERS) });
    },
  };
}

function readAnswer(printed: string, mark: string): HookResult | string | undefined {
  const start = printed.lastIndexOf(`\n${mark}`);
  const end = start === -1 ? -1 : printed.indexOf("\n", start + 1);
  if (end === -1) return undefined;
  const value = parseJson(printed.slice(start + 1 + mark.length, end));
  if (isRecord(value) && typeof value["failed"] === "string") return inWords(value["failed"]);
  const result = isRecord(value) ? value["result"] : undefined;
  return isRecord(result) ? checkResult(result["messages"], result["bootstrapFiles"]) : "its answer is invalid";
}

/** Exit code 13: Node found a promise that can never settle. */
function exitReason(code: number | null, signal: NodeJS.Signals | null, stderr: string): string {
  if (/heap out of memory|heap limit/i.test(stderr)) return `it needs more than ${MEMORY_MB} MB of memory`;
  if (code === 13) return "it waits for a promise that never settles";
  if (code === null) return `it was ended by ${signal ?? "a signal"}`;
  return `it called process.exit(${code})`;
}

function inWords(reason: string): string {
  return printableLine(redactText(reason), 300);
}

export interface HookResult {
  messages: string[];
  bootstrapFiles: BootstrapFile[];
}

const MAX_MESSAGES = 10;
const MAX_MESSAGE_CHARACTERS = 4_000;
const MAX_FILES = 30;
const MAX_FILE_CHARACTERS = 100_000;
const MAX_ALL_CHARACTERS = 200_000;

/** Accepts all of it or none. A string: the problem. */
export function checkResult(messages: unknown, bootstrapFiles: unknown): HookResult | string {
  if (!isTexts(messages)) return "`messages` must be a list of strings";
  if (!Array.isArray(bootstrapFiles)) return "`bootstrapFiles` must be a list of {name, content}";
  if (messages.length > MAX_MESSAGES) return `it added more than ${MAX_MESSAGES} messages`;
  if (messages.some((message) => message.length > MAX_MESSAGE_CHARACTERS)) {
    return `it added a message of more than ${MAX_MESSAGE_CHARACTERS} characters`;
  }
  if (bootstrapFiles.length > MAX_FILES) return `it left more than ${MAX_FILES} bootstrap files`;
  const files = bootstrapFiles.map(bootstrapFile).filter((file) => file !== undefined);
  if (files.length < bootstrapFiles.length) return "each of `bootstrapFiles` must be {name, content}, both texts";
  if (files.some(({ content }) => content.length > MAX_FILE_CHARACTERS)) {
    return `it left a bootstrap file of more than ${MAX_FILE_CHARACTERS} characters`;
  }
  const all = files.reduce((sum, { content }) => sum + content.length, 0);
  if (all > MAX_ALL_CHARACTERS) return `it left more than ${MAX_ALL_CHARACTERS} characters of bootstrap files`;
  return { messages: messages.filter((message) => message.trim() !== ""), bootstrapFiles: files };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function bootstrapFile(value: unknown): BootstrapFile | undefined {
  if (!isRecord(value) || typeof value["name"] !== "string" || typeof value["content"] !== "string") return undefined;
  const name = printableLine(value["name"], 100);
  return name === "" ? undefined : { name, content: value["content"] };
}

const ALWAYS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|TMPDIR|TEMP|TMP|XDG_\w+|SSH_AUTH_SOCK|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE|PATHEXT|HOLDFAST_HOME|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/i;

export function hookEnvironment(env: Environment, variables: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (ALWAYS.test(entry[0]) || variables.includes(entry[0])),
    ),
  );
}
