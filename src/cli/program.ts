/** Every command with its arguments and options. The code behind a command is loaded when it is called. */
import { readFileSync } from "node:fs";
import { Command, type OptionValues } from "commander";
import { parseCount } from "./arguments.ts";

export function buildProgram(): Command {
  const program = new Command("holdfast")
    .description("The session layer for AI agents.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showHelpAfterError("(add --help for the options)")
    .configureHelp({ showGlobalOptions: false });
  addSessions(program);
  addHistory(program);
  addChat(program);
  addConfig(program);
  addDoctor(program);
  addSelftest(program);
  return program;
}

function addSessions(program: Command): void {
  const sessions = program
    .command("sessions")
    .description("list sessions, newest first")
    .option("--json", "print JSON")
    .option("--agent <id>", "the agent (default: the configured one)")
    .option("--all-agents", "sessions of every agent")
    .option("--active <minutes>", "only those used within the last minutes", count("--active"))
    .option("--store <path>", "a sessions.json to use instead of the agent's store")
    .option("--kind <kind>", "only direct, group or global sessions")
    .option("--channel <name>", "only sessions of this channel")
    .option("--search <words>", "only those whose key, label or name contains all words")
    .option("--limit <n>", "at most this many", count("--limit"))
    .action(async (given) => (await import("./commands/sessions-list.ts")).listSessions(given));

  const sub = (name: string, description: string): Command =>
    sessions
      .command(name)
      .description(description)
      .option("--json", "print JSON")
      .option("--agent <id>", "the agent (default: the configured one)")
      .option("--store <path>", "a sessions.json to use instead of the agent's store");

  sub("show <session>", "everything about one session: entry, windows, lease").action(async (session, _, command) =>
    (await import("./commands/sessions-show.ts")).showSession(session, options(command)),
  );
  sub("patch <session> [assignments...]", "set fields, e.g. label=work sendPolicy=deny thinkingLevel=high")
    .option("--unset <field...>", "take fields away")
    .action(async (session, assignments, _, command) =>
      (await import("./commands/sessions-change.ts")).patch(session, assignments, options(command)),
    );
  sub("reset <session>", "close the window and open the next; the old one stays listed").action(
    async (session, _, command) => (await import("./commands/sessions-change.ts")).reset(session, options(command)),
  );
  sub("compact <session>", "shorten the transcript; what is removed goes to an archive")
    .option("--max-lines <n>", "how many entries to keep (default: 400)", count("--max-lines"))
    .action(async (session, _, command) =>
      (await import("./commands/sessions-change.ts")).compact(session, options(command)),
    );
  sub("archive <session>", "take a session out of use; `restore` brings it back").action(async (session, _, command) =>
    (await import("./commands/sessions-change.ts")).archive(session, options(command)),
  );
  sub("restore [id]", "bring back an archived session or an earlier window; without an id, list the archive").action(
    async (id, _, command) => (await import("./commands/sessions-change.ts")).restore(id, options(command)),
  );
  sub("delete <session>", "remove a session; its transcripts go to the archive")
    .option("--yes", "do not ask")
    .action(async (session, _, command) =>
      (await import("./commands/sessions-change.ts")).remove(session, options(command)),
    );
  sub("export <session>", "write a conversation to a file or stdout, secrets redacted")
    .option("--format <format>", "md, jsonl or json (default: md)")
    .option("--output <file>", "write to this file")
    .option("--no-redact", "keep what looks like a secret")
    .action(async (session, _, command) =>
      (await import("./commands/sessions-export.ts")).exportSession(session, options(command)),
    );
  sub("maintain", "archive by age, count and size as configured")
    .option("--dry-run", "only say what would be done")
    .action(async (_, command) => (await import("./commands/sessions-maintain.ts")).maintain(options(command)));
}

/** `sessions` itself has `--json`, `--agent` and `--store` too, and takes them wherever they stand. */
function options(command: Command): OptionValues {
  return command.optsWithGlobals();
}

function addHistory(program: Command): void {
  program
    .command("history [session]")
    .description("show a conversation (default: the one used last)")
    .option("--json", "print JSON")
    .option("--agent <id>", "the agent (default: the configured one)")
    .option("--store <path>", "a sessions.json to use instead of the agent's store")
    .option("--limit <n>", "how many entries from the end (default: 50)", count("--limit"))
    .option("--all", "every entry, with those of the transcript's other branches")
    .option("--follow", "go on and print what is added")
    .action(async (session, options) => (await import("./commands/history.ts")).showHistory(session, options));
}

function addChat(program: Command): void {
  program
    .command("chat")
    .description("talk to an agent in the terminal, or line by line from stdin")
    .option("--agent <id>", "the agent (default: the configured one)")
    .option("--session <session>", "continue this session instead of your own")
    .action(async (options) => (await import("./commands/chat.ts")).chat(options));
}

function addConfig(program: Command): void {
  const config = program.command("config").description("look at and change the configuration");
  config
    .command("get [key]")
    .description("print a value, e.g. session.reset.atHour, or everything")
    .option("--json", "print JSON")
    .action(async (key, options) => (await import("./commands/config.ts")).get(key, options));
  config
    .command("set <key> <value>")
    .description("change a value; comments in the file stay")
    .option("--json", "print JSON")
    .action(async (key, value, options) => (await import("./commands/config.ts")).set(key, value, options));
  config
    .command("unset <key>")
    .description("go back to the default")
    .option("--json", "print JSON")
    .action(async (key, options) => (await import("./commands/config.ts")).unset(key, options));
  config
    .command("schema")
    .description("print the JSON Schema of config.json")
    .action(async () => (await import("./commands/config.ts")).schema());
  config
    .command("check")
    .description("check every file that is read")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./commands/config.ts")).check(options));
}

function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("look for damage: permissions, torn files, orphans, stale leases and locks")
    .option("--fix", "mend what can be mended; nothing is deleted")
    .option("--agent <id>", "only this agent (default: all)")
    .option("--deep", "read every line of every transcript")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./commands/doctor.ts")).doctor(options));
}

function addSelftest(program: Command): void {
  program
    .command("selftest")
    .description("kill processes in the middle of their work on this machine and check that nothing is lost")
    .option("--seed <n>", "repeat the run with this seed (default: a random one)")
    .option("--minutes <m>", "how long (default: 1)", count("--minutes"))
    .option("--folder <path>", "the file system to test (default: the temporary folder)")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./commands/selftest.ts")).selftest(options));
}

function count(name: string): (raw: string) => number {
  return (raw) => parseCount(name, raw);
}

function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
