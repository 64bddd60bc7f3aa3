/** Runs one command line and resolves to the exit code. Stdout is data, stderr is talk. */
import { HoldfastError } from "../base/errors.ts";
import { packageVersion } from "../base/package.ts";
import { closestMatch } from "../base/suggest.ts";
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";

export async function main(args: readonly string[]): Promise<number> {
  // A reader that has seen enough (`| head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  try {
    await dispatch(args);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const { reportFailure } = await import("./failure.ts");
    return reportFailure(error, { json: args.includes("--json") });
  }
}

async function dispatch(args: readonly string[]): Promise<void> {
  const [first, ...rest] = args;
  if (first === "--version" || first === "-V") return writeLine(packageVersion());
  if (first === undefined || first === "--help" || first === "-h") return await showHelp([]);
  if (first === "help") return await showHelp(rest);
  if (first === "__complete") return await (await import("./completion/complete.ts")).complete(rest);
  if (first === "__hook-work") return await (await import("./commands/hook-work.ts")).hookWork(rest[0] ?? "");

  const command = findCommand(args);
  const isBareGroup = command === undefined && rest.length === 0 && hasSubcommands(first);
  if (isBareGroup || args.includes("--help") || args.includes("-h")) return await showHelp(args);
  if (command === undefined) throw unknownCommand(args);
  const given = args.slice(command.name.split(" ").length);
  // `sessions shw x` is no list of sessions with arguments.
  const isMistyped = hasSubcommands(command.name) && given[0] !== undefined && !given[0].startsWith("-");
  if (isMistyped) throw unknownCommand(args);
  await command.run(given);
}

/** The longest name that the line begins with: `sessions show` before `sessions`. */
function findCommand(args: readonly string[]): Command | undefined {
  const twoWords = args.slice(0, 2).join(" ");
  return COMMANDS.find(({ name }) => name === twoWords) ?? COMMANDS.find(({ name }) => name === args[0]);
}

function hasSubcommands(name: string): boolean {
  return COMMANDS.some((command) => command.name.startsWith(`${name} `));
}

async function showHelp(topic: readonly string[]): Promise<void> {
  const { commandHelp, programHelp } = await import("./help.ts");
  const words = topic.filter((word) => !word.startsWith("-"));
  if (words.length === 0) return writeLine(programHelp(COMMANDS));
  const [group = ""] = words;
  const name = findCommand(words)?.name ?? (hasSubcommands(group) ? group : undefined);
  if (name === undefined) throw unknownCommand(words);
  writeLine(commandHelp(name, COMMANDS));
}

function unknownCommand(args: readonly string[]): HoldfastError {
  const [first = "", second] = args.filter((word) => !word.startsWith("-"));
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  const wanted = group.length > 0 && second !== undefined ? `${first} ${second}` : first;
  const names = group.length > 0 ? group.map(({ name }) => name) : COMMANDS.map(({ name }) => name);
  const suggestion = closestMatch(wanted, names);
  return new HoldfastError("usage", "unknown-command", `unknown command '${wanted}'`, {
    hint: `${suggestion === undefined ? "" : `Did you mean ${suggestion}? `}\`holdfast help\` shows all commands.`,
  });
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`);
}
