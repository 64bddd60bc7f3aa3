/**
 * What a command is: its name, its arguments, its options and the code behind them. Parsing is
 * Node's own `parseArgs`; a whole command-line library would take a fifth of the time that a command
 * may need to start (docs/adr/0004-dependencies.md).
 */
import { nodeUtil } from "../base/builtin.ts";
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import { closestMatch } from "../base/suggest.ts";
import { parseCount } from "./arguments.ts";

export interface Command {
  /** `sessions` or `sessions show`. */
  readonly name: string;
  /** In the order of the command line: `<needed>`, `[optional]`, `[many...]`. */
  readonly arguments: readonly string[];
  readonly summary: string;
  readonly options: OptionSpecs;
  run(args: readonly string[]): Promise<void>;
}

/** Options by their names in code; `allAgents` is `--all-agents` on the command line. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface OptionSpec {
  type: "flag" | "text" | "count" | "list";
  description: string;
  /** What the help calls the value. */
  value?: string;
  /** One letter: `-m` for `--message`. */
  short?: string;
}

type Given<Specs extends OptionSpecs> = { [Name in keyof Specs]?: ValueOf<Specs[Name]["type"]> };
type ValueOf<Type> = Type extends "flag"
  ? true
  : Type extends "count"
    ? number
    : Type extends "list"
      ? string[]
      : string;

export function defineCommand<const Specs extends OptionSpecs>(command: {
  name: string;
  arguments?: readonly string[];
  summary: string;
  options?: Specs;
  run: (given: readonly string[], options: Given<Specs>) => Promise<void>;
}): Command {
  const specs: OptionSpecs = command.options ?? {};
  const args = command.arguments ?? [];
  return {
    name: command.name,
    arguments: args,
    summary: command.summary,
    options: specs,
    run: async (line) => {
      const { positionals, values } = parseLine(command.name, line, specs);
      checkArguments(command.name, args, positionals);
      await command.run(positionals, toGiven(specs, values) as Given<Specs>);
    },
  };
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
    throw wrongOption(error, command, Object.keys(options));
  }
}

/** `-t -100123` names a group of Telegram, not an option `-1`. */
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

/** The option that the word names, if what follows is its value. */
export function optionTakingValue(word: string | undefined, specs: OptionSpecs): string | undefined {
  return Object.entries(specs).find(
    ([name, { type, short }]) =>
      type !== "flag" && (word === `--${optionName(name)}` || (short !== undefined && word === `-${short}`)),
  )?.[0];
}

function wrongOption(error: unknown, command: string, known: readonly string[]): unknown {
  if (!systemErrorCode(error)?.startsWith("ERR_PARSE_ARGS_")) return error;
  const message = error instanceof Error ? error.message : "";
  const [, unknown] = /Unknown option '(--?[^']+)'/.exec(message) ?? [];
  const [, ambiguous] = /^Option '([^']+)' argument is ambiguous/.exec(message) ?? [];
  if (ambiguous !== undefined) {
    const hint = `What starts with a dash is written with an equals sign: ${ambiguous.split(", ").at(-1)}=-value`;
    return new HoldfastError("usage", "invalid-option", `${ambiguous} has no value`, { hint });
  }
  if (unknown === undefined) return new HoldfastError("usage", "invalid-option", message, { hint: seeHelp(command) });
  const suggestion = closestMatch(unknown.replace(/^-+/, ""), known);
  return new HoldfastError("usage", "unknown-option", `unknown option '${unknown}'`, {
    hint: suggestion === undefined ? seeHelp(command) : `Did you mean --${suggestion}? ${seeHelp(command)}`,
  });
}

function checkArguments(command: string, expected: readonly string[], given: readonly string[]): void {
  const missing = expected.find((name, index) => name.startsWith("<") && given[index] === undefined);
  if (missing !== undefined) {
    throw new HoldfastError("usage", "missing-argument", `missing required argument ${missing}`, {
      hint: seeHelp(command),
    });
  }
  if (given.length > expected.length && expected.at(-1)?.endsWith("...]") !== true) {
    throw new HoldfastError("usage", "unexpected-argument", `unexpected argument '${given[expected.length]}'`, {
      hint: seeHelp(command),
    });
  }
}

function toGiven(specs: OptionSpecs, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(specs).flatMap(([name, { type }]) => {
    const value = values[optionName(name)];
    if (value === undefined) return [];
    const isCount = type === "count" && typeof value === "string";
    return [[name, isCount ? parseCount(`--${optionName(name)}`, value) : value]];
  });
  return Object.fromEntries(given) as Record<string, unknown>;
}

function seeHelp(command: string): string {
  return `\`holdfast ${command} --help\` shows the options.`;
}
