/** Every command with its arguments and options. The code behind a command is loaded when it is called. */
import { CC_COMMANDS } from "./cc-commands.ts";
import { CLAUDE_HOOK_COMMANDS } from "./claude-hook-commands.ts";
import { type Command, type OptionSpecs, defineCommand } from "./command.ts";
import { AGENT, JSON_OUTPUT } from "./common-options.ts";
import { GATEWAY_COMMANDS } from "./gateway-commands.ts";
import { HANDOFF_COMMANDS } from "./handoff-commands.ts";
import { HOOK_COMMANDS } from "./hook-commands.ts";

const SESSION_COMMAND = {
  ...JSON_OUTPUT,
  ...AGENT,
  store: { type: "text", value: "path", description: "a sessions.json to use instead of the agent's store" },
} as const satisfies OptionSpecs;

export const COMMANDS: readonly Command[] = [
  defineCommand({
    name: "sessions",
    summary: "list sessions, newest first",
    options: {
      ...SESSION_COMMAND,
      allAgents: { type: "flag", description: "sessions of every agent" },
      active: { type: "count", value: "minutes", description: "only those used within the last minutes" },
      kind: { type: "text", description: "only direct, group or global sessions" },
      channel: { type: "text", value: "name", description: "only sessions of this channel" },
      search: { type: "text", value: "words", description: "only those whose key, label or name has all words" },
      limit: { type: "count", value: "n", description: "at most this many" },
    },
    run: async (_, options) => await (await import("./commands/sessions-list.ts")).listSessions(options),
  }),
  defineCommand({
    name: "sessions show",
    arguments: ["<session>"],
    summary: "everything about one session: entry, windows, lease",
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-show.ts")).showSession(session, options),
  }),
  defineCommand({
    name: "sessions patch",
    arguments: ["<session>", "[field=value...]"],
    summary: "set fields, e.g. label=work sendPolicy=deny thinkingLevel=high",
    options: {
      ...SESSION_COMMAND,
      unset: { type: "list", value: "field", description: "take a field away; may be repeated" },
    },
    run: async ([session = "", ...assignments], options) =>
      await (await import("./commands/sessions-change.ts")).patch(session, assignments, options),
  }),
  defineCommand({
    name: "sessions reset",
    arguments: ["<session>"],
    summary: "close the window and open the next; the old one stays listed",
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-reset.ts")).reset(session, options),
  }),
  defineCommand({
    name: "sessions compact",
    arguments: ["<session>"],
    summary: "shorten the transcript; what is removed goes to an archive",
    options: {
      ...SESSION_COMMAND,
      maxLines: { type: "count", value: "n", description: "how many entries to keep (default: 400)" },
    },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).compact(session, options),
  }),
  defineCommand({
    name: "sessions archive",
    arguments: ["<session>"],
    summary: "take a session out of use; `restore` brings it back",
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).archive(session, options),
  }),
  defineCommand({
    name: "sessions restore",
    arguments: ["[id]"],
    summary: "bring back an archived session or an earlier window; without an id, list the archive",
    options: SESSION_COMMAND,
    run: async ([id], options) => await (await import("./commands/sessions-change.ts")).restore(id, options),
  }),
  defineCommand({
    name: "sessions delete",
    arguments: ["<session>"],
    summary: "remove a session; its transcripts go to the archive",
    options: { ...SESSION_COMMAND, yes: { type: "flag", description: "do not ask" } },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).remove(session, options),
  }),
  defineCommand({
    name: "sessions export",
    arguments: ["<session>"],
    summary: "write a conversation to a file or stdout, secrets redacted",
    options: {
      ...SESSION_COMMAND,
      format: { type: "text", description: "md, jsonl or json (default: md)" },
      output: { type: "text", value: "file", description: "write to this file" },
      noRedact: { type: "flag", description: "keep what looks like a secret" },
    },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-export.ts")).exportSession(session, options),
  }),
  defineCommand({
    name: "sessions maintain",
    summary: "archive by age, count and size as configured",
    options: { ...SESSION_COMMAND, dryRun: { type: "flag", description: "only say what would be done" } },
    run: async (_, options) => await (await import("./commands/sessions-maintain.ts")).maintain(options),
  }),
  defineCommand({
    name: "history",
    arguments: ["[session]"],
    summary: "show a conversation (default: the one used last)",
    options: {
      ...SESSION_COMMAND,
      limit: { type: "count", value: "n", description: "how many entries from the end (default: 50)" },
      all: { type: "flag", description: "every entry: also of other branches, and of turns in which memory was saved" },
      follow: { type: "flag", description: "go on and print what is added" },
    },
    run: async ([session], options) => await (await import("./commands/history.ts")).showHistory(session, options),
  }),
  ...GATEWAY_COMMANDS,
  ...CC_COMMANDS,
  ...HANDOFF_COMMANDS,
  ...HOOK_COMMANDS,
  ...CLAUDE_HOOK_COMMANDS,
  defineCommand({
    name: "config get",
    arguments: ["[key]"],
    summary: "print a value, e.g. session.reset.atHour, or everything",
    options: JSON_OUTPUT,
    run: async ([key], options) => await (await import("./commands/config.ts")).get(key, options),
  }),
  defineCommand({
    name: "config set",
    arguments: ["<key>", "<value>"],
    summary: "change a value; comments in the file stay",
    options: JSON_OUTPUT,
    run: async ([key = "", value = ""], options) =>
      await (await import("./commands/config.ts")).set(key, value, options),
  }),
  defineCommand({
    name: "config unset",
    arguments: ["<key>"],
    summary: "go back to the default",
    options: JSON_OUTPUT,
    run: async ([key = ""], options) => await (await import("./commands/config.ts")).unset(key, options),
  }),
  defineCommand({
    name: "config schema",
    summary: "print the JSON Schema of config.json",
    options: JSON_OUTPUT,
    run: async () => await (await import("./commands/config.ts")).schema(),
  }),
  defineCommand({
    name: "config check",
    summary: "check every file that is read",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/config.ts")).check(options),
  }),
  defineCommand({
    name: "doctor",
    summary: "look for damage: permissions, torn files, orphans, stale leases and locks",
    options: {
      ...JSON_OUTPUT,
      fix: { type: "flag", description: "mend what can be mended; nothing is deleted" },
      agent: { type: "text", value: "id", description: "only this agent (default: all)" },
      deep: { type: "flag", description: "read every line of every transcript" },
    },
    run: async (_, options) => await (await import("./commands/doctor.ts")).doctor(options),
  }),
  defineCommand({
    name: "mcp",
    summary: "serve Holdfast's tools to Claude Code or another MCP client, over stdin and stdout",
    options: {
      ...AGENT,
      repo: { type: "text", value: "path", description: "the repo (default: $CLAUDE_PROJECT_DIR, else this folder)" },
      session: { type: "text", value: "key", description: "the conversation that the task came from" },
      printConfig: { type: "flag", description: "print what an MCP client has to be told, as JSON" },
      announcements: { type: "flag", description: "print what tasks have announced and nobody has seen yet" },
    },
    run: async (_, options) => await (await import("./commands/mcp.ts")).mcp(options),
  }),
  defineCommand({
    name: "selftest",
    summary: "kill processes in the middle of their work on this machine and check that nothing is lost",
    options: {
      ...JSON_OUTPUT,
      seed: { type: "text", value: "n", description: "repeat the run with this seed (default: a random one)" },
      minutes: { type: "count", value: "m", description: "how long (default: 1)" },
      folder: { type: "text", value: "path", description: "the file system to test (default: the temporary folder)" },
    },
    run: async (_, options) => await (await import("./commands/selftest.ts")).selftest(options),
  }),
];
