/** Every command with its arguments and options. Each loads its code when it runs. */
import { packageVersion } from "../base/package.ts";
import { CC_COMMANDS, CLAUDE_HOOK_COMMANDS, HANDOFF_COMMANDS, HOOK_COMMANDS } from "./cc-commands.ts";
import { type Command, AGENT, changes, choice, count, flag, list, reads, text } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway-commands.ts";

const SEARCH_PLACES = ["chats", "claude", "memory"] as const;

const SESSION_COMMAND = { ...AGENT, store: text("path", "a sessions.json to use instead of the agent's store") };

const listSessions: Command = reads("sessions", "list sessions, newest first", {
  options: {
    ...SESSION_COMMAND,
    allAgents: flag("sessions of every agent"),
    active: count("minutes", "only sessions used in the last minutes"),
    kind: choice("kind", ["direct", "group", "global", "unknown"], "only direct, group or global sessions"),
    channel: text("name", "only sessions of this channel"),
    search: text("words", "only sessions whose key, label or name contains all words"),
    limit: count("n", "maximum number of sessions (default: 50; with --json: all)"),
  },
  run: async (_, options) => await (await import("./commands/sessions-list.ts")).listSessions(options),
});

const getConfig: Command = reads("config get [key]", "print a value, e.g. session.reset.atHour, or everything", {
  run: async ([key], options) => await (await import("./commands/config.ts")).get(key, options),
});

export const COMMANDS: readonly Command[] = [
  listSessions,
  { ...listSessions, name: "sessions list", summary: "the same as sessions" },
  reads("sessions show <session>", "show everything about one session: entry, windows, lease", {
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-list.ts")).showSession(session, options),
  }),
  changes(
    "sessions patch <session> [field=value...]",
    "set fields, e.g. label=work sendPolicy=deny thinkingLevel=high",
    {
      options: { ...SESSION_COMMAND, unset: list("field", "remove a field; may be repeated") },
      run: async ([session = "", ...assignments], options) =>
        await (await import("./commands/sessions-change.ts")).patch(session, assignments, options),
    },
  ),
  changes("sessions reset <session>", "start a new window; the old one stays listed", {
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).reset(session, options),
  }),
  changes("sessions compact <session>", "shorten the transcript; the removed part is archived", {
    options: { ...SESSION_COMMAND, maxLines: count("n", "how many entries to keep (default: 400)") },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).compact(session, options),
  }),
  changes("sessions archive <session>", "take a session out of use; `restore` brings it back", {
    options: SESSION_COMMAND,
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).archive(session, options),
  }),
  changes(
    "sessions restore [id]",
    "bring back an archived session or an earlier window; without an id, list the archive",
    {
      options: SESSION_COMMAND,
      run: async ([id], options) => await (await import("./commands/sessions-change.ts")).restore(id, options),
    },
  ),
  changes("sessions delete <session>", "remove a session; its transcripts go to the archive", {
    options: { ...SESSION_COMMAND, yes: { ...flag("do not ask for confirmation"), isRisky: true } },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-change.ts")).remove(session, options),
  }),
  reads("sessions export <session>", "write a conversation to a file or stdout, secrets redacted", {
    options: {
      ...SESSION_COMMAND,
      format: choice("format", ["md", "html", "jsonl", "json"], "md, html, jsonl or json (default: md)"),
      output: text("file", "write to this file"),
      noRedact: { ...flag("do not redact secrets"), isRisky: true },
    },
    run: async ([session = ""], options) =>
      await (await import("./commands/sessions-export.ts")).exportSession(session, options),
  }),
  changes("sessions maintain", "archive sessions by age, count and size as configured", {
    options: { ...SESSION_COMMAND, dryRun: flag("only show what would be done") },
    run: async (_, options) => await (await import("./commands/sessions-change.ts")).maintain(options),
  }),
  reads("history [session]", "show a conversation (default: the one used last)", {
    options: {
      ...SESSION_COMMAND,
      limit: count("n", "how many entries from the end (default: 50)"),
      all: flag("all entries, including other branches and memory turns"),
      follow: flag("keep printing new entries"),
    },
    run: async ([session], options) => await (await import("./commands/history.ts")).showHistory(session, options),
  }),
  reads("search <words...>", "find chats, Claude Code sessions and memory files by their words", {
    takesMinusWords: true,
    options: {
      repo: text("path", "only what was said in this folder or below"),
      agent: text("id", "only sessions and memory of this agent"),
      in: choice("in", SEARCH_PLACES, "only chats, claude (Claude Code) or memory"),
      since: text("time", "only since this time, e.g. 2d, 12h or 2026-11-15"),
      role: choice("role", ["user", "agent"], "only what people (user) or agents said"),
      file: text("path", "only sessions that changed this file"),
      limit: count("n", "maximum number of results (default: 10)"),
    },
    run: async (words, options) => await (await import("./commands/search.ts")).search(words, options),
  }),
  reads(
    "blame <file[:line]>",
    "show which sessions changed a file or a line, newest first, and the prompts that led to it",
    {
      options: { limit: count("n", "maximum number of sessions (default: 10)") },
      run: async ([place = ""], options) => await (await import("./commands/blame.ts")).blame(place, options),
    },
  ),
  ...GATEWAY_COMMANDS,
  ...CC_COMMANDS,
  ...HANDOFF_COMMANDS,
  ...HOOK_COMMANDS,
  ...CLAUDE_HOOK_COMMANDS,
  getConfig,
  { ...getConfig, name: "config list", summary: "the same as config get" },
  changes("config set <key> <value>", "change a value; comments in the file stay", {
    run: async ([key = "", value = ""], options) =>
      await (await import("./commands/config.ts")).set(key, value, options),
  }),
  changes("config unset <key>", "reset a value to its default", {
    run: async ([key = ""], options) => await (await import("./commands/config.ts")).unset(key, options),
  }),
  reads("config path", "print the path of config.json, whether it exists or not", {
    run: async (_, options) => await (await import("./commands/config.ts")).path(options),
  }),
  reads("config schema", "print the JSON Schema of config.json", {
    run: async () => await (await import("./commands/config.ts")).schema(),
  }),
  reads("config check", "check every configuration file", {
    run: async (_, options) => await (await import("./commands/config.ts")).check(options),
  }),
  changes("import openclaw [dir]", "take over sessions, settings, skills and hooks of OpenClaw, which stays as it is", {
    options: { dryRun: flag("only show what would be taken") },
    run: async ([dir], options) => await (await import("./commands/import.ts")).importFromOpenClaw(dir, options),
  }),
  changes("migrate <direction>", "copy all sessions to PostgreSQL (sqlite-to-postgres) or back (postgres-to-sqlite)", {
    options: { url: text("url", "the database (default: store.url)"), dryRun: flag("only show what would be copied") },
    run: async ([direction = ""], options) => await (await import("./commands/migrate.ts")).migrate(direction, options),
  }),
  reads("doctor", "look for damage: permissions, torn files, orphans, stale leases and locks", {
    options: {
      fix: { ...flag("repair problems; no data is deleted"), isRisky: true },
      acknowledge: text("file", "stop reporting losses in this file, or in `all`"),
      agent: text("id", "only this agent (default: all)"),
      deep: flag("read every line of every transcript (default: only both ends)"),
    },
    run: async (_, options) => await (await import("./commands/doctor.ts")).doctor(options),
  }),
  changes("mcp", "serve Holdfast's tools to Claude Code or another MCP client, over stdin and stdout", {
    json: false,
    options: {
      ...AGENT,
      repo: text("path", "the repo (default: $CLAUDE_PROJECT_DIR, else this folder)"),
      session: text("key", "the conversation that started the task"),
      printConfig: flag("print the settings for an MCP client, as JSON"),
      announcements: flag("print task announcements that were not shown yet"),
    },
    run: async (_, options) => await (await import("./commands/mcp.ts")).mcp(options),
  }),
  reads("version", "print the version", {
    json: false,
    run: async () => {
      process.stdout.write(`${packageVersion()}\n`);
      await Promise.resolve();
    },
  }),
  changes("selftest", "kill processes while they work, on this machine, and check that nothing is lost", {
    options: {
      seed: text("n", "seed of the run, to repeat it (default: random)"),
      minutes: count("m", "duration (default: 1)"),
      folder: text("path", "the file system to test (default: the temporary folder)"),
    },
    run: async (_, options) => await (await import("./commands/selftest.ts")).selftest(options),
  }),
];
