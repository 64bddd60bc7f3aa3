/** The commands for Holdfast's hooks. The code behind a command is loaded when it is called. */
import { type Command, type OptionSpecs, defineCommand } from "./command.ts";
import { JSON_OUTPUT } from "./common-options.ts";

const COMMON = {
  ...JSON_OUTPUT,
  agent: {
    type: "text",
    value: "id",
    description: "the agent whose workspace is looked at (default: the configured one)",
  },
} as const satisfies OptionSpecs;

export const HOOK_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "hooks list",
    summary: "the hooks that were found, and whether they are called",
    options: COMMON,
    run: async (_, options) => await (await import("./commands/hooks.ts")).listHooks(options),
  }),
  defineCommand({
    name: "hooks enable",
    arguments: ["<name>"],
    summary: "turn a hook on; one of a workspace as its files are now",
    options: {
      ...COMMON,
      source: { type: "text", value: "where", description: "bundled, home or workspace, where several have the name" },
    },
    run: async ([name = ""], options) => await (await import("./commands/hooks.ts")).enableHook(name, options),
  }),
  defineCommand({
    name: "hooks disable",
    arguments: ["<name>"],
    summary: "turn a hook off",
    options: COMMON,
    run: async ([name = ""], options) => await (await import("./commands/hooks.ts")).disableHook(name, options),
  }),
  defineCommand({
    name: "hooks check",
    arguments: ["[name]"],
    summary: "whether hooks have what they need and their handlers load; exit code 5 when not",
    options: COMMON,
    run: async ([name], options) => await (await import("./commands/hooks.ts")).checkHook(name, options),
  }),
];
