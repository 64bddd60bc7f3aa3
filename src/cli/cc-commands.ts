/** The commands for Claude Code's sessions, hand-offs and hooks. Each loads its code when it runs. */
import { type Command, AGENT, amount, changes, choice, count, flag, reads, text } from "./command.ts";

const REPO = { repo: text("path", "the repo (default: the one of the current folder)") };

/** What decides between resuming a session and starting a new one. */
const SELECTION = {
  ...REPO,
  from: choice(
    "whose",
    ["own", "all"],
    "sessions that a task may resume: own (the agent's) or all (yours too; the default)",
  ),
  label: text("name", "name of a separate work stream in this repo"),
};

const LIST = {
  ...REPO,
  all: flag("sessions of every repo"),
  running: flag("only running sessions"),
  agent: text("id", "only sessions of this agent"),
  since: text("time", "only sessions used since this time, e.g. 2d, 12h or 2026-11-15"),
  limit: count("n", "maximum number of sessions (default: 50; with --json: all)"),
};

const RUN = {
  ...AGENT,
  ...SELECTION,
  model: text("name", "the model (default: as configured)"),
  permissionMode: choice(
    "mode",
    ["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"],
    "what Claude Code may do without asking",
  ),
  maxBudgetUsd: amount("dollars", "cost limit of this run"),
  maxTurns: count("n", "limit of model calls"),
  timeout: amount("minutes", "time limit (default: as configured)"),
  resume: text("id", "continue this session"),
  fork: text("id", "continue a copy of this session"),
  fresh: flag("start a new session"),
  onRunning: choice("what", ["queue", "fork", "refuse"], "what to do when the repo is in use: queue, fork or refuse"),
  worktree: flag("work in a new worktree, alongside other work in the repo"),
  persistent: flag("keep the session open for follow-ups (`cc send`) until idle or interrupted"),
  noHandoff: flag("do not give a new session the hand-off of the previous one"),
};

export const CC_COMMANDS: readonly Command[] = [
  reads("cc", "pick a Claude Code session and resume it; without a terminal, list them", {
    options: LIST,
    run: async (_, options) => await (await import("./picker/pick.ts")).pickSession(options),
  }),
  reads("cc list", "list Claude Code sessions, running ones first, then the newest", {
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/list.ts")).listNative(options),
  }),
  reads("cc info <id>", "show one session: files, costs, compactions, forks, process", {
    options: AGENT,
    run: async ([id = ""], options) => await (await import("./commands/cc/info.ts")).showNative(id, options),
  }),
  reads("cc show <id>", "read the conversation of one session, secrets redacted", {
    options: {
      ...AGENT,
      limit: count("n", "how many messages from the end (default: 50)"),
      all: flag("all messages and tool output"),
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/show.ts")).showNativeSession(id, options),
  }),
  reads("cc export <id>", "write the conversation of one session to a file or stdout, secrets redacted", {
    json: false,
    options: {
      ...AGENT,
      format: choice("format", ["md", "html", "jsonl"], "md, html or jsonl (default: md)"),
      output: text("file", "write to this file"),
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/show.ts")).exportNativeSession(id, options),
  }),
  reads("cc status [repo]", "show the state of a project: git, GitHub, sessions, documents", {
    options: AGENT,
    run: async ([repo], options) => await (await import("./commands/cc/status.ts")).showStatus(repo, options),
  }),
  reads("cc select <task>", "show which session fits a task, and why; starts nothing", {
    options: {
      ...AGENT,
      ...SELECTION,
      limit: count("n", "how many candidates to show (default: 10)"),
    },
    run: async ([task = ""], options) => await (await import("./commands/cc/select.ts")).explainChoice(task, options),
  }),
  reads("cc eval [file]", "measure how often selection is right on labelled cases or on your own decisions", {
    options: {
      ...AGENT,
      history: flag("the recorded decisions in place of a file"),
      wrong: flag("also list the cases that were decided wrong"),
    },
    run: async ([file], options) => await (await import("./commands/cc/select.ts")).evaluate(file, options),
  }),
  changes("cc run <task>", "give Claude Code a task, in the session that fits it or in a new one", {
    options: RUN,
    run: async ([task = ""], options) => await (await import("./commands/cc/run.ts")).runTask(task, options),
  }),
  changes("cc send <id> <text>", "send a follow-up to a session that `cc run --persistent` keeps open", {
    options: AGENT,
    run: async ([id = "", text = ""], options) =>
      await (await import("./commands/cc/run.ts")).sendText(id, text, options),
  }),
  changes("cc attach <id>", "open a session in this terminal, as its only writer", {
    json: false,
    options: {
      ...AGENT,
      fork: flag("open a copy and leave the session as it is"),
      chat: flag("open a chat's session itself; the agent sees what you write"),
    },
    run: async ([id = ""], options) => await (await import("./commands/cc/attach.ts")).attach(id, options),
  }),
  changes("cc kill <id>", "end the process of a session", {
    options: { ...AGENT, force: { ...flag("also end a `claude` that Holdfast did not start"), isRisky: true } },
    run: async ([id = ""], options) => await (await import("./commands/cc/run.ts")).kill(id, options),
  }),
  reads("cc costs", "show tokens and costs of every session, each message counted once", {
    options: {
      by: choice("what", ["day", "repo", "model", "session"], "day, repo, model or session (default: day)"),
      since: text("time", "only whole days since this time, e.g. 30d or 2026-11-01"),
    },
    run: async (_, options) => await (await import("./commands/cc/costs.ts")).showCosts(options),
  }),
  changes("cc archive", "copy transcripts that Claude Code is about to delete", {
    options: {
      ...AGENT,
      dryRun: flag("only show what would be copied"),
      days: count("n", "copy sessions that would be deleted within this many days (default: 7)"),
      redact: flag("replace secrets in the copies"),
      restore: text("id", "write an archived session to a folder"),
      to: text("folder", "the folder for --restore"),
    },
    run: async (_, options) => await (await import("./commands/cc/archive.ts")).archive(options),
  }),
  reads("cc watch", "show the list and keep it up to date", {
    options: LIST,
    run: async (_, options) => await (await import("./commands/cc/watch.ts")).watchSessions(options),
  }),
];

function session(fallback: string) {
  return { session: text("session", `key, label or id, also of a Claude Code session (default: ${fallback})`) };
}

export const HANDOFF_COMMANDS: readonly Command[] = [
  reads("handoff show", "show a hand-off as Markdown", {
    options: { ...AGENT, ...session("the one with the newest hand-off") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).showHandoff(options),
  }),
  changes("handoff capture", "capture a hand-off now from the transcript, also of an ended Claude Code session", {
    options: { ...AGENT, ...session("the one used last") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).captureHandoff(options),
  }),
  changes("handoff clear", "delete a hand-off; the transcript stays", {
    options: { ...AGENT, ...session("the one with the newest hand-off") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).clearHandoff(options),
  }),
  reads("handoff list", "list hand-offs, newest first", {
    options: {
      ...AGENT,
      project: text("name", "only hand-offs of this project"),
      limit: count("n", "maximum number of hand-offs (default: 50)"),
    },
    run: async (_, options) => await (await import("./commands/handoff.ts")).listHandoffs(options),
  }),
  changes("handoff resume", "give a hand-off to the next turn again; an expired one if you name its session", {
    options: { ...AGENT, ...session("the one with the newest hand-off") },
    run: async (_, options) => await (await import("./commands/handoff.ts")).resumeHandoff(options),
  }),
];

const HOOKS = { agent: text("id", "the agent whose workspace is searched (default: the configured one)") };

export const HOOK_COMMANDS: readonly Command[] = [
  reads("hooks list", "list hooks and their state", {
    options: HOOKS,
    run: async (_, options) => await (await import("./commands/hooks.ts")).listHooks(options),
  }),
  changes("hooks enable <name>", "turn a hook on; a workspace hook is pinned to its current files", {
    options: {
      ...HOOKS,
      source: choice(
        "where",
        ["bundled", "home", "workspace"],
        "bundled, home or workspace, if several hooks have this name",
      ),
    },
    run: async ([name = ""], options) => await (await import("./commands/hooks.ts")).enableHook(name, options),
  }),
  changes("hooks disable <name>", "turn a hook off", {
    options: HOOKS,
    run: async ([name = ""], options) => await (await import("./commands/hooks.ts")).disableHook(name, options),
  }),
  reads("hooks check [name]", "check that hooks can run; exit code 5 if one cannot", {
    options: HOOKS,
    run: async ([name], options) => await (await import("./commands/hooks.ts")).checkHook(name, options),
  }),
];

const PLACE = { project: flag("use .claude/settings.json of this repo (default: your own settings)") };

export const CLAUDE_HOOK_COMMANDS: readonly Command[] = [
  changes("hooks install <program>", "make claude-code call Holdfast when sessions start, compact and end", {
    options: PLACE,
    run: async ([program = ""], options) => await (await import("./commands/hooks.ts")).install(program, options),
  }),
  changes("hooks uninstall <program>", "remove these hooks from the settings of claude-code", {
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
