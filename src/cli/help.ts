/** The help texts. The overview is written by hand, everything else comes from the command table. */
import { type Command, type OptionSpec, optionName } from "./command.ts";
import { wrapWords } from "./text-width.ts";

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
