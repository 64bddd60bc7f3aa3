/** What a person sees beside the answer when they ask for it: tools (/verbose), usage (/usage), thinking (/reasoning). */
import { redactText } from "../../base/redact.ts";
import { printable, printableLine } from "../../base/text.ts";
import type { EngineUsage } from "../../engine/engine.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ReplyPayload } from "./payloads.ts";

export function isVerbose({ verboseLevel }: SessionEntry): boolean {
  return verboseLevel === "on" || verboseLevel === "full";
}

/** More lines would bury the answer. */
export const MAX_TOOL_LINES = 30;
const MAX_LINE = 160;

/** `→ read_file notes/today.md`. Arguments come from a model and may hold secrets. */
export function toolLine({ name, input }: { name: string; input: unknown }): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [input];
  const shown = values.flatMap((value) => (isShort(value) ? [String(value)] : [])).join(" ");
  return printableLine(redactText(`→ ${name} ${shown}`), MAX_LINE).trim();
}

function isShort(value: unknown): boolean {
  return (typeof value === "string" && value.length <= MAX_LINE) || typeof value === "number";
}

/** `Tokens: 12,400 in (11,000 cached), 310 out · $0.0042 · anthropic/claude-x`. */
export function usageLine(level: SessionEntry["responseUsage"], usage: EngineUsage | undefined): string | undefined {
  if (level === undefined || level === "off" || usage === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite, costUsd, provider, model } = usage;
  const read = counted(input + cacheRead + cacheWrite);
  if (level !== "full") return `Tokens: ${read} in, ${counted(output)} out`;
  const cached = cacheRead === 0 ? "" : ` (${counted(cacheRead)} cached)`;
  const cost = costUsd === undefined ? [] : [`$${costUsd.toFixed(4)}`];
  return [`Tokens: ${read} in${cached}, ${counted(output)} out`, ...cost, `${provider}/${model}`].join(" · ");
}

function counted(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** Adds the line to the last message, so that it is no message of its own. */
export function withUsageLine(payloads: readonly ReplyPayload[], line: string | undefined): ReplyPayload[] {
  const last = payloads.at(-1);
  if (line === undefined || last === undefined) return [...payloads];
  const text = last.text === undefined ? line : `${last.text}\n\n${line}`;
  return [...payloads.slice(0, -1), { ...last, text }];
}

/** Whether a reasoning level shows thoughts. */
export function isShown(level: string | undefined): boolean {
  return level !== undefined && level !== "off";
}

const MAX_THINKING = 3000;

/** The thoughts of a turn as one quoted message before the answer. Undefined: not asked for, or the engine has none. */
export function thinkingPayload(level: string | undefined, thoughts: readonly string[]): ReplyPayload | undefined {
  if (!isShown(level)) return undefined;
  const text = printable(redactText(thoughts.join("\n\n"))).trim();
  if (text === "") return undefined;
  const shown = text.length <= MAX_THINKING ? text : `${text.slice(0, MAX_THINKING).toWellFormed()}…`;
  return { text: `Thinking:\n${shown.replace(/^/gm, "> ")}` };
}
