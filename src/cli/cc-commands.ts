/** The commands for Claude Code's sessions. The code behind a command is loaded when it is called. */
import { type Command, type OptionSpecs, defineCommand } from "./command.ts";
import { AGENT, JSON_OUTPUT } from "./common-options.ts";

const COMMON = { ...JSON_OUTPUT, ...AGENT } as const satisfies OptionSpecs;

const REPO = {
  repo: { type: "text", value: "path", description: "the repo (default: that of the working folder)" },
} as const satisfies OptionSpecs;

const LIST = {
  ...JSON_OUTPUT,
  ...REPO,
  all: { type: "flag", description: "sessions of every repo" },
  running: { type: "flag", description: "only those that a living process has" },
  agent: { type: "text", value: "id", description: "only sessions of this agent" },
  since: { type: "text", value: "time", description: "only those used since, e.g. 2d, 12h or 2026-11-15" },
  limit: { type: "count", value: "n", description: "at most this many (default: 50; with --json: all)" },
} as const satisfies OptionSpecs;

const RUN = {
  ...COMMON,
  ...REPO,
  label: { type: "text", value: "name", description: "a line of work of its own in this repo" },
  model: { type: "text", value: "name", description: "the model (default: as configured)" },
  permissionMode: { type: "text", value: "mode", description: "what Claude Code may do without asking" },
  maxBudgetUsd: { type: "text", value: "dollars", description: "what this run may spend" },
  maxTurns: { type: "count", value: "n", description: "how many model calls it may take" },
  timeout: { type: "text", value: "minutes", description: "how long it may take (default: as configured)" },
  resume: { type: "text", value: "id", description: "go on with this session" },
  fork: { type: "text", value: "id", description: "go on with a copy of this session" },
  fresh: { type: "flag", description: "start a new session" },
  onRunning: { type: "text", value: "what", description: "when the repo is in use: queue, fork or refuse" },
  persistent: { type: "flag", description: "stay for follow-ups (`cc send`) until idle or interrupted" },
  noHandoff: { type: "flag", description: "do not tell a new session what the one before it in the repo left" },
} as const satisfies OptionSpecs;

const runTask: Command = defineCommand({
  name: "cc run",
  arguments: ["<task>"],
  summary: "give Claude Code a task, in the session that fits it or in a new one",
  options: RUN,
  run: async ([task = ""], options) => await (await import("./commands/cc/run.ts")).runTask(task, options),
});

export const CC_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "cc",
    summary: "pick a Claude Code session and resume it; without a terminal, list them",
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/pick.ts")).pickSession(options),
  }),
  defineCommand({
    name: "cc list",
    summary: "list Claude Code sessions, running ones first, then the newest",
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/list.ts")).listNative(options),
  }),
  defineCommand({
    name: "cc info",
    arguments: ["<id>"],
    summary: "everything about one session: files, costs, compactions, forks, who has it",
    options: COMMON,
    run: async ([id = ""], options) => await (await import("./commands/cc/info.ts")).showNative(id, options),
  }),
  defineCommand({
    name: "cc status",
    arguments: ["[repo]"],
    summary: "what a project looks like now: git, GitHub, sessions, documents",
    options: COMMON,
    run: async ([repo], options) => await (await import("./commands/cc/status.ts")).showStatus(repo, options),
  }),
  defineCommand({
    name: "cc select",
    arguments: ["<task>"],
    summary: "which session fits a task, and why; starts nothing",
    options: {
      ...COMMON,
      ...REPO,
      label: { type: "text", value: "name", description: "a line of work of its own in this repo" },
      limit: { type: "count", value: "n", description: "how many candidates to show (default: 10)" },
    },
    run: async ([task = ""], options) => await (await import("./commands/cc/select.ts")).explainChoice(task, options),
  }),
  defineCommand({
    name: "cc eval",
    arguments: ["<file>"],
    summary: "how often selection decides rightly on labelled cases",
    options: {
      ...COMMON,
      wrong: { type: "flag", description: "also list the cases that the offline scorer or the model got wrong" },
    },
    run: async ([file = ""], options) => await (await import("./commands/cc/eval.ts")).evaluate(file, options),
  }),
  runTask,
  { ...runTask, name: "cc spawn", summary: "the same as cc run" },
  defineCommand({
    name: "cc send",
    arguments: ["<id>", "<text>"],
    summary: "a follow-up to a session that `cc run --persistent` keeps open",
    options: COMMON,
    run: async ([id = "", text = ""], options) =>
      await (await import("./commands/cc/send.ts")).sendText(id, text, options),
  }),
  defineCommand({
    name: "cc attach",
    arguments: ["<id>"],
    summary: "open a session in this terminal, as its only writer",
    options: { ...AGENT, fork: { type: "flag", description: "open a copy; the session itself stays as it is" } },
    run: async ([id = ""], options) => await (await import("./commands/cc/attach.ts")).attach(id, options),
  }),
  defineCommand({
    name: "cc kill",
    arguments: ["<id>"],
    summary: "end what runs for a session",
    options: { ...COMMON, force: { type: "flag", description: "also a `claude` that Holdfast did not start" } },
    run: async ([id = ""], options) => await (await import("./commands/cc/kill.ts")).kill(id, options),
  }),
  defineCommand({
    name: "cc costs",
    summary: "tokens and costs of every session, each message counted once",
    options: {
      ...JSON_OUTPUT,
      by: { type: "text", value: "what", description: "day, repo, model or session (default: day)" },
      since: { type: "text", value: "time", description: "only whole days since, e.g. 30d or 2026-11-01" },
    },
    run: async (_, options) => await (await import("./commands/cc/costs.ts")).showCosts(options),
  }),
  defineCommand({
    name: "cc archive",
    summary: "copy transcripts that Claude Code is about to delete",
    options: {
      ...COMMON,
      dryRun: { type: "flag", description: "only say what would be copied" },
      days: { type: "count", value: "n", description: "what would be deleted within so many days (default: 7)" },
      redact: { type: "flag", description: "replace secrets in the copies" },
      restore: { type: "text", value: "id", description: "write an archived session out again" },
      to: { type: "text", value: "folder", description: "where to, with --restore" },
    },
    run: async (_, options) => await (await import("./commands/cc/archive.ts")).archive(options),
  }),
  defineCommand({
    name: "cc watch",
    summary: "the list, kept up to date until it is interrupted",
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/watch.ts")).watchSessions(options),
  }),
];
