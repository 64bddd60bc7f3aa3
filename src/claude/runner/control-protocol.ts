/**
 * How one Holdfast process asks another to do something with a run that it holds: one JSON object a
 * line over a Unix socket in a private folder, so that only the same user can connect. One question
 * and one answer per connection.
 */
import { HoldfastError, type ErrorReport } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";
import type { ClaudeCodeResult } from "./runner-contract.ts";

export type ControlQuestion =
  | { op: "send"; runId: string; text: string }
  | { op: "interrupt"; runId: string }
  | { op: "kill"; runId: string };

export interface ControlAnswers {
  send: ClaudeCodeResult;
  interrupt: { was: "idle" | "busy" };
  kill: { stopped: true };
}

export type ControlAnswer = { ok: true; result: unknown } | { ok: false; error: ErrorReport };

/** A message for Claude Code is text that a person or a program wrote; this is far above what it reads. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

export function parseQuestion(line: string): ControlQuestion {
  const value = parseJson(line);
  if (isRecord(value) && typeof value["runId"] === "string") {
    const { op, runId, text } = value;
    if (op === "send" && typeof text === "string") return { op, runId, text };
    if (op === "interrupt" || op === "kill") return { op, runId };
  }
  throw new HoldfastError("usage", "control-question-unknown", "This process does not know what it was asked.", {
    hint: "Both sides must be the same version of Holdfast: restart the one that runs the session.",
  });
}

export function parseAnswer(line: string): ControlAnswer {
  const value = parseJson(line);
  if (isRecord(value) && value["ok"] === true) return { ok: true, result: value["result"] };
  if (isRecord(value) && isRecord(value["error"])) return value as unknown as ControlAnswer;
  throw new HoldfastError(
    "unavailable",
    "control-answer-damaged",
    "The process that runs the session gave no answer.",
    {
      hint: "Look whether it still runs (`holdfast cc list --running`) and try again.",
    },
  );
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
