/**
 * The table of the commands that a person can type into any conversation. Who may give a command is
 * decided here, for all of them alike; what a person did wrong is answered, never thrown.
 */
import { HoldfastError } from "../../base/errors.ts";
import { closestMatch } from "../../base/suggest.ts";
import type { ChatCommand, ChatCommands, CommandAnswer, CommandRequest, CompactNow } from "./chat-command.ts";
import { handoffCommand } from "./handoff-command.ts";
import { createHelpCommand } from "./help-command.ts";
import { thinkCommand, verboseCommand } from "./level-commands.ts";
import { modelCommand } from "./model-command.ts";
import { labelCommand, whoamiCommand } from "./name-commands.ts";
import { projectCommand } from "./project-command.ts";
import { queueCommand } from "./queue-command.ts";
import { activationCommand, sendCommand } from "./reply-commands.ts";
import { shown } from "./shown.ts";
import { statusCommand } from "./status-command.ts";
import { createCompactCommand, stopCommand } from "./turn-commands.ts";
import { backCommand, resumeCommand, windowsCommand } from "./window-commands.ts";

export function createChatCommands({ compact }: { compact: CompactNow }): ChatCommands {
  const all: readonly ChatCommand[] = [
    stopCommand,
    statusCommand,
    createCompactCommand(compact),
    modelCommand,
    thinkCommand,
    verboseCommand,
    sendCommand,
    activationCommand,
    queueCommand,
    labelCommand,
    windowsCommand,
    backCommand,
    resumeCommand,
    handoffCommand,
    projectCommand,
    whoamiCommand,
    createHelpCommand(() => all),
  ].map((command) => ({ ...command, run: async (request) => await runGuarded(command, request) }));
  const byName = new Map(all.map((command) => [command.name, command]));
  return {
    all,
    find: (text, botUsername) => {
      const typed = parseCommand(text);
      if (typed === undefined || !isOurs(typed.addressee, botUsername)) return undefined;
      const command = byName.get(typed.name);
      return command === undefined ? undefined : { command, argument: typed.argument };
    },
    answerMistyped: (text) => {
      const [, word] = /^\/(\w{1,32})$/.exec(text.trim()) ?? [];
      if (word === undefined || byName.has(word.toLowerCase()) || ELSEWHERE.includes(word.toLowerCase()))
        return undefined;
      const suggestion = closestMatch(word, [...byName.keys(), ...ELSEWHERE]);
      return suggestion === undefined ? undefined : `There is no /${word}. Did you mean /${suggestion}?`;
    },
  };
}

/** Found by the session or by the terminal. */
const ELSEWHERE = ["new", "reset", "quit", "exit"];

async function runGuarded(command: ChatCommand, request: CommandRequest): Promise<CommandAnswer> {
  if (command.needsAuthorization && request.ctx.CommandAuthorized !== true) {
    return {
      text: `You may not use /${command.name} here. Whoever runs this agent can allow it; /whoami shows your id.`,
    };
  }
  try {
    return await command.run(request);
  } catch (error) {
    if (error instanceof HoldfastError && ANSWERED_KINDS.has(error.kind)) return { text: describeError(error) };
    throw error;
  }
}

/** What the person can mend by typing something else. */
const ANSWERED_KINDS: ReadonlySet<string> = new Set(["usage", "not-found", "conflict", "unsupported"]);

function describeError({ message, hint }: HoldfastError): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return shown(hint === undefined ? sentence : `${sentence} ${hint}`, 500);
}

interface TypedCommand {
  name: string;
  /** Whom a group's command is for, as in `/status@name`. */
  addressee: string | undefined;
  argument: string;
}

function parseCommand(text: string): TypedCommand | undefined {
  const [, name, addressee, argument = ""] = /^\/(\w{1,32})(?:@(\S+))?(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), addressee, argument: argument.trim() };
}

function isOurs(addressee: string | undefined, botUsername: string | undefined): boolean {
  if (addressee === undefined) return true;
  return addressee.toLowerCase() === botUsername?.trim().replace(/^@/, "").toLowerCase();
}
