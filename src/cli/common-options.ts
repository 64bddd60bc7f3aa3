/** Options that many commands have, described once. */
import type { OptionSpecs } from "./command.ts";

export const JSON_OUTPUT = { json: { type: "flag", description: "print JSON" } } as const satisfies OptionSpecs;

export const AGENT = {
  agent: { type: "text", value: "id", description: "the agent (default: the configured one)" },
} as const satisfies OptionSpecs;
