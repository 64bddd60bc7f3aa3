/** The commands for hooks in Claude Code. The code behind a command is loaded when it is called. */
import { type Command, type OptionSpecs, defineCommand } from "./command.ts";
import { JSON_OUTPUT } from "./common-options.ts";

const PLACE = {
  ...JSON_OUTPUT,
  project: { type: "flag", description: "in .claude/settings.json of this repo (default: your own settings)" },
} as const satisfies OptionSpecs;

export const CLAUDE_HOOK_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "hooks install",
    arguments: ["<program>"],
    summary: "tell claude-code to call Holdfast when sessions start, are compacted and end",
    options: PLACE,
    run: async ([program = ""], options) =>
      await (await import("./commands/claude-hooks.ts")).install(program, options),
  }),
  defineCommand({
    name: "hooks uninstall",
    arguments: ["<program>"],
    summary: "take that out of the settings of claude-code again",
    options: PLACE,
    run: async ([program = ""], options) =>
      await (await import("./commands/claude-hooks.ts")).uninstall(program, options),
  }),
  {
    name: "hook",
    arguments: ["<event>"],
    summary: "what claude-code calls; reads the event from stdin, always succeeds",
    options: {},
    // Nothing that it could be given is an error.
    run: async (line) => await (await import("./commands/hook.ts")).hook(line[0]),
  },
];
