/** The listening side: one socket per process, open while it has runs. */
import { chmod } from "node:fs/promises";
import { type Server, type Socket, createServer } from "node:net";
import { HoldfastError, fileError, reportError } from "../../base/errors.ts";
import { PRIVATE_FILE } from "../../base/files.ts";
import { type ControlAnswer, type ControlQuestion, MAX_LINE_BYTES, parseQuestion } from "./control-protocol.ts";
import { newSocketPath, removeSocket } from "./control-socket.ts";

export interface ControlServer {
  readonly path: string;
  close(): Promise<void>;
}

/** The signal says that the question was taken back. Who merely goes away does not take it back. */
export type ControlHandler = (question: ControlQuestion, signal: AbortSignal) => Promise<unknown>;

/** Does not keep the process alive. */
export async function startControlServer(folder: string, handle: ControlHandler): Promise<ControlServer> {
  const path = await newSocketPath(folder);
  /** Who has not asked yet. */
  const silent = new Set<Socket>();
  const server = createServer((socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    socket.setTimeout(SILENCE_MS, () => {
      if (silent.has(socket)) socket.destroy();
    });
    answerOne(socket, async (question, signal) => {
      silent.delete(socket);
      return await handle(question, signal);
    });
  });
  await listen(server, path);
  // What goes wrong with later connections concerns whoever asks: they get no answer.
  server.on("error", () => undefined);
  server.unref();
  return {
    path,
    // Not waiting for those who asked: one of them may have asked for the very thing that ends us.
    close: async () => {
      server.close();
      for (const socket of silent) socket.destroy();
      await removeSocket(folder, path);
    },
  };
}

/** Whoever connects asks at once. */
const SILENCE_MS = 10_000;

async function listen(server: Server, path: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    server.removeAllListeners("error");
    await chmod(path, PRIVATE_FILE);
  } catch (error) {
    throw fileError(error, "listen at", path);
  }
}

function answerOne(socket: Socket, handle: ControlHandler): void {
  const cancel = new AbortController();
  let received = "";
  let isAsked = false;
  socket.setEncoding("utf8");
  // The other side may leave at any time; its question is worked on all the same.
  socket.on("error", () => undefined);
  socket.on("data", (chunk: string) => {
    if (isAsked) {
      if (chunk.includes("\n")) cancel.abort();
      return;
    }
    received += chunk;
    const end = received.indexOf("\n");
    if (end === -1 && received.length <= MAX_LINE_BYTES) return;
    isAsked = true;
    const question = end === -1 ? undefined : received.slice(0, end);
    if (end !== -1 && received.indexOf("\n", end + 1) !== -1) cancel.abort();
    received = "";
    void answer(question, handle, cancel.signal).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
  });
}

async function answer(line: string | undefined, handle: ControlHandler, signal: AbortSignal): Promise<ControlAnswer> {
  try {
    if (line === undefined) throw tooLong();
    return { ok: true, result: await handle(parseQuestion(line), signal) };
  } catch (error) {
    return { ok: false, error: reportError(error) };
  }
}

function tooLong(): HoldfastError {
  return new HoldfastError("usage", "control-question-too-long", "The message is longer than 4 MB.", {
    hint: "Put the text into a file and name the file in the message.",
  });
}
