/**
 * The contract of an agent's tools, and how a model's call runs. A tool gets arguments that a model wrote and
 * answers in text for that model. On failure it throws a HoldfastError whose message and hint the model reads;
 * the turn continues.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { raceAbort, TOO_LATE, within } from "../../base/async.ts";
import type { ToolResultMessage } from "../../transcript/entries.ts";
import type { AttachedFiles } from "./confined-files.ts";

export interface AgentTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. `tool:name text` in an echo script sets the first property. */
  inputSchema: ToolSchema;
  run(input: JsonRecord, use: ToolUse): Promise<string>;
}

export interface ToolUse {
  sessionKey: string;
  /** Unique to this call. A call that is repeated after a crash has the same one. */
  callId: string;
  signal: AbortSignal;
  attached: AttachedFiles;
}

interface ToolSchema {
  type: "object";
  properties: Record<string, ToolArgument>;
  required: string[];
  additionalProperties: false;
}

/** Not an interface, so that it is assignable to JSON schemas of other libraries. */
type ToolArgument = {
  type: "string" | "integer" | "number" | "boolean";
  description: string;
};

export type ToolTable = ReadonlyMap<string, AgentTool>;

/** Properties whose name ends in `?` are optional. */
export function toolSchema(members: Record<string, ToolArgument>): ToolSchema {
  const entries = Object.entries(members);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, argument]) => [name.replace(/\?$/, ""), argument])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** A number that a model wrote, within limits. */
export function between(value: unknown, min: number, max: number): number {
  return Math.min(max, Math.max(min, Number(value)));
}

interface ToolOutcome {
  text: string;
  isError: boolean;
}

/** Far more than our own tools return. */
const MAX_RESULT_CHARACTERS = 200_000;

export const INTERRUPTED_RESULT = "Interrupted: the turn was stopped before this was done.";
const LEFT_RUNNING_RESULT =
  "Interrupted: the turn was stopped while this ran. It may have been done; check before you repeat it.";

/** How long a running tool may finish after an abort. A lost result would make the agent repeat the call. */
const END_MS = 1000;

/** Never throws. `input` is whatever the model wrote. */
export async function runTool(
  tools: ToolTable,
  call: { name: string; input: unknown },
  options: ToolUse & { logger: Logger },
): Promise<ToolOutcome> {
  const { logger, ...use } = options;
  const { signal } = use;
  let running: Promise<string> | undefined;
  try {
    const tool = tools.get(call.name);
    if (tool === undefined)
      throw new HoldfastError("usage", "tool-unknown", `There is no tool "${call.name.slice(0, 100)}".`, {
        hint: `There are: ${[...tools.keys()].join(", ")}.`,
      });
    const input = checkedInput(tool, call.input);
    signal.throwIfAborted();
    running = tool.run(input, use);
    const text = await raceAbort(running, signal);
    return { text: capped(text), isError: false };
  } catch (error) {
    if (signal.aborted) return await interrupted(running);
    if (error instanceof HoldfastError) {
      return {
        text: capped([error.message, error.hint].filter((part) => part !== undefined).join(" ")),
        isError: true,
      };
    }
    logger.error("tool failed", { tool: call.name, error });
    return { text: `The tool failed: ${errorMessage(error).slice(0, 500)}`, isError: true };
  }
}

async function interrupted(running: Promise<string> | undefined): Promise<ToolOutcome> {
  if (running === undefined) return { text: INTERRUPTED_RESULT, isError: true };
  const ended = await within(END_MS, running).catch(() => undefined);
  // A tool that respects the signal rejects: the work was not done.
  if (ended === undefined) return { text: INTERRUPTED_RESULT, isError: true };
  return ended === TOO_LATE ? { text: LEFT_RUNNING_RESULT, isError: true } : { text: capped(ended), isError: false };
}

/** Converts numbers and booleans that were written as strings, as small models do. */
function checkedInput({ name, inputSchema }: AgentTool, input: unknown): JsonRecord {
  const { properties, required } = inputSchema;
  if (!isRecord(input)) throw badArguments(name, "The arguments are not an object.", properties);
  const unknown = Object.keys(input).find((key) => !Object.hasOwn(properties, key));
  if (unknown !== undefined) throw badArguments(name, `There is no argument "${unknown.slice(0, 100)}".`, properties);
  const missing = required.find((key) => input[key] === undefined || input[key] === null);
  if (missing !== undefined) throw badArguments(name, `The argument "${missing}" is missing.`, properties);
  const checked: JsonRecord = {};
  for (const [key, { type }] of Object.entries(properties)) {
    if (input[key] === undefined || input[key] === null) continue;
    const value = asType(input[key], type);
    if (value === undefined) throw badArguments(name, `The argument "${key}" has to be of type ${type}.`, properties);
    checked[key] = value;
  }
  return checked;
}

function asType(value: unknown, type: ToolArgument["type"]): unknown {
  if (type === "string") return typeof value === "string" ? value : undefined;
  if (type === "boolean") {
    if (typeof value === "boolean") return value;
    return value === "true" ? true : value === "false" ? false : undefined;
  }
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
  return type === "number" || Number.isInteger(number) ? number : undefined;
}

function badArguments(tool: string, what: string, properties: Record<string, ToolArgument>): HoldfastError {
  return new HoldfastError("usage", "tool-arguments", what, {
    hint: `${tool} takes: ${Object.keys(properties).join(", ")}.`,
  });
}

export function capped(text: string, length = MAX_RESULT_CHARACTERS): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).toWellFormed()}\n[${text.length - length} more characters omitted]`;
}

export function toolResultMessage(
  { id, name, text, isError }: { id: string; name: string } & ToolOutcome,
  timestamp: number,
): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text }],
    isError,
    timestamp,
  };
}
