/**
 * A command: its name, arguments, options and the code that runs it. Node's own `parseArgs` does the parsing;
 * a command-line library would take a fifth of the time that a command may need to start
 * (docs/adr/0004-dependencies.md).
 */
import { nodeUtil } from "../base/builtin.ts";
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import { closestMatch } from "../base/text.ts";

export interface Command {
  /** `sessions` or `sessions show`. */
  readonly name: string;
  /** In the order of the command line: `<required>`, `[optional]`, `[many...]`, `<many...>`. */
  readonly arguments: readonly string[];
  readonly summary: string;
  readonly options: OptionSpecs;
  /** Only such a command is suggested for a mistyped one: people run a suggestion without reading it. */
  readonly onlyReads: boolean;
  run(args: readonly string[]): Promise<void>;
}

/** Options by their names in code; `allAgents` is `--all-agents` on the command line. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface OptionSpec {
  type: "flag" | "text" | "count" | "amount" | "list";
  description: string;
  value?: string | undefined;
  /** One letter: `-m` for `--message`. */
  short?: string | undefined;
  /** The only values that the option takes. Optional. */
  choices?: readonly string[] | undefined;
  /** The option changes or removes something, so it is never suggested for a mistyped one. */
  isRisky?: true | undefined;
}

/** Options of a command, by the type of their values. */
export type Flags<Name extends string> = { [Key in Name]?: boolean | undefined };
export type Texts<Name extends string> = { [Key in Name]?: string | undefined };
export type Counts<Name extends string> = { [Key in Name]?: number | undefined };

type Given<Specs extends OptionSpecs> = { [Name in keyof Specs]?: ValueOf<Specs[Name]> };
type ValueOf<Spec extends OptionSpec> = Spec extends { choices: readonly (infer Choice)[] }
  ? Choice
  : { flag: true; text: string; count: number; amount: number; list: string[] }[Spec["type"]];

/** `value` is the name of the option's value in the help. */
export const flag = (description: string) => ({ type: "flag", description }) as const;
export const text = (value: string, description: string) => ({ type: "text", value, description }) as const;
/** A whole number above 0. */
export const count = (value: string, description: string) => ({ type: "count", value, description }) as const;
/** Any number above 0. */
export const amount = (value: string, description: string) => ({ type: "amount", value, description }) as const;
/** May be repeated. */
export const list = (value: string, description: string) => ({ type: "list", value, description }) as const;

export function choice<const Choice extends string>(value: string, choices: readonly Choice[], description: string) {
  return { type: "text", value, choices, description } as const;
}

const JSON_OUTPUT = { json: flag("print JSON") };
export const AGENT = { agent: text("id", "the agent (default: the configured one)") };

interface Definition<Specs extends OptionSpecs> {
  options?: Specs | undefined;
  /** False: the command has no `--json`. Default: true. */
  json?: false | undefined;
  /** `-word` is an argument, not an option. Default: false. */
  takesMinusWords?: boolean | undefined;
  run: (given: readonly string[], options: Given<Specs & typeof JSON_OUTPUT>) => Promise<void>;
}

/** A command that changes nothing. `usage` is its name and its arguments: `sessions show <session>`. */
export function reads<Specs extends OptionSpecs>(
  usage: string,
  summary: string,
  definition: Definition<Specs>,
): Command {
  return { ...changes(usage, summary, definition), onlyReads: true };
}

export function changes<Specs extends OptionSpecs>(
  usage: string,
  summary: string,
  { options: own, json, takesMinusWords, run }: Definition<Specs>,
): Command {
  const options: OptionSpecs = json === false ? { ...own } : { ...JSON_OUTPUT, ...own };
  const words = usage.split(" ");
  const args = words.filter((word) => /^[<[]/.test(word));
  const name = words.slice(0, words.length - args.length).join(" ");
  return {
    name,
    arguments: args,
    summary,
    options,
    onlyReads: false,
    run: async (line) => {
      const { positionals, values } = parseLine(name, takesMinusWords ? minusWordsLast(line, options) : line, options);
      checkArguments(name, args, positionals, options);
      await run(positionals, toGiven(options, values) as Given<Specs & typeof JSON_OUTPUT>);
    },
  };
}

/** Two words before one: `sessions show` before `sessions`. */
export function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const named = (count: number) => commands.find(({ name }) => name === words.slice(0, count).join(" "));
  return named(2) ?? named(1);
}

export function optionName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function parseLine(command: string, line: readonly string[], specs: OptionSpecs) {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [
      optionName(name),
      {
        type: type === "flag" ? ("boolean" as const) : ("string" as const),
        multiple: type === "list",
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    return nodeUtil().parseArgs({ args: joinNegativeValues(line, specs), options, allowPositionals: true });
  } catch (error) {
    const safe = Object.keys(specs).filter((name) => specs[name]?.isRisky !== true);
    throw toUsageError(error, command, safe.map(optionName));
  }
}

/** In `-t -100123` the second word is a Telegram group, not an option `-1`. */
function joinNegativeValues(line: readonly string[], specs: OptionSpecs): string[] {
  const joined: string[] = [];
  for (const word of line) {
    const before = joined.includes("--") ? undefined : optionTakingValue(joined.at(-1), specs);
    const isText = before !== undefined && specs[before]?.type !== "count";
    if (!isText || !/^-\d/.test(word)) joined.push(word);
    else joined.splice(-1, 1, `--${optionName(before)}=${word}`);
  }
  return joined;
}

/** Behind `--`, where nothing is an option. */
function minusWordsLast(line: readonly string[], specs: OptionSpecs): string[] {
  const end = line.includes("--") ? line.indexOf("--") : line.length;
  const isMinusWord = (word: string, index: number): boolean =>
    index < end && /^-[^-]/.test(word) && optionTakingValue(line[index - 1], specs) === undefined;
  const others = line.slice(0, end).filter((word, index) => !isMinusWord(word, index));
  return [...others, "--", ...line.filter(isMinusWord), ...line.slice(end + 1)];
}

/** The option that the word names, if the next word is its value. */
export function optionTakingValue(word: string | undefined, specs: OptionSpecs): string | undefined {
  return Object.entries(specs).find(
    ([name, { type, short }]) =>
      type !== "flag" && (word === `--${optionName(name)}` || (short !== undefined && word === `-${short}`)),
  )?.[0];
}

function toUsageError(error: unknown, command: string, known: readonly string[]): unknown {
  if (!systemErrorCode(error)?.startsWith("ERR_PARSE_ARGS_")) return error;
  const message = error instanceof Error ? error.message : "";
  const [, unknown] = /Unknown option '(--?[^']+)'/.exec(message) ?? [];
  if (unknown !== undefined) {
    const word = unknown.replace(/^-+/, "");
    const suggestion = closestMatch(word, known) ?? known.find((name) => `-${name}-`.includes(`-${word}-`));
    const didYouMean = suggestion === undefined ? "" : `Did you mean --${suggestion}? `;
    const hint = `${didYouMean}${seeHelp(command)}`;
    return new HoldfastError("usage", "unknown-option", `unknown option '${unknown}'`, { hint });
  }
  const [, ambiguous] = /^Option '([^']+)' argument is ambiguous/.exec(message) ?? [];
  if (ambiguous !== undefined) {
    const example = `${ambiguous.split(", ").at(-1)}=-value`;
    return invalidOption(`${ambiguous} has no value`, `Write a value that starts with a dash like this: ${example}`);
  }
  const [, valueless] = /^Option '([^']+?)(?: <value>)?' argument missing/.exec(message) ?? [];
  return invalidOption(valueless === undefined ? message : `${valueless} needs a value`, seeHelp(command));
}

function checkArguments(
  command: string,
  expected: readonly string[],
  given: readonly string[],
  { message }: OptionSpecs,
): void {
  const usage = `Usage: holdfast ${[command, ...expected].join(" ")} [options]. ${seeHelp(command)}`;
  const missing = expected.find((name, index) => name.startsWith("<") && given[index] === undefined);
  if (missing !== undefined) {
    throw new HoldfastError("usage", "missing-argument", `missing required argument ${missing}`, { hint: usage });
  }
  if (given.length > expected.length && !/\.\.\.[\]>]$/.test(expected.at(-1) ?? "")) {
    const extra = given[expected.length];
    const isText = message !== undefined && expected.length === 0;
    const hint = isText ? `Write a message with -m: holdfast ${command} -m "${extra}". ${seeHelp(command)}` : usage;
    throw new HoldfastError("usage", "unexpected-argument", `unexpected argument '${extra}'`, { hint });
  }
}

function seeHelp(command: string): string {
  return `\`holdfast ${command} --help\` shows the options.`;
}

function toGiven(specs: OptionSpecs, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(specs).flatMap(([name, spec]) => {
    const value = values[optionName(name)];
    if (value === undefined) return [];
    return [[name, typeof value === "string" ? parseValue(`--${optionName(name)}`, value, spec) : value]];
  });
  return Object.fromEntries(given) as Record<string, unknown>;
}

function parseValue(name: string, raw: string, { type, choices }: OptionSpec): string | number {
  if (type === "count") return parseCount(name, raw);
  if (type === "amount") return parseAmount(name, raw);
  return choices === undefined ? raw : parseChoice(name, raw, choices);
}

function parseCount(name: string, raw: string): number {
  const value = Number(raw);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw invalidOption(`${name} must be a whole number above 0, not "${raw}"`);
}

export function parseAmount(name: string, raw: string): number {
  const value = raw.trim() === "" ? Number.NaN : Number(raw);
  if (Number.isFinite(value) && value > 0) return value;
  throw invalidOption(`${name} must be a number above 0, not "${raw}"`);
}

export function parseChoice<const Choice extends string>(
  name: string,
  raw: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((known) => known === raw);
  if (choice !== undefined) return choice;
  throw invalidOption(`${name} must be one of ${choices.join(", ")}, not "${raw}"`);
}

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** How long ago (`30m`, `12h`, `2d`, `1w`) or when (`2026-11-15`, with or without a time). In ms. */
export function parseSince(name: string, raw: string, now: number): number {
  const [, amount = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(raw.trim()) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return now - Number(amount) * unitMs;
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(raw.trim());
  // A date without a time starts at local midnight.
  const at = isDate ? Date.parse(raw.trim().length === 10 ? `${raw.trim()}T00:00` : raw.trim()) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw invalidOption(
    `${name} must be a time such as 2d or 2026-11-15, not "${raw}"`,
    "30m, 12h, 2d and 1w count back from now; a date may have a time: 2026-11-15T08:00.",
  );
}

export function invalidOption(message: string, hint?: string): HoldfastError {
  return new HoldfastError("usage", "invalid-option", message, { hint });
}
