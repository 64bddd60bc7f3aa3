/** The commands for what one window leaves for the next. The code behind a command is loaded when it is called. */
import { type Command, type OptionSpecs, defineCommand } from "./command.ts";
import { AGENT, JSON_OUTPUT } from "./common-options.ts";

const COMMON = { ...JSON_OUTPUT, ...AGENT } as const satisfies OptionSpecs;

function session(otherwise: string) {
  return {
    session: {
      type: "text",
      value: "session",
      description: `key, label or id, also of a session of Claude Code (default: ${otherwise})`,
    },
  } as const satisfies OptionSpecs;
}

export const HANDOFF_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "handoff show",
    summary: "what a session leaves for the next, as Markdown to paste anywhere",
    options: { ...COMMON, ...session("the one that left something last") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).showHandoff(options),
  }),
  defineCommand({
    name: "handoff capture",
    summary: "capture it now, from the transcript; of Claude Code also long after its end",
    options: { ...COMMON, ...session("the one used last") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).captureHandoff(options),
  }),
  defineCommand({
    name: "handoff clear",
    summary: "forget what was captured up to now; the transcript stays",
    options: { ...COMMON, ...session("the one that left something last") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).clearHandoff(options),
  }),
  defineCommand({
    name: "handoff list",
    summary: "what sessions have left and what became of it, newest first",
    options: {
      ...COMMON,
      project: { type: "text", value: "name", description: "only of this project" },
      limit: { type: "count", value: "n", description: "at most this many (default: 50)" },
    },
    run: async (_, options) => await (await import("./commands/handoff.ts")).listHandoffs(options),
  }),
  defineCommand({
    name: "handoff resume",
    summary: "the next turn is told, offered before or not; an expired one if you name its session",
    options: { ...COMMON, ...session("the one that left something last") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).resumeHandoff(options),
  }),
];
