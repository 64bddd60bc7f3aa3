/**
 * The pipes of one `claude`: lines in, messages and control requests out. Turns are handled elsewhere. A broken pipe
 * shows as the end of the process, never as an exception.
 */
import { isUtf8 } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, errorMessage } from "../../../base/errors.ts";
import { randomIds } from "../../../base/ids.ts";
import type { JsonRecord } from "../../../base/json-record.ts";
import { type Line, createLineSplitter, encodeLine } from "../../../base/jsonl.ts";
import {
  type OutboundMessage,
  type PermissionQuestion,
  parseOutboundMessage,
  permissionResponse,
} from "../../protocol/messages.ts";
import type { AskPermission, ClaudeExit } from "./claude-process.ts";
import { type LeashOptions, startOnLeash } from "./leash.ts";

export type Connection = ReturnType<typeof openConnection>;

const STDERR_LENGTH = 4000;
/** Time to read the rest of the pipes after the process has ended. */
const DRAIN_MS = 2000;

export function openConnection(
  options: LeashOptions,
  onMessage: (message: OutboundMessage) => void,
  onPermission?: AskPermission,
) {
  const program = startOnLeash(options);
  if (program === undefined) {
    throw new HoldfastError("unavailable", "claude-start-failed", `Cannot start ${options.program}.`, {
      hint: "Check that /bin/sh exists and that the system can start more processes (ulimit -u).",
      data: { program: options.program, cwd: options.cwd },
    });
  }
  const { child, stdin, stdout, stderr } = program;
  const lines = createLineSplitter();
  let stderrTail = "";

  /** A malformed line would end the process. */
  const write = (value: JsonRecord): void => {
    if (stdin.writable) stdin.write(encodeLine(value));
  };
  const refuse = (requestId: string): void => {
    const response = { subtype: "error", request_id: requestId, error: "Holdfast does not answer such requests." };
    write({ type: "control_response", response });
  };
  /** Open questions by request id. */
  const questions = new Map<string, AbortController>();
  const askPerson = async (requestId: string, question: PermissionQuestion, askNow: AskPermission): Promise<void> => {
    const cancel = new AbortController();
    questions.set(requestId, cancel);
    const answer = await askNow(question, cancel.signal).catch((error: unknown) => ({ deny: errorMessage(error) }));
    questions.delete(requestId);
    if (cancel.signal.aborted) return;
    const response = permissionResponse(answer, question);
    write({ type: "control_response", response: { subtype: "success", request_id: requestId, response } });
  };
  const take = (line: Line): void => {
    for (const message of messagesOf(line)) {
      if (message.type === "control_cancel_request") questions.get(message.requestId)?.abort();
      else if (message.type === "control_request") {
        const { requestId, permission } = message;
        if (permission === undefined || onPermission === undefined) refuse(requestId);
        else void askPerson(requestId, permission, onPermission);
      } else if (message.type !== "control_response") onMessage(message);
    }
  };
  // `ended` reports the end of the process.
  stdin.on("error", () => undefined);
  stdout.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk)) take(line);
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_LENGTH);
  });
  child.on("exit", () => {
    void program.release().then(async () => {
      // An escaped child process may still hold our pipes: do not wait for it.
      await delay(DRAIN_MS, undefined, { ref: false });
      stdout.destroy();
      stderr.destroy();
    });
  });

  const ended = new Promise<ClaudeExit>((resolve) => {
    child.on("close", (code, signal) => {
      lines.end().forEach(take);
      for (const question of questions.values()) question.abort();
      const exit = { code: code ?? undefined, signal: signal ?? undefined, stderr: stderrTail };
      void program.release().then(() => resolve(exit));
    });
  });

  return {
    pid: program.pid,
    /** The uuid comes back when the message's turn begins (`--replay-user-messages`). */
    sendMessage: (text: string, uuid: string): void => {
      write({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, uuid });
    },
    /** Claude Code answers by acting: the turn or the process ends. */
    control: (subtype: "interrupt" | "end_session"): void =>
      write({ type: "control_request", request_id: randomIds.uuid(), request: { subtype } }),
    closeInput: () => void stdin.end(),
    signal: (signal: "SIGINT" | "SIGTERM") => void child.kill(signal),
    kill: () => void program.release(),
    /** Resolves when the process and everything it started are gone and the last message was delivered. */
    ended,
  };
}

/** Every problem with a line is a message too. */
export function messagesOf({ bytes, oversized, terminated, offset, end }: Line): OutboundMessage[] {
  if (oversized) return [damaged(`a line of ${end - offset} bytes was dropped`, "")];
  const text = bytes.toString("utf8").trimEnd();
  if (text === "") return [];
  const message = parseOutboundMessage(text);
  if (!terminated && message.type === "damaged") {
    return [damaged("the output ended in the middle of a line", message.excerpt)];
  }
  return isUtf8(bytes) ? [message] : [damaged("bytes that are not UTF-8 were replaced", text.slice(0, 200)), message];
}

function damaged(reason: string, excerpt: string): OutboundMessage {
  return { type: "damaged", sessionId: undefined, reason, excerpt };
}
