/**
 * How one Holdfast process asks another to act on a run: JSON lines over a Unix socket in a private
 * folder, so only the same user can connect. One question and one answer per connection; any further
 * line from the client cancels the question.
 */
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { type Server, type Socket, createConnection, createServer } from "node:net";
import {
  ERROR_KINDS,
  type ErrorReport,
  HoldfastError,
  errorMessage,
  fileError,
  reportError,
} from "../../base/errors.ts";
import { PRIVATE_FILE } from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { throwIfCancelled } from "./leases.ts";
import { newSocketPath, removeSocket } from "./run-files.ts";
import type { ClaudeCodeResult } from "./runner-contract.ts";
import { lazy } from "../../base/async.ts";

export type ControlQuestion =
  | { op: "send"; runId: string; text: string; sessionKey?: string | undefined }
  | { op: "interrupt"; runId: string }
  | { op: "kill"; runId: string };

interface ControlAnswers {
  send: ClaudeCodeResult;
  interrupt: { was: "idle" | "busy" };
  kill: { stopped: true };
}

type ControlAnswer = { ok: true; result: unknown } | { ok: false; error: ErrorReport };

interface AskOptions {
  /** Cancels the question. The answer then says how far the host got. */
  cancel?: AbortSignal | undefined;
  /** Default: no limit; a message can take an hour. */
  timeoutMs?: number | undefined;
}

export async function askHost<Op extends ControlQuestion["op"]>(
  socketPath: string,
  question: ControlQuestion & { op: Op },
  { cancel, timeoutMs }: AskOptions = {},
): Promise<ControlAnswers[Op]> {
  throwIfCancelled(cancel);
  const socket = createConnection(socketPath).setEncoding("utf8");
  const onCancel = (): void => void socket.write("cancel\n");
  cancel?.addEventListener("abort", onCancel, { once: true });
  if (timeoutMs !== undefined) socket.setTimeout(timeoutMs, () => socket.destroy(noAnswer(`none in ${timeoutMs} ms`)));
  try {
    socket.write(`${JSON.stringify(question)}\n`);
    const answer = parseAnswer((await Array.fromAsync(socket)).join(""));
    if (answer.ok) return answer.result as ControlAnswers[Op];
    const { kind, code, message, hint, data } = answer.error;
    throw new HoldfastError(kind in ERROR_KINDS ? kind : "internal", code, message, { hint, data });
  } catch (error) {
    throw error instanceof HoldfastError ? error : noAnswer(errorMessage(error));
  } finally {
    cancel?.removeEventListener("abort", onCancel);
    socket.destroy();
  }
}

const CHECK_HOST = "Check that it still runs (`holdfast cc list --running`) and try again.";

function parseAnswer(line: string): ControlAnswer {
  const value = parseJson(line);
  if (isRecord(value) && value["ok"] === true) return { ok: true, result: value["result"] };
  if (isRecord(value) && isRecord(value["error"])) return value as unknown as ControlAnswer;
  const message = "The process that runs the session gave no answer.";
  throw new HoldfastError("unavailable", "control-answer-damaged", message, { hint: CHECK_HOST });
}

function noAnswer(why: string): HoldfastError {
  const message = `The process that runs the session gave no answer: ${why}`;
  return new HoldfastError("unavailable", "run-not-reached", message, { hint: CHECK_HOST });
}

export type ControlHost = ReturnType<typeof createControlHost>;

/** The signal aborts when the client cancels. A client that disconnects does not cancel. */
type ControlHandler = (question: ControlQuestion, signal: AbortSignal) => Promise<unknown>;

/** Keeps the control socket of this process open while it has runs. */
export function createControlHost(folder: string, handle: ControlHandler) {
  const joined = new Set<string>();
  const server = lazy(async () => await startControlServer(folder, handle));
  return {
    async join(runId: string): Promise<string> {
      joined.add(runId);
      return (await server.get()).path;
    },
    async leave(runId: string): Promise<void> {
      joined.delete(runId);
      if (joined.size > 0) return;
      const closing = server.made();
      server.clear();
      await (await closing)?.close();
    },
  };
}

/** Clients send their question at once; one that stays silent is disconnected. */
const SILENCE_MS = 10_000;

/** Does not keep the process alive. */
export async function startControlServer(folder: string, handle: ControlHandler) {
  const path = await newSocketPath(folder);
  const server = createServer((socket) => {
    // Keeps the process alive only while a question is open.
    socket.setTimeout(SILENCE_MS, () => socket.destroy()).unref();
    answerOne(socket, handle);
  });
  await listen(server, path);
  server.on("error", () => undefined);
  server.unref();
  return {
    path,
    // Does not wait for open questions: one of them may be the request that ends this process.
    close: async (): Promise<void> => {
      server.close();
      await removeSocket(folder, path);
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  try {
    await once(server.listen(path), "listening");
    await chmod(path, PRIVATE_FILE);
  } catch (error) {
    throw fileError(error, "listen at", path);
  }
}

/** Far more than Claude Code reads in one message. */
const MAX_QUESTION_LENGTH = 4 * 1024 * 1024;

function answerOne(socket: Socket, handle: ControlHandler): void {
  const cancel = new AbortController();
  let received = "";
  let isAsked = false;
  socket.setEncoding("utf8");
  // The client may disconnect at any time; its question is still handled.
  socket.on("error", () => undefined);
  socket.on("data", (chunk: string) => {
    if (isAsked) {
      if (chunk.includes("\n")) cancel.abort();
      return;
    }
    received += chunk;
    const end = received.indexOf("\n");
    if (end === -1 && received.length <= MAX_QUESTION_LENGTH) return;
    isAsked = true;
    socket.setTimeout(0).ref();
    const question = end === -1 ? undefined : received.slice(0, end);
    if (end !== -1 && received.indexOf("\n", end + 1) !== -1) cancel.abort();
    received = "";
    void answer(question, handle, cancel.signal).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
  });
}

async function answer(line: string | undefined, handle: ControlHandler, signal: AbortSignal): Promise<ControlAnswer> {
  try {
    if (line === undefined) {
      throw new HoldfastError("usage", "control-question-too-long", "The message is longer than 4 MB.", {
        hint: "Put the text into a file and name the file in the message.",
      });
    }
    return { ok: true, result: await handle(parseQuestion(line), signal) };
  } catch (error) {
    return { ok: false, error: reportError(error) };
  }
}

function parseQuestion(line: string): ControlQuestion {
  const value = parseJson(line);
  if (isRecord(value) && typeof value["runId"] === "string") {
    const { op, runId, text, sessionKey } = value;
    if (op === "send" && typeof text === "string") {
      return { op, runId, text, sessionKey: typeof sessionKey === "string" ? sessionKey : undefined };
    }
    if (op === "interrupt" || op === "kill") return { op, runId };
  }
  throw new HoldfastError("usage", "control-question-unknown", "This process does not understand the request.", {
    hint: "Both processes must run the same version of Holdfast: restart the one that runs the session.",
  });
}
