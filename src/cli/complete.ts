/**
 * `holdfast __complete <words…>`: the completion scripts call it on every Tab. The first line of its output says whether
 * files or folders match too; then one word a line follows, with a tab and a description. `suggest` uses only the
 * command table; values that depend on this machine are looked up afterwards.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../base/package.ts";
import { CHANNEL_NAMES } from "../config/choices.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import {
  type Command,
  type OptionSpec,
  type OptionSpecs,
  findCommand,
  optionName,
  optionTakingValue,
  parseChoice,
} from "./command.ts";
import { type Setup, knownAgentIds, loadSetup, withAgent } from "./context.ts";
import { printableLine } from "../base/text.ts";

export async function complete(line: readonly string[], commands: readonly Command[]): Promise<void> {
  const { words, values, prefix, typed } = suggest(line, commands);
  const found = values === undefined ? [] : await lookUp(values, line).catch(() => []);
  const fitting = [...words, ...found.filter(({ word }) => word.startsWith(typed))];
  const head = values === "file" || values === "folder" ? `:${values}` : ":words";
  process.stdout.write([head, ...fitting.map((suggestion) => toLine(suggestion, prefix)), ""].join("\n"));
}

export interface Suggestion {
  word: string;
  description?: string | undefined;
}

export type ValueKind = "agent" | "session" | "account" | "config-key" | "file" | "folder";

export interface Suggestions {
  words: Suggestion[];
  /** Values of this kind fit as well. */
  values?: ValueKind | undefined;
  /** The part of the word before the value: `--agent=`. */
  prefix: string;
  /** The part of the value that is typed already. */
  typed: string;
}

/** `line` is everything after `holdfast`; its last word is the one under the cursor, perhaps empty. */
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

type Values = Pick<Suggestions, "values"> & { words?: Suggestion[] | undefined };

function valuesOf(name: string, specs: OptionSpecs, place: Pick<Suggestions, "prefix" | "typed">): Suggestions {
  const spec = specs[name];
  const { words = [], ...values } = spec === undefined ? {} : optionValues(name, spec);
  return fitting({ ...place, ...values, words });
}

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

function optionValues(name: string, { value, choices }: OptionSpec): Values {
  const words = choices ?? (name === "channel" ? CHANNEL_NAMES : undefined);
  if (words !== undefined) return { words: words.map((word) => ({ word })) };
  const kind = OPTION_VALUES[name] ?? (value === "path" || value === "file" ? "file" : undefined);
  return kind === undefined ? {} : { values: kind };
}

function argumentValues({ name, arguments: args }: Command, given: readonly string[]): Values {
  const position = given.filter((word) => !word.startsWith("-")).length;
  const argument = args[position]?.replaceAll(/[<>[\].]/g, "");
  if (argument === "session") return { values: "session" };
  if (argument === "key" && name.startsWith("config ")) return { values: "config-key" };
  if (argument === "channel") return { words: CHANNEL_NAMES.map((word) => ({ word })) };
  if (argument === "shell") return { words: SHELLS.map((word) => ({ word })) };
  return {};
}

function fitting(suggestions: Suggestions): Suggestions {
  const words = suggestions.words.filter(({ word }) => word.startsWith(suggestions.typed));
  return { ...suggestions, words };
}

/** Labels and keys are untrusted: they must not end the line or move the cursor. */
function toLine({ word, description }: Suggestion, prefix: string): string {
  const text = `${prefix}${printableLine(word)}`;
  return description === undefined ? text : `${text}\t${printableLine(description, 80)}`;
}

const MAX_SESSIONS = 100;

async function lookUp(kind: ValueKind, line: readonly string[]): Promise<Suggestion[]> {
  switch (kind) {
    case "agent":
      return (await knownAgentIds(await loadSetup())).map((word) => ({ word }));
    case "session":
      return await sessionNames(line.includes("--agent") ? line[line.indexOf("--agent") + 1] : undefined);
    case "account":
      return accountIds(await loadSetup()).map((word) => ({ word }));
    case "config-key":
      return keysOf(DEFAULT_CONFIG, "").map((word) => ({ word }));
    default:
      return [];
  }
}

/** Labels, which are shorter to type, and keys. */
async function sessionNames(agent: string | undefined): Promise<Suggestion[]> {
  return await withAgent({ agent }, async ({ store }) => {
    const { sessions } = await store.list({ limit: MAX_SESSIONS, fields: ["label"] });
    const labels = sessions.flatMap(({ key, entry: { label } }) =>
      label === undefined || /\s/.test(label) ? [] : [{ word: label, description: key }],
    );
    const keys = sessions.map(({ key, entry: { label } }) => ({ word: key, description: label }));
    return [...labels, ...keys];
  });
}

function accountIds({ config: { channels } }: Setup): string[] {
  return [...new Set(Object.values(channels).flatMap((accounts) => Object.keys(accounts)))].toSorted();
}

function keysOf(value: unknown, prefix: string): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [`${prefix}${name}`, ...keysOf(inner, `${prefix}${name}.`)]);
}

const SHELLS = ["bash", "zsh", "fish"] as const;

/** Prints the script that makes a shell call `__complete`. It asks the installed program, so it is never out of date. */
export async function printCompletion(shell: string): Promise<void> {
  const known = parseChoice("The shell", shell, SHELLS);
  process.stdout.write(readFileSync(dataFile(`completion.${known}`), "utf8"));
  await Promise.resolve();
}
