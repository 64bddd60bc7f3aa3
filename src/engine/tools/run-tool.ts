/** A model's call of a tool: arguments checked, failures in words, an end when the turn is stopped. */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { raceAbort } from "../race-abort.ts";
import type { AgentTool, ToolArgument, ToolTable, ToolUse } from "./agent-tool.ts";

export interface ToolOutcome {
  text: string;
  isError: boolean;
}

/** Far more than a tool of ours returns. */
const MAX_RESULT_CHARACTERS = 200_000;

export const INTERRUPTED_RESULT = "Interrupted: the turn was stopped before this was done.";

/** Never throws. `input`: what the model wrote, of any kind. */
export async function runTool(
  tools: ToolTable,
  call: { name: string; input: unknown },
  options: ToolUse & { logger: Logger },
): Promise<ToolOutcome> {
  const { logger, ...use } = options;
  const { signal } = use;
  try {
    const tool = tools.get(call.name);
    if (tool === undefined) throw unknownTool(call.name, tools);
    const input = checkedInput(tool, call.input);
    signal.throwIfAborted();
    const text = await raceAbort(tool.run(input, use), signal);
    return { text: capped(text), isError: false };
  } catch (error) {
    if (signal.aborted) return { text: INTERRUPTED_RESULT, isError: true };
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

function unknownTool(name: string, tools: ToolTable): HoldfastError {
  return new HoldfastError("usage", "tool-unknown", `There is no tool "${name.slice(0, 100)}".`, {
    hint: `There are: ${[...tools.keys()].join(", ")}.`,
  });
}

/** With numbers and truth values that came as words put right: small models write them so. */
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

function capped(text: string): string {
  if (text.length <= MAX_RESULT_CHARACTERS) return text;
  return `${text.slice(0, MAX_RESULT_CHARACTERS)}\n[${text.length - MAX_RESULT_CHARACTERS} characters more were left out]`;
}
