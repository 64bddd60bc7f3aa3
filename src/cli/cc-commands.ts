/** The commands for Claude Code's sessions, hand-offs and hooks. Each loads its code when it runs. */
import { type Command, type OptionSpecs, defineCommand, AGENT, JSON_OUTPUT } from "./command.ts";

const COMMON = { ...JSON_OUTPUT, ...AGENT } as const satisfies OptionSpecs;

const REPO = {
  repo: { type: "text", value: "path", description: "the repo (default: the one of the current folder)" },
} as const satisfies OptionSpecs;

/** What decides between resuming a session and starting a new one. */
const SELECTION = {
  ...REPO,
  from: {
    type: "text",
    value: "whose",
    choices: ["own", "all"],
    description: "sessions that a task may resume: own (the agent's) or all (yours too; the default)",
  },
  label: { type: "text", value: "name", description: "name of a separate work stream in this repo" },
} as const satisfies OptionSpecs;

const LIST = {
  ...JSON_OUTPUT,
  ...REPO,
  all: { type: "flag", description: "sessions of every repo" },
  running: { type: "flag", description: "only running sessions" },
  agent: { type: "text", value: "id", description: "only sessions of this agent" },
  since: { type: "text", value: "time", description: "only sessions used since this time, e.g. 2d, 12h or 2026-11-15" },
  limit: { type: "count", value: "n", description: "maximum number of sessions (default: 50; with --json: all)" },
} as const satisfies OptionSpecs;

const RUN = {
  ...COMMON,
  ...SELECTION,
  model: { type: "text", value: "name", description: "the model (default: as configured)" },
  permissionMode: {
    type: "text",
    value: "mode",
    choices: ["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"],
    description: "what Claude Code may do without asking",
  },
  maxBudgetUsd: { type: "amount", value: "dollars", description: "cost limit of this run" },
  maxTurns: { type: "count", value: "n", description: "limit of model calls" },
  timeout: { type: "amount", value: "minutes", description: "time limit (default: as configured)" },
  resume: { type: "text", value: "id", description: "continue this session" },
  fork: { type: "text", value: "id", description: "continue a copy of this session" },
  fresh: { type: "flag", description: "start a new session" },
  onRunning: {
    type: "text",
    value: "what",
    choices: ["queue", "fork", "refuse"],
    description: "what to do when the repo is in use: queue, fork or refuse",
  },
  persistent: {
    type: "flag",
    description: "keep the session open for follow-ups (`cc send`) until idle or interrupted",
  },
  noHandoff: { type: "flag", description: "do not give a new session the hand-off of the previous one" },
} as const satisfies OptionSpecs;

export const CC_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "cc",
    onlyReads: true,
    summary: "pick a Claude Code session and resume it; without a terminal, list them",
    options: LIST,
    run: async (_, options) => await (await import("./picker/pick.ts")).pickSession(options),
  }),
  defineCommand({
    name: "cc list",
    onlyReads: true,
    summary: "list Claude Code sessions, running ones first, then the newest",
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/list.ts")).listNative(options),
  }),
  defineCommand({
    name: "cc info",
    onlyReads: true,
    arguments: ["<id>"],
    summary: "show one session: files, costs, compactions, forks, process",
    options: COMMON,
    run: async ([id = ""], options) => await (await import("./commands/cc/info.ts")).showNative(id, options),
  }),
  defineCommand({
    name: "cc show",
    onlyReads: true,
    arguments: ["<id>"],
    summary: "read the conversation of one session, secrets redacted",
    options: {
      ...COMMON,
      limit: { type: "count", value: "n", description: "how many messages from the end (default: 50)" },
      all: { type: "flag", description: "all messages and tool output" },
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/show.ts")).showNativeSession(id, options),
  }),
  defineCommand({
    name: "cc export",
    onlyReads: true,
    arguments: ["<id>"],
    summary: "write the conversation of one session to a file or stdout, secrets redacted",
    options: {
      ...AGENT,
      format: { type: "text", choices: ["md", "html", "jsonl"], description: "md, html or jsonl (default: md)" },
      output: { type: "text", value: "file", description: "write to this file" },
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/show.ts")).exportNativeSession(id, options),
  }),
  defineCommand({
    name: "cc status",
    onlyReads: true,
    arguments: ["[repo]"],
    summary: "show the state of a project: git, GitHub, sessions, documents",
    options: COMMON,
    run: async ([repo], options) => await (await import("./commands/cc/status.ts")).showStatus(repo, options),
  }),
  defineCommand({
    name: "cc select",
    onlyReads: true,
    arguments: ["<task>"],
    summary: "show which session fits a task, and why; starts nothing",
    options: {
      ...COMMON,
      ...SELECTION,
      limit: { type: "count", value: "n", description: "how many candidates to show (default: 10)" },
    },
    run: async ([task = ""], options) => await (await import("./commands/cc/select.ts")).explainChoice(task, options),
  }),
  defineCommand({
    name: "cc eval",
    onlyReads: true,
    arguments: ["[file]"],
    summary: "measure how often selection is right on labelled cases or on your own decisions",
    options: {
      ...COMMON,
      history: { type: "flag", description: "the recorded decisions in place of a file" },
      wrong: { type: "flag", description: "also list the cases that were decided wrong" },
    },
    run: async ([file], options) => await (await import("./commands/cc/select.ts")).evaluate(file, options),
  }),
  defineCommand({
    name: "cc run",
    arguments: ["<task>"],
    summary: "give Claude Code a task, in the session that fits it or in a new one",
    options: RUN,
    run: async ([task = ""], options) => await (await import("./commands/cc/run.ts")).runTask(task, options),
  }),
  defineCommand({
    name: "cc send",
    arguments: ["<id>", "<text>"],
    summary: "send a follow-up to a session that `cc run --persistent` keeps open",
    options: COMMON,
    run: async ([id = "", text = ""], options) =>
      await (await import("./commands/cc/run.ts")).sendText(id, text, options),
  }),
  defineCommand({
    name: "cc attach",
    arguments: ["<id>"],
    summary: "open a session in this terminal, as its only writer",
    options: {
      ...AGENT,
      fork: { type: "flag", description: "open a copy and leave the session as it is" },
      chat: { type: "flag", description: "open a chat's session itself; the agent sees what you write" },
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/attach.ts")).attach(id, options),
  }),
  defineCommand({
    name: "cc kill",
    arguments: ["<id>"],
    summary: "end the process of a session",
    options: {
      ...COMMON,
      force: { type: "flag", isRisky: true, description: "also end a `claude` that Holdfast did not start" },
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/run.ts")).kill(id, options),
  }),
  defineCommand({
    name: "cc costs",
    onlyReads: true,
    summary: "show tokens and costs of every session, each message counted once",
    options: {
      ...JSON_OUTPUT,
      by: {
        type: "text",
        value: "what",
        choices: ["day", "repo", "model", "session"],
        description: "day, repo, model or session (default: day)",
      },
      since: { type: "text", value: "time", description: "only whole days since this time, e.g. 30d or 2026-11-01" },
    },
    run: async (_, options) => await (await import("./commands/cc/costs.ts")).showCosts(options),
  }),
  defineCommand({
    name: "cc archive",
    summary: "copy transcripts that Claude Code is about to delete",
    options: {
      ...COMMON,
      dryRun: { type: "flag", description: "only show what would be copied" },
      days: {
        type: "count",
        value: "n",
        description: "copy sessions that would be deleted within this many days (default: 7)",
      },
      redact: { type: "flag", description: "replace secrets in the copies" },
      restore: { type: "text", value: "id", description: "write an archived session to a folder" },
      to: { type: "text", value: "folder", description: "the folder for --restore" },
    },
    run: async (_, options) => await (await import("./commands/cc/archive.ts")).archive(options),
  }),
  defineCommand({
    name: "cc watch",
    onlyReads: true,
    summary: "show the list and keep it up to date",
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/watch.ts")).watchSessions(options),
  }),
];

function session(fallback: string) {
  return {
    session: {
      type: "text",
      description: `key, label or id, also of a Claude Code session (default: ${fallback})`,
    },
  } as const satisfies OptionSpecs;
}

export const HANDOFF_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "handoff show",
    onlyReads: true,
    summary: "show a hand-off as Markdown",
    options: { ...COMMON, ...session("the one with the newest hand-off") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).showHandoff(options),
  }),
  defineCommand({
    name: "handoff capture",
    summary: "capture a hand-off now from the transcript, also of an ended Claude Code session",
    options: { ...COMMON, ...session("the one used last") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).captureHandoff(options),
  }),
  defineCommand({
    name: "handoff clear",
    summary: "delete a hand-off; the transcript stays",
    options: { ...COMMON, ...session("the one with the newest hand-off") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).clearHandoff(options),
  }),
  defineCommand({
    name: "handoff list",
    onlyReads: true,
    summary: "list hand-offs, newest first",
    options: {
      ...JSON_OUTPUT,
      ...AGENT,
      project: { type: "text", value: "name", description: "only hand-offs of this project" },
      limit: { type: "count", value: "n", description: "maximum number of hand-offs (default: 50)" },
    },
    run: async (_, options) => await (await import("./commands/handoff.ts")).listHandoffs(options),
  }),
  defineCommand({
    name: "handoff resume",
    summary: "give a hand-off to the next turn again; an expired one if you name its session",
    options: { ...COMMON, ...session("the one with the newest hand-off") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).resumeHandoff(options),
  }),
];

const HOOKS = {
  ...JSON_OUTPUT,
  agent: {
    type: "text",
    value: "id",
    description: "the agent whose workspace is searched (default: the configured one)",
  },
} as const satisfies OptionSpecs;

export const HOOK_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "hooks list",
    onlyReads: true,
    summary: "list hooks and their state",
    options: HOOKS,
    run: async (_, options) => await (await import("./commands/hooks.ts")).listHooks(options),
  }),
  defineCommand({
    name: "hooks enable",
    arguments: ["<name>"],
    summary: "turn a hook on; a workspace hook is pinned to its current files",
    options: {
      ...HOOKS,
      source: {
        type: "text",
        value: "where",
        choices: ["bundled", "home", "workspace"],
        description: "bundled, home or workspace, if several hooks have this name",
      },
    },
    run: async ([name = ""], options) => await (await import("./commands/hooks.ts")).enableHook(name, options),
  }),
  defineCommand({
    name: "hooks disable",
    arguments: ["<name>"],
    summary: "turn a hook off",
    options: HOOKS,
    run: async ([name = ""], options) => await (await import("./commands/hooks.ts")).disableHook(name, options),
  }),
  defineCommand({
    name: "hooks check",
    onlyReads: true,
    arguments: ["[name]"],
    summary: "check that hooks can run; exit code 5 if one cannot",
    options: HOOKS,
    run: async ([name], options) => await (await import("./commands/hooks.ts")).checkHook(name, options),
  }),
];

const PLACE = {
  ...JSON_OUTPUT,
  project: { type: "flag", description: "use .claude/settings.json of this repo (default: your own settings)" },
} as const satisfies OptionSpecs;

export const CLAUDE_HOOK_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "hooks install",
    arguments: ["<program>"],
    summary: "make claude-code call Holdfast when sessions start, compact and end",
    options: PLACE,
    run: async ([program = ""], options) => await (await import("./commands/hooks.ts")).install(program, options),
  }),
  defineCommand({
    name: "hooks uninstall",
    arguments: ["<program>"],
    summary: "remove these hooks from the settings of claude-code",
    options: PLACE,
    run: async ([program = ""], options) => await (await import("./commands/hooks.ts")).uninstall(program, options),
  }),
  {
    name: "hook",
    arguments: ["<event>"],
    summary: "called by claude-code with the event on stdin; always succeeds",
    options: {},
    onlyReads: false,
    // No input is an error here.
    run: async (line) => await (await import("./commands/hook.ts")).hook(line[0]),
  },
];
