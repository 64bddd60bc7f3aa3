/**
 * The wire to one `claude`: lines in, messages out, control requests with their answers. Knows nothing of
 * turns. Whatever happens to the pipes shows as the end of the process, never as an exception.
 */
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../../../base/errors.ts";
import { randomIds } from "../../../base/ids.ts";
import type { JsonRecord } from "../../../base/json-record.ts";
import { encodeControlRefusal, encodeControlRequest } from "../../protocol/inbound.ts";
import type { ControlRequest, ControlResponseMessage, OutboundMessage } from "../../protocol/messages.ts";
import { type NdjsonLine, createNdjsonReader } from "../../protocol/ndjson-reader.ts";
import { parseOutboundMessage } from "../../protocol/outbound.ts";
import type { ClaudeExit } from "./claude-process.ts";
import { type LeashOptions, startOnLeash } from "./leash.ts";

export interface Connection {
  readonly pid: number;
  write(line: string): void;
  request(request: ControlRequest): Promise<JsonRecord>;
  closeInput(): void;
  signal(signal: "SIGINT" | "SIGTERM"): void;
  /** Ends the process and everything it has started with SIGKILL. */
  kill(): void;
  /** Resolves when the process and everything it started are gone and the last message is handed over. */
  readonly ended: Promise<ClaudeExit>;
}

const ANSWER_TIMEOUT_MS = 10_000;
const STDERR_LENGTH = 4000;
/** What the process wrote last is in the pipe already when it has ended. */
const DRAIN_MS = 2000;

type ControlAnswer = ControlResponseMessage["answer"];
const HAS_ENDED: ControlAnswer = { ok: false, error: "the process has ended" };

export function openConnection(options: LeashOptions, onMessage: (message: OutboundMessage) => void): Connection {
  const program = startOnLeash(options);
  if (program === undefined) {
    throw new HoldfastError("unavailable", "claude-start-failed", `Cannot start ${options.program}.`, {
      hint: "Check that /bin/sh is there and that the system can start more processes (ulimit -u).",
      data: { program: options.program, cwd: options.cwd },
    });
  }
  const { child, stdin, stdout, stderr } = program;
  const pending = new Map<string, (answer: ControlAnswer) => void>();
  const reader = createNdjsonReader();
  let stderrTail = "";

  const write = (line: string): void => {
    if (stdin.writable) stdin.write(line);
  };
  const take = (line: NdjsonLine): void => {
    for (const message of messagesOf(line)) {
      if (message.type === "control_response") pending.get(message.requestId)?.(message.answer);
      else if (message.type === "control_request") {
        write(encodeControlRefusal(message.requestId, "Holdfast does not answer such requests."));
      } else onMessage(message);
    }
  };
  const ask = async (request: ControlRequest): Promise<ControlAnswer> => {
    const requestId = randomIds.uuid();
    const { promise, resolve } = Promise.withResolvers<ControlAnswer>();
    const timer = setTimeout(() => resolve({ ok: false, error: "no answer" }), ANSWER_TIMEOUT_MS);
    pending.set(requestId, resolve);
    write(encodeControlRequest(requestId, request));
    return await promise.finally(() => {
      clearTimeout(timer);
      pending.delete(requestId);
    });
  };
  // A process that is gone does not read any more; its end is reported elsewhere.
  stdin.on("error", () => undefined);
  stdout.on("data", (chunk: Buffer) => reader.push(chunk).forEach(take));
  stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_LENGTH);
  });
  child.on("exit", () => {
    void program.release().then(async () => {
      // Whoever got out of reach with our pipes in its hands must not keep us waiting.
      await delay(DRAIN_MS, undefined, { ref: false });
      stdout.destroy();
      stderr.destroy();
    });
  });

  const ended = new Promise<ClaudeExit>((resolve) => {
    child.on("close", (code, signal) => {
      reader.end().forEach(take);
      for (const settle of pending.values()) settle(HAS_ENDED);
      const exit = { code: code ?? undefined, signal: signal ?? undefined, stderr: stderrTail };
      void program.release().then(() => resolve(exit));
    });
  });

  return {
    pid: program.pid,
    write,
    async request(request) {
      const answer = stdin.writable ? await ask(request) : HAS_ENDED;
      if (answer.ok) return answer.response;
      throw new HoldfastError("unavailable", "claude-control-failed", `${request.subtype}: ${answer.error}`, {
        hint: "Claude Code did not do it; its version may not know this request (claude --version).",
        data: { request },
      });
    },
    closeInput: () => void stdin.end(),
    signal: (signal) => void child.kill(signal),
    kill: () => void program.release(),
    ended,
  };
}

function messagesOf(line: NdjsonLine): OutboundMessage[] {
  if (line.kind === "oversized") return [damaged(`a line of ${line.bytes} bytes was dropped`, "")];
  const message = parseOutboundMessage(line.text);
  if (line.kind === "unterminated" && message.type === "damaged") {
    return [damaged("the output ended in the middle of a line", message.excerpt)];
  }
  return line.lossy ? [damaged("bytes that are no UTF-8 were replaced", line.text.slice(0, 200)), message] : [message];
}

function damaged(reason: string, excerpt: string): OutboundMessage {
  return { type: "damaged", sessionId: undefined, reason, excerpt };
}
