/** Every command with its arguments and options. Each loads its code when it runs. */
import { packageVersion } from "../base/package.ts";
import { CC_COMMANDS, CLAUDE_HOOK_COMMANDS, HANDOFF_COMMANDS, HOOK_COMMANDS } from "./cc-commands.ts";
import { type Command, type OptionSpecs, defineCommand, AGENT, JSON_OUTPUT } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway-commands.ts";

const SEARCH_PLACES = ["chats", "claude", "memory"] as const;

const SESSION_COMMAND = {
  ...JSON_OUTPUT,
  ...AGENT,
  store: { type: "text", value: "path", description: "a sessions.json to use instead of the agent's store" },
} as const satisfies OptionSpecs;

const listSessions: Command = defineCommand({
  name: "sessions",
  onlyReads: true,
  summary: "list sessions, newest first",
  options: {
    ...SESSION_COMMAND,
    allAgents: { type: "flag", description: "sessions of every agent" },
    active: { type: "count", value: "minutes", description: "only sessions used in the last minutes" },
    kind: {
      type: "text",
      choices: ["direct", "group", "global", "unknown"],
      description: "only direct, group or global sessions",
    },
    channel: { type: "text", value: "name", description: "only sessions of this channel" },
    search: { type: "text", value: "words", description: "only sessions whose key, label or name contains all words" },
    limit: { type: "count", value: "n", description: "maximum number of sessions (default: 50; with --json: all)" },
  },
  run: async (_, options) => await (await import("./commands/sessions-list.ts")).listSessions(options),
});

const getConfig: Command = defineCommand({
  name: "config get",
  onlyReads: true,
  arguments: ["[key]"],
  summary: "print a value, e.g. session.reset.atHour, or everything",
  options: JSON_OUTPUT,
  run: async ([key], options) => await (await import("./commands/config.ts")).get(key, options),
});

export const COMMANDS: readonly Command[] = [
  listSessions,
  { ...listSessions, name: "sessions list", summary: "the same as sessions" },
  defineCommand({
    name: "sessions show",
    onlyReads: true,
    arguments: ["<session>"],
    summary: "show everything about one session: entry, windows, lease",
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
      unset: { type: "list", value: "field", description: "remove a field; may be repeated" },
    },
    run: async ([session = "", ...assignments], options) =>
      await (await import("./commands/sessions-change.ts")).patch(session, assignments, options),
  }),
  defineCommand({
    name: "sessions reset",
    arguments: ["<session>"],
    summary: "start a new window; the old one stays listed",
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).reset(session, options),
  }),
  defineCommand({
    name: "sessions compact",
    arguments: ["<session>"],
    summary: "shorten the transcript; the removed part is archived",
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
    options: { ...SESSION_COMMAND, yes: { type: "flag", isRisky: true, description: "do not ask for confirmation" } },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).remove(session, options),
  }),
  defineCommand({
    name: "sessions export",
    onlyReads: true,
    arguments: ["<session>"],
    summary: "write a conversation to a file or stdout, secrets redacted",
    options: {
      ...SESSION_COMMAND,
      format: {
        type: "text",
        choices: ["md", "html", "jsonl", "json"],
        description: "md, html, jsonl or json (default: md)",
      },
      output: { type: "text", value: "file", description: "write to this file" },
      noRedact: { type: "flag", isRisky: true, description: "do not redact secrets" },
    },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-export.ts")).exportSession(session, options),
  }),
  defineCommand({
    name: "sessions maintain",
    summary: "archive sessions by age, count and size as configured",
    options: { ...SESSION_COMMAND, dryRun: { type: "flag", description: "only show what would be done" } },
    run: async (_, options) => await (await import("./commands/sessions-change.ts")).maintain(options),
  }),
  defineCommand({
    name: "history",
    onlyReads: true,
    arguments: ["[session]"],
    summary: "show a conversation (default: the one used last)",
    options: {
      ...SESSION_COMMAND,
      limit: { type: "count", value: "n", description: "how many entries from the end (default: 50)" },
      all: { type: "flag", description: "all entries, including other branches and memory turns" },
      follow: { type: "flag", description: "keep printing new entries" },
    },
    run: async ([session], options) => await (await import("./commands/history.ts")).showHistory(session, options),
  }),
  defineCommand({
    name: "search",
    onlyReads: true,
    takesMinusWords: true,
    arguments: ["<words...>"],
    summary: "find chats, Claude Code sessions and memory files by what was said and done",
    options: {
      ...JSON_OUTPUT,
      repo: { type: "text", value: "path", description: "only what was said in this folder or below" },
      agent: { type: "text", value: "id", description: "only sessions and memory of this agent" },
      in: { type: "text", choices: SEARCH_PLACES, description: "only chats, claude (Claude Code) or memory" },
      since: { type: "text", value: "time", description: "only since this time, e.g. 2d, 12h or 2026-11-15" },
      role: { type: "text", choices: ["user", "agent"], description: "only what people (user) or agents said" },
      file: { type: "text", value: "path", description: "only sessions that changed this file" },
      limit: { type: "count", value: "n", description: "maximum number of results (default: 10)" },
    },
    run: async (words, options) => await (await import("./commands/search.ts")).search(words, options),
  }),
  defineCommand({
    name: "blame",
    onlyReads: true,
    arguments: ["<file[:line]>"],
    summary: "show which sessions changed a file or a line, newest first, and the prompts that led to it",
    options: {
      ...JSON_OUTPUT,
      limit: { type: "count", value: "n", description: "maximum number of sessions (default: 10)" },
    },
    run: async ([place = ""], options) => await (await import("./commands/blame.ts")).blame(place, options),
  }),
  ...GATEWAY_COMMANDS,
  ...CC_COMMANDS,
  ...HANDOFF_COMMANDS,
  ...HOOK_COMMANDS,
  ...CLAUDE_HOOK_COMMANDS,
  getConfig,
  { ...getConfig, name: "config list", summary: "the same as config get" },
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
    summary: "reset a value to its default",
    options: JSON_OUTPUT,
    run: async ([key = ""], options) => await (await import("./commands/config.ts")).unset(key, options),
  }),
  defineCommand({
    name: "config path",
    onlyReads: true,
    summary: "print the path of config.json, whether it exists or not",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/config.ts")).path(options),
  }),
  defineCommand({
    name: "config schema",
    onlyReads: true,
    summary: "print the JSON Schema of config.json",
    options: JSON_OUTPUT,
    run: async () => await (await import("./commands/config.ts")).schema(),
  }),
  defineCommand({
    name: "config check",
    onlyReads: true,
    summary: "check every configuration file",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/config.ts")).check(options),
  }),
  defineCommand({
    name: "import openclaw",
    arguments: ["[dir]"],
    summary: "take over sessions, settings, skills and hooks of OpenClaw, which stays as it is",
    options: {
      ...JSON_OUTPUT,
      dryRun: { type: "flag", description: "only show what would be taken" },
    },
    run: async ([dir], options) => await (await import("./commands/import.ts")).importFromOpenClaw(dir, options),
  }),
  defineCommand({
    name: "doctor",
    onlyReads: true,
    summary: "look for damage: permissions, torn files, orphans, stale leases and locks",
    options: {
      ...JSON_OUTPUT,
      fix: { type: "flag", isRisky: true, description: "repair problems; no data is deleted" },
      acknowledge: { type: "text", value: "file", description: "stop reporting losses in this file, or in `all`" },
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
      session: { type: "text", value: "key", description: "the conversation that started the task" },
      printConfig: { type: "flag", description: "print the settings for an MCP client, as JSON" },
      announcements: { type: "flag", description: "print task announcements that were not shown yet" },
    },
    run: async (_, options) => await (await import("./commands/mcp.ts")).mcp(options),
  }),
  defineCommand({
    name: "version",
    onlyReads: true,
    summary: "print the version",
    run: async () => {
      process.stdout.write(`${packageVersion()}\n`);
      await Promise.resolve();
    },
  }),
  defineCommand({
    name: "selftest",
    summary: "kill processes while they work, on this machine, and check that nothing is lost",
    options: {
      ...JSON_OUTPUT,
      seed: { type: "text", value: "n", description: "seed of the run, to repeat it (default: random)" },
      minutes: { type: "count", value: "m", description: "duration (default: 1)" },
      folder: { type: "text", value: "path", description: "the file system to test (default: the temporary folder)" },
    },
    run: async (_, options) => await (await import("./commands/selftest.ts")).selftest(options),
  }),
];
