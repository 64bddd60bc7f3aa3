/**
 * Help and failures: the help texts, errors with a hint and an exit code, and what an unknown command may have meant.
 * The overview is written by hand, everything else comes from the command table. "Did you mean …?" only names commands
 * that change nothing, because people run a suggestion without reading it.
 */
import { type Command, type OptionSpec, optionName } from "./command.ts";
import { wrapWords } from "./output.ts";
import { HoldfastError, errorOutcome, reportError } from "../base/errors.ts";
import { redactText, redactValue } from "../base/redact.ts";
import { printable, closestMatch } from "../base/text.ts";

/** One line per command group, in the order in which a newcomer needs them. */
const OVERVIEW: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Talk: {
    chat: "talk to an agent in the terminal",
    "agent -m <text>": "send one message and print the answer",
    "message send": "send a message to a chat, without an agent",
  },
  "Look back": {
    sessions: "list sessions; show, rename, reset, export or archive one",
    "history [session]": "read a conversation",
    "search <words>": "find chats, Claude Code sessions and memory",
    "blame <file>": "which sessions changed a file, and why",
    handoff: "notes that one conversation leaves for the next",
  },
  "Claude Code": {
    cc: "list, choose, run and resume Claude Code sessions; costs",
    hooks: "call Holdfast or your own code when something happens",
    mcp: "give Claude Code your sessions, memory and search as tools",
  },
  "Run and watch": {
    gateway: "serve channels and the web page; start, stop, logs",
    ps: "what is running now",
    "status, health": "agents, sessions, channels; problems",
    "agents, channels": "add agents; connect Telegram, Discord, WhatsApp",
  },
  "Set up": {
    config: "show and change settings",
    "import openclaw": "take over sessions and settings of OpenClaw",
    migrate: "copy this home to PostgreSQL, for several machines, or back",
    "doctor, selftest": "find and repair damage; test crash safety on this machine",
    "completion <shell>": "completion for bash, zsh or fish",
    version: "print the version",
  },
};

/** By command or group. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": ["holdfast chat", "holdfast history", 'holdfast cc select "fix the login page"'],
  agent: ['holdfast agent -m "What is on today?"', 'holdfast agent -m "Summarize this" --session-id garden'],
  agents: ["holdfast agents list", "holdfast agents add helper --model anthropic/claude-sonnet-4-5"],
  cc: ["holdfast cc list", 'holdfast cc select "fix the login page"', "holdfast cc costs --by repo"],
  channels: ["holdfast channels status", "holdfast channels pending", "holdfast channels approve telegram <code>"],
  chat: ["holdfast chat", "holdfast chat --session garden", "echo hello | holdfast chat"],
  config: ["holdfast config list", "holdfast config get session.reset", "holdfast config set session.reset.atHour 5"],
  gateway: ["holdfast gateway", "holdfast gateway start", "holdfast gateway logs --follow"],
  handoff: ["holdfast handoff list", "holdfast handoff show --session garden"],
  history: ["holdfast history", "holdfast history garden --limit 10", "holdfast history --follow"],
  hooks: ["holdfast hooks list", "holdfast hooks install claude-code"],
  import: ["holdfast import openclaw --dry-run", "holdfast import openclaw ~/.openclaw"],
  migrate: ["holdfast migrate sqlite-to-postgres --dry-run"],
  search: ["holdfast search retry queue", 'holdfast search "rate limit" -redis --in claude --since 7d'],
  sessions: ["holdfast sessions", "holdfast sessions show garden", "holdfast sessions export garden --format md"],
};

export function programHelp(): string {
  const groups = Object.entries(OVERVIEW).map(([title, rows]) => [title, Object.entries(rows)] as const);
  const left = Math.max(...groups.flatMap(([, rows]) => rows.map(([name]) => name.length)));
  return [
    "Usage: holdfast <command> [options]",
    "",
    ...groups.flatMap(([title, rows]) => [title, ...columns(rows, left), ""]),
    ...examples(""),
    "",
    "`holdfast help <command>` explains a command and its options.",
  ].join("\n");
}

/** `sessions` shows its own options and the commands below it. */
export function commandHelp(name: string, commands: readonly Command[]): string {
  const own = commands.find((command) => command.name === name);
  const below = commands.filter((command) => command.name.startsWith(`${name} `));
  const options = Object.entries(own?.options ?? {});
  return [
    `Usage: holdfast ${own === undefined ? `${name} <command>` : usage(own)}${options.length > 0 ? " [options]" : ""}`,
    ...(own === undefined ? [] : ["", ...wrapWords(sentence(own.summary), helpWidth())]),
    ...section(
      "Commands",
      below.map((command) => [usage(command), command.summary]),
    ),
    ...section(
      "Options",
      options.map(([option, spec]) => [flags(option, spec), spec.description]),
    ),
    ...(EXAMPLES[name] === undefined ? [] : ["", ...examples(name)]),
  ].join("\n");
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ["", title, ...columns(rows)];
}

function examples(name: string): string[] {
  return ["Examples", ...(EXAMPLES[name] ?? []).map((line) => `  ${line}`)];
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function usage({ name, arguments: args }: Command): string {
  return [name, ...args].join(" ");
}

function flags(name: string, { type, value, short }: OptionSpec): string {
  const long = type === "flag" ? `--${optionName(name)}` : `--${optionName(name)} <${value ?? name}>`;
  return short === undefined ? long : `-${short}, ${long}`;
}

const MAX_WIDTH = 100;
const MAX_LEFT = 28;

/** 80 columns, or the terminal's width up to 100: longer lines are hard to read. */
function helpWidth(): number {
  return process.stdout.isTTY ? Math.max(40, Math.min(process.stdout.columns, MAX_WIDTH)) : 80;
}

/** A name that is too long for its column gets its own line. */
function columns(rows: readonly (readonly [string, string])[], left?: number): string[] {
  const fitting = rows.map(([name]) => name.length).filter((length) => length <= MAX_LEFT);
  const width = left ?? Math.max(0, ...fitting);
  const indent = " ".repeat(width + 4);
  return rows.flatMap(([name, text]) => {
    const lines = wrapWords(text, helpWidth() - indent.length);
    const head = `  ${name.padEnd(width)}  `;
    if (name.length > width) return [`  ${name}`, ...lines.map((line) => `${indent}${line}`)];
    return [`${head}${lines[0] ?? ""}`, ...lines.slice(1).map((line) => `${indent}${line}`)];
  });
}

export function reportFailure(error: unknown, options: { json: boolean }): number {
  if (options.json) {
    process.stderr.write(`${JSON.stringify({ error: redactValue(reportError(error)) })}\n`);
  } else {
    process.stderr.write(`${printable(redactText(describeFailure(error)))}\n`);
  }
  return errorOutcome(error).exitCode;
}

function describeFailure(error: unknown): string {
  if (error instanceof HoldfastError) {
    return `holdfast: ${error.message}${error.hint === undefined ? "" : `\n  ${error.hint}`}`;
  }
  // A bug: the stack helps to fix it.
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `holdfast: unexpected error, please report it\n${detail}`;
}

const ALL_COMMANDS = "`holdfast help` shows all commands.";

export function unknownCommand(args: readonly string[], commands: readonly Command[]): HoldfastError {
  const [option = ""] = args;
  const [first, second] = args.filter((word) => !word.startsWith("-"));
  if (option.startsWith("-")) return misplacedOption(option, first, commands);
  const below = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (first !== undefined && second !== undefined && below.length > 0) return unknownInGroup(first, second, below);
  const wanted = first ?? "";
  const hints = [...hintsForWord(inFull(wanted), commands), ALL_COMMANDS];
  return new HoldfastError("usage", "unknown-command", `unknown command '${wanted}'`, { hint: hints.join(" ") });
}

/** `--json sessions`, or an option without any command. */
function misplacedOption(option: string, first: string | undefined, commands: readonly Command[]): HoldfastError {
  const isCommand = commands.some(({ name }) => name === first || name.startsWith(`${first} `));
  const hint = isCommand ? `Options follow the command: holdfast ${first} ${option}` : ALL_COMMANDS;
  return new HoldfastError("usage", "unknown-option", `unknown option '${option}'`, { hint });
}

function unknownInGroup(group: string, word: string, commands: readonly Command[]): HoldfastError {
  const near = nearest(inFull(word), commands);
  const reader = commands.find(({ name, arguments: args }) => READERS.has(secondWord(name)) && args.length > 0);
  const hints = [
    ...(near?.onlyReads === true ? [`Did you mean ${near.name}?`] : []),
    ...(near === undefined && reader !== undefined ? [`To show one: \`holdfast ${reader.name} ${word}\`.`] : []),
    `\`holdfast ${group} --help\` shows its commands.`,
  ];
  return new HoldfastError("usage", "unknown-command", `unknown command '${group} ${word}'`, {
    hint: hints.join(" "),
  });
}

/** Commands that show one thing by name. */
const READERS = new Set(["show", "info"]);

function hintsForWord(word: string, commands: readonly Command[]): string[] {
  const same = commands.filter(({ name }) => singular(secondWord(name)) === singular(word) && name.includes(" "));
  if (same.length > 0) return hintsForGroups(same);
  const groups = [...new Set(commands.map(({ name }) => firstWord(name)))];
  const near = closestMatch(word, groups);
  if (near === undefined) return [];
  const command = commands.find(({ name }) => name === near);
  // A group that is no command itself shows its help.
  if (command === undefined || command.onlyReads) return [`Did you mean ${near}?`];
  return [`\`holdfast help ${near}\` explains \`${near}\`.`];
}

function inFull(word: string): string {
  return word === "ls" ? "list" : word;
}

function singular(word: string): string {
  return word.replace(/s$/, "");
}

/** `list` may mean `sessions list` or `cc list`; `stop` belongs to the gateway. */
function hintsForGroups(same: readonly Command[]): string[] {
  const safe = same.filter(({ onlyReads }) => onlyReads).map(({ name }) => name);
  if (safe.length > 0) return [`Did you mean ${inWords(safe.slice(0, MAX_NAMED))}?`];
  const groups = [...new Set(same.map(({ name }) => firstWord(name)))];
  return [`See ${inWords(groups.map((group) => `\`holdfast ${group} --help\``))}.`];
}

const MAX_NAMED = 3;

/** `a, b or c`. */
function inWords(names: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names);
}

function nearest(word: string, commands: readonly Command[]): Command | undefined {
  const near = closestMatch(
    word,
    commands.map(({ name }) => secondWord(name)),
  );
  return commands.find(({ name }) => secondWord(name) === near);
}

function firstWord(name: string): string {
  return name.split(" ")[0] ?? "";
}

function secondWord(name: string): string {
  return name.split(" ")[1] ?? "";
}
