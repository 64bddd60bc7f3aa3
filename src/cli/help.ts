/** The help texts, made from the table of commands. */
import { type Command, type OptionSpec, optionName } from "./command.ts";

export function programHelp(commands: readonly Command[]): string {
  return [
    "Usage: holdfast <command> [options]",
    "",
    "The session layer for AI agents.",
    "",
    ...columns(commands.map((command) => [usage(command), command.summary])),
    "",
    "`holdfast <command> --help` shows the options of a command, `holdfast --version` the version.",
  ].join("\n");
}

/** `sessions` shows its own options and the commands below it. */
export function commandHelp(name: string, commands: readonly Command[]): string {
  const own = commands.find((command) => command.name === name);
  const below = commands.filter((command) => command.name.startsWith(`${name} `));
  const options = Object.entries(own?.options ?? {});
  return [
    `Usage: holdfast ${own === undefined ? `${name} <command>` : usage(own)}${options.length > 0 ? " [options]" : ""}`,
    ...(own === undefined ? [] : ["", own.summary]),
    ...(options.length === 0
      ? []
      : ["", ...columns(options.map(([option, spec]) => [flags(option, spec), spec.description]))]),
    ...(below.length === 0 ? [] : ["", ...columns(below.map((command) => [usage(command), command.summary]))]),
  ].join("\n");
}

function usage({ name, arguments: args }: Command): string {
  return [name, ...args].join(" ");
}

function flags(name: string, { type, value, short }: OptionSpec): string {
  const long = type === "flag" ? `--${optionName(name)}` : `--${optionName(name)} <${value ?? name}>`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function columns(rows: readonly [string, string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
