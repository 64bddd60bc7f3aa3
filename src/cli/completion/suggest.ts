/**
 * What could come next on a command line, from the table of commands alone. Values that only this machine
 * knows (agents, sessions) are named here as a kind and looked up by whoever asked.
 */
import { type Command, type OptionSpec, type OptionSpecs, optionName, optionTakingValue } from "../command.ts";

export interface Suggestion {
  word: string;
  description?: string;
}

export type ValueKind = "agent" | "session" | "account" | "config-key" | "file" | "folder";

export interface Suggestions {
  words: Suggestion[];
  /** Values of this kind fit as well. */
  values?: ValueKind;
  /** What stands before the value in the same word: `--agent=`. */
  prefix: string;
  /** The start of the value that is typed already. */
  typed: string;
}

/** `line` is everything after `holdfast`, the word under the cursor last (empty when a new one begins). */
export function suggest(line: readonly string[], commands: readonly Command[]): Suggestions {
  const before = line.slice(0, -1);
  const typed = line.at(-1) ?? "";
  const command = findCommand(before, commands);
  const given = before.slice(command?.name.split(" ").length ?? 0);
  const specs = command?.options ?? {};

  const awaited = optionTakingValue(given.at(-1), specs);
  if (awaited !== undefined) return valuesOf(awaited, specs, { prefix: "", typed });
  const equals = /^(--[\w-]+)=(.*)$/s.exec(typed);
  const assigned = equals === null ? undefined : optionTakingValue(equals[1], specs);
  if (assigned !== undefined) return valuesOf(assigned, specs, { prefix: `${equals?.[1]}=`, typed: equals?.[2] ?? "" });

  const place = { prefix: "", typed };
  if (typed.startsWith("-")) return fitting({ ...place, words: optionWords(given, specs) });
  const below = nextWords(before, commands);
  const argument = command === undefined ? {} : argumentValues(command, given);
  return fitting({ ...place, ...argument, words: [...below, ...(argument.words ?? [])] });
}

function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const named = (count: number) => commands.find(({ name }) => name === words.slice(0, count).join(" "));
  return named(2) ?? named(1);
}

/** The names of commands that go on from here. */
function nextWords(before: readonly string[], commands: readonly Command[]): Suggestion[] {
  const prefix = before.map((word) => `${word} `).join("");
  const found = new Map<string, Suggestion>();
  for (const { name, summary } of commands) {
    if (!name.startsWith(prefix)) continue;
    const [word = "", ...rest] = name.slice(prefix.length).split(" ");
    if (rest.length === 0) found.set(word, { word, description: summary });
    else if (!found.has(word)) found.set(word, { word });
  }
  return [...found.values()];
}

function optionWords(given: readonly string[], specs: OptionSpecs): Suggestion[] {
  const isUsed = (name: string): boolean =>
    given.some((word) => word === `--${optionName(name)}` || word.startsWith(`--${optionName(name)}=`));
  const open = Object.entries(specs).filter(([name, { type }]) => type === "list" || !isUsed(name));
  return [
    ...open.map(([name, { description }]) => ({ word: `--${optionName(name)}`, description })),
    { word: "--help", description: "show the options" },
  ];
}

type Values = Pick<Suggestions, "values"> & { words?: Suggestion[] };

function valuesOf(name: string, specs: OptionSpecs, place: Pick<Suggestions, "prefix" | "typed">): Suggestions {
  const spec = specs[name];
  const { words = [], ...values } = spec === undefined ? {} : optionValues(name, spec);
  return fitting({ ...place, ...values, words });
}

const CHANNELS = ["telegram", "discord", "whatsapp"];

/** Options whose values are words that never change. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  channel: CHANNELS,
  kind: ["direct", "group", "global"],
  format: ["md", "jsonl", "json"],
  thinking: ["off", "minimal", "low", "medium", "high", "xhigh"],
  engine: ["claude-code", "model", "echo"],
  onRunning: ["queue", "fork", "refuse"],
  permissionMode: ["default", "acceptEdits", "plan", "bypassPermissions"],
};

const OPTION_VALUES: Readonly<Record<string, ValueKind>> = {
  agent: "agent",
  session: "session",
  sessionId: "session",
  account: "account",
  media: "file",
  repo: "folder",
  folder: "folder",
  workspace: "folder",
};

function optionValues(name: string, { value }: OptionSpec): Values {
  const words = CHOICES[name]?.map((word) => ({ word }));
  if (words !== undefined) return { words };
  const kind = OPTION_VALUES[name] ?? (value === "path" || value === "file" ? "file" : undefined);
  return kind === undefined ? {} : { values: kind };
}

function argumentValues({ name, arguments: args }: Command, given: readonly string[]): Values {
  const position = given.filter((word) => !word.startsWith("-")).length;
  const argument = args[position]?.replaceAll(/[<>[\].]/g, "");
  if (argument === "session") return { values: "session" };
  if (argument === "key" && name.startsWith("config ")) return { values: "config-key" };
  if (argument === "channel") return { words: CHANNELS.map((word) => ({ word })) };
  if (argument === "shell") return { words: ["bash", "zsh", "fish"].map((word) => ({ word })) };
  return {};
}

function fitting(suggestions: Suggestions): Suggestions {
  const words = suggestions.words.filter(({ word }) => word.startsWith(suggestions.typed));
  return { ...suggestions, words };
}
