/**
 * Starts a `claude` and controls it: one turn at a time, every turn ends with an outcome, and the process
 * is ended step by step, each step harder than the one before.
 */
import { statSync } from "node:fs";
import { HoldfastError } from "../../../base/errors.ts";
import { randomIds } from "../../../base/ids.ts";
import type {
  ClaudeEvent,
  ClaudeExit,
  ClaudeProcess,
  ClaudeProcessOptions,
  ClaudeTurn,
  GraceTimes,
} from "./claude-process.ts";
import { claudeArguments, claudeEnvironment, findClaude } from "./command-line.ts";
import { type Connection, openConnection } from "./connection.ts";
import { type RunningTurn, type TurnEnding, createCostMeter, createTurnKeeper } from "./turns.ts";
import { TOO_LATE, within } from "../../../base/async.ts";

const DEFAULT_GRACE: GraceTimes = { interruptMs: 3000, endMs: 5000, terminateMs: 3000 };
/** Claude Code ignores an interrupt that arrives before it has begun the turn. */
const START_MS = 15_000;
const ASK_AGAIN_MS = 300;

export function startClaudeProcess(options: ClaudeProcessOptions): ClaudeProcess {
  const env = options.env ?? process.env;
  const grace = { ...DEFAULT_GRACE, ...options.grace };
  const listeners = new Set<(event: ClaudeEvent) => void>();
  const publish = (event: ClaudeEvent): void => listeners.forEach((listener) => listener(event));
  let exit: ClaudeExit | undefined;
  let stopping: Promise<ClaudeExit> | undefined;

  const turns = createTurnKeeper({
    costs: createCostMeter(options.resumedCostUsd),
    publish,
    isOpen: () => stopping === undefined && exit === undefined,
  });
  const connection = openConnection(
    {
      program: findClaude(options.command, env),
      args: claudeArguments(options),
      cwd: existingFolder(options.cwd),
      env: claudeEnvironment(env),
    },
    (message) => {
      options.onMessage?.(message);
      publish(message);
      turns.take(message);
    },
    options.onPermission,
  );
  const ended = connection.ended.then((result) => {
    exit = result;
    turns.breakOff(result);
    return result;
  });

  const runTurn = async (text: string, timeoutMs: number | undefined): Promise<ClaudeTurn> => {
    // A turn that Claude Code started itself must end first: it would absorb our message.
    for (let other = turns.current; other !== undefined; other = turns.current) await other.over;
    if (stopping !== undefined || exit !== undefined) throw hasEnded(turns.sessionId, exit);
    const uuid = randomIds.uuid();
    const turn = turns.begin(uuid);
    connection.sendMessage(text, uuid);
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => void interruptTurn(turn, "timed-out"), timeoutMs);
    return await turn.over.finally(() => clearTimeout(timer));
  };

  const interruptTurn = async (turn: RunningTurn, why: TurnEnding): Promise<"answered" | "process-ended"> => {
    turn.ending ??= why;
    await happensWithin(START_MS, Promise.race([turn.begun.promise, turn.over]));
    const deadline = performance.now() + grace.interruptMs;
    while (performance.now() < deadline) {
      connection.control("interrupt");
      if (await happensWithin(ASK_AGAIN_MS, turn.over)) return exit === undefined ? "answered" : "process-ended";
    }
    await (stopping ??= endBySignals(connection, ended, grace));
    return "process-ended";
  };

  const stop = async (): Promise<ClaudeExit> => {
    if (turns.current !== undefined) turns.current.ending ??= "interrupted";
    connection.control("end_session");
    connection.closeInput();
    if (await happensWithin(grace.endMs, ended)) return await ended;
    return await endBySignals(connection, ended, grace);
  };

  return {
    pid: connection.pid,
    get sessionId() {
      return turns.sessionId;
    },
    get state() {
      if (exit !== undefined) return "ended";
      return turns.current === undefined ? "idle" : "busy";
    },
    ended,
    send: async (text, sending = {}) => await runTurn(text, sending.timeoutMs),
    interrupt: async () => {
      if (exit !== undefined) return "process-ended";
      return turns.current === undefined ? "idle" : await interruptTurn(turns.current, "interrupted");
    },
    stop: async () => await (stopping ??= stop()),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.asyncDispose]: async () => void (await (stopping ??= stop())),
  };
}

/** SIGINT and SIGTERM go to Claude Code alone, which then ends its own child processes. */
async function endBySignals(
  connection: Connection,
  ended: Promise<ClaudeExit>,
  grace: GraceTimes,
): Promise<ClaudeExit> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    connection.signal(signal);
    if (await happensWithin(grace.terminateMs, ended)) return await ended;
  }
  connection.kill();
  return await ended;
}

async function happensWithin(ms: number, event: Promise<unknown>): Promise<boolean> {
  return (await within(ms, event)) !== TOO_LATE;
}

function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new HoldfastError("not-found", "claude-no-folder", `The folder ${path} does not exist.`, {
    hint: "Name an existing folder (--repo), or create it first.",
    data: { path },
  });
}

function hasEnded(sessionId: string | undefined, exit: ClaudeExit | undefined): HoldfastError {
  return new HoldfastError("conflict", "claude-ended", "This claude has ended and accepts no more messages.", {
    hint: "Start another one with the session to resume.",
    data: { sessionId, code: exit?.code, signal: exit?.signal },
  });
}
