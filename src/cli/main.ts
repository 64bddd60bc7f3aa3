/** Runs one command line and returns the exit code. Data goes to stdout, messages go to stderr. */
import { packageVersion } from "../base/package.ts";
import { findCommand } from "./command.ts";
import { COMMANDS } from "./commands.ts";

export async function main(args: readonly string[]): Promise<number> {
  // A reader that stops early (`| head`) is not a failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  try {
    await dispatch(args);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const { reportFailure } = await import("./help.ts");
    return reportFailure(error, { json: args.includes("--json") });
  }
}

async function dispatch(args: readonly string[]): Promise<void> {
  const [first, ...rest] = args;
  if (first === "--version" || first === "-V" || first === "-v") return writeLine(packageVersion());
  if (first === undefined || first === "--help" || first === "-h") return await showHelp([]);
  if (first === "help") return await showHelp(rest);
  if (first === "__complete") return await (await import("./complete.ts")).complete(rest, COMMANDS);
  if (first === "__hook-work") return await (await import("./commands/hook-work.ts")).hookWork(rest[0] ?? "");

  // `cc help run` means `help cc run`.
  if (rest[0] === "help" && hasSubcommands(first)) return await showHelp([first, ...rest.slice(1)]);
  const command = findCommand(args, COMMANDS);
  const isBareGroup = command === undefined && rest.length === 0 && hasSubcommands(first);
  if (isBareGroup || args.includes("--help") || args.includes("-h")) return await showHelp(args);
  if (command === undefined) return await refuse(args);
  const given = args.slice(command.name.split(" ").length);
  // `sessions shw x` is a typo, not `sessions` with arguments.
  const isMistyped = hasSubcommands(command.name) && given[0] !== undefined && !given[0].startsWith("-");
  if (isMistyped) return await refuse(args);
  await command.run(given);
}

function hasSubcommands(name: string): boolean {
  return COMMANDS.some((command) => command.name.startsWith(`${name} `));
}

async function showHelp(topic: readonly string[]): Promise<void> {
  const { commandHelp, programHelp } = await import("./help.ts");
  const words = topic.filter((word) => !word.startsWith("-"));
  if (words.length === 0) return writeLine(programHelp());
  const [group = "", below] = words;
  const command = findCommand(words, COMMANDS);
  const isGroup = hasSubcommands(group);
  if (command === undefined && !isGroup) return await refuse(words);
  // `help sessions delte` asks for a command that does not exist, not for the whole group.
  if (isGroup && below !== undefined && (command?.name ?? group) === group && topic[1] === below) {
    return await refuse(words);
  }
  writeLine(commandHelp(command?.name ?? group, COMMANDS));
}

async function refuse(args: readonly string[]): Promise<never> {
  const { unknownCommand } = await import("./help.ts");
  throw unknownCommand(args, COMMANDS);
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`);
}
