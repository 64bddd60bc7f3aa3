/** How much the agent thinks and tells. */
import type { SessionEntry } from "../../store/session-entry.ts";
import { settingCommand } from "./setting-command.ts";
import { shown } from "./shown.ts";

export const thinkCommand = settingCommand({
  name: "think",
  summary: "how long to think before an answer",
  words: {
    off: { thinkingLevel: "off" },
    minimal: { thinkingLevel: "minimal" },
    low: { thinkingLevel: "low" },
    medium: { thinkingLevel: "medium" },
    high: { thinkingLevel: "high" },
    xhigh: { thinkingLevel: "xhigh" },
    default: { thinkingLevel: null },
  },
  describe: (_request, entry) => `Thinking: ${thinkingOf(entry)}.`,
});

export function thinkingOf(entry: SessionEntry | undefined): string {
  return entry?.thinkingLevel === undefined ? "as the model does by itself" : shown(entry.thinkingLevel, 20);
}

export const verboseCommand = settingCommand({
  name: "verbose",
  summary: "whether to tell which tools are used",
  words: { on: { verboseLevel: "on" }, off: { verboseLevel: "off" } },
  describe: (_request, entry) => `Verbose: ${verboseOf(entry)}.`,
});

export function verboseOf(entry: SessionEntry | undefined): string {
  return shown(entry?.verboseLevel ?? "off", 20);
}
