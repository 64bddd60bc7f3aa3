/**
 * Reports errors: a sentence, a hint and the exit code of the error's kind. For an unknown command, "Did you mean …?"
 * only names commands that change nothing, because people run a suggestion without reading it.
 */
import { HoldfastError, errorOutcome, reportError } from "../base/errors.ts";
import { redactText, redactValue } from "../base/redact.ts";
import type { Command } from "./command.ts";
import { printable, closestMatch } from "../base/text.ts";

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

function inWords(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
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
