/**
 * The table of chat commands, with /stop, /compact and /help. Authorization is checked here for all of them,
 * and mistakes of the person are answered, never thrown.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { CompactOutcome, CompactRequest } from "../run/compact.ts";
import { createHookMessages } from "../run/hooks-and-handoff.ts";
import {
  type ChatCommand,
  type ChatCommands,
  type CommandRequest,
  type CommandSpec,
  shown,
  type Row,
  layOut,
  counted,
  shortCount,
} from "./command.ts";
import {
  activationCommand,
  queueCommand,
  reasoningCommand,
  sendCommand,
  thinkCommand,
  usageCommand,
  verboseCommand,
} from "./setting-commands.ts";
import { backCommand, resumeCommand, windowsCommand } from "./window-commands.ts";
import { handoffCommand, projectCommand } from "./handoff-commands.ts";
import { ccCommand } from "./task-commands.ts";
import { statusCommand, modelCommand, labelCommand, whoamiCommand } from "./status-commands.ts";
import { closestMatch } from "../../base/text.ts";
import { markRunAborted } from "../../session/entry-updates.ts";

export type CompactNow = (request: CompactRequest) => Promise<CompactOutcome>;

export function createChatCommands({ compact }: { compact: CompactNow }): ChatCommands {
  const all: readonly ChatCommand[] = [
    stopCommand,
    statusCommand,
    createCompactCommand(compact),
    modelCommand,
    thinkCommand,
    verboseCommand,
    reasoningCommand,
    usageCommand,
    sendCommand,
    activationCommand,
    queueCommand,
    labelCommand,
    windowsCommand,
    backCommand,
    resumeCommand,
    handoffCommand,
    projectCommand,
    ccCommand,
    whoamiCommand,
    createHelpCommand(() => all),
  ].map((spec) => {
    const [, name = ""] = /^\/(\w+)/.exec(spec.usage) ?? [];
    const command = { ...spec, name, needsAuthorization: spec.needsAuthorization ?? true };
    return { ...command, run: async (request) => await runGuarded(command, request) };
  });
  const byName = new Map(all.map((command) => [command.name, command]));
  return {
    all,
    find: (text, botUsername) => {
      const [, name = "", addressee, argument = ""] = COMMAND.exec(text.trim()) ?? [];
      const own = botUsername?.trim().replace(/^@/, "").toLowerCase();
      const command =
        addressee === undefined || addressee.toLowerCase() === own ? byName.get(name.toLowerCase()) : undefined;
      return command === undefined ? undefined : { command, argument: argument.trim() };
    },
    answerMistyped: (text) => {
      const [, word] = /^\/(\w{1,32})$/.exec(text.trim()) ?? [];
      if (word === undefined || byName.has(word.toLowerCase()) || ELSEWHERE.includes(word.toLowerCase()))
        return undefined;
      const near = closestMatch(word, [...byName.keys(), ...ELSEWHERE]);
      if (near === undefined) return undefined;
      return `There is no /${word}. ${CHANGING.has(near) ? "/help shows the commands." : `Did you mean /${near}?`}`;
    },
  };
}

/** Handled by the session or by the terminal. */
const ELSEWHERE = ["new", "reset", "quit", "exit"];

/** Commands that change something without an argument. They are never suggested, because people send suggestions unread. */
const CHANGING: ReadonlySet<string> = new Set(["new", "reset", "stop", "compact", "label", "resume", "handoff"]);

async function runGuarded(command: ChatCommand, request: CommandRequest): Promise<string> {
  if (command.needsAuthorization && request.ctx.CommandAuthorized !== true) {
    return `You may not use /${command.name} here. The owner of this agent can allow it; /whoami shows your id.`;
  }
  try {
    return await command.run(request);
  } catch (error) {
    if (error instanceof HoldfastError && ANSWERED_KINDS.has(error.kind)) return describeError(error);
    throw error;
  }
}

/** Mistakes that the person can correct. */
const ANSWERED_KINDS: ReadonlySet<string> = new Set(["usage", "not-found", "conflict", "forbidden", "unsupported"]);

function describeError({ message, hint }: HoldfastError): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return shown(hint === undefined ? sentence : `${sentence} ${hint}`, 500);
}

const COMMAND = /^\/(\w{1,32})(?:@(\S+))?(?:\s+([\s\S]*))?$/;

/** Lists the commands that the person may use. `commands` is a function because the list contains /help too. */
function createHelpCommand(commands: () => readonly ChatCommand[]): CommandSpec {
  return {
    usage: "/help",
    summary: "this list",
    when: "now",
    needsAuthorization: false,
    run: async ({ parts, ctx }) => {
      const mayCommand = ctx.CommandAuthorized === true;
      const allowed = commands().filter(({ needsAuthorization }) => mayCommand || !needsAuthorization);
      const resets = mayCommand ? resetRows(parts.config.session.resetTriggers) : [];
      const rows = [...resets, ...allowed.map(({ usage, summary }): Row => [usage, summary])];
      return layOut(ctx, rows, " – ");
    },
  };
}

function resetRows(triggers: readonly string[]): Row[] {
  const [first, ...others] = triggers.map((trigger) => shown(trigger, 40)).filter((trigger) => trigger !== "");
  if (first === undefined) return [];
  return [
    [`${first} [model] [text]`, "start a new window; the old one stays"],
    ...others.map((trigger): Row => [trigger, `the same as ${first}`]),
  ];
}

const stopCommand: CommandSpec = {
  usage: "/stop",
  summary: "stop the current answer and drop waiting messages",
  when: "now",
  run: async ({ parts, sessionKey, lane, ctx }) => {
    const { aborted, dropped } = await lane.stop();
    const hooks = createHookMessages();
    const entry = await parts.agent.store.get(sessionKey);
    hooks.inBackground({ parts, sessionKey, event: "command:stop", entry, ctx });
    if (aborted) await markRunAborted(parts.agent, sessionKey);
    return [whatStopped(aborted, dropped), ...(await hooks.take())].join("\n");
  },
};

function whatStopped(aborted: boolean, dropped: number): string {
  const waiting = dropped === 0 ? "" : `${counted(dropped, "waiting message")} dropped.`;
  if (aborted) return `Stopped. ${waiting}`.trim();
  return waiting === "" ? "Nothing is running." : `Nothing was running. ${waiting}`;
}

function createCompactCommand(compact: CompactNow): CommandSpec {
  return {
    usage: "/compact [what to keep]",
    summary: "replace the older part of this window with a summary",
    when: "in-order",
    run: async ({ parts, sessionKey, held, argument, signal }) => {
      if (held === undefined) throw new Error("/compact runs only under the lease of its session");
      if ((await parts.agent.store.get(sessionKey)) === undefined) return NOTHING_TO_COMPACT;
      const instructions = argument === "" ? undefined : argument;
      const outcome = await compact({ parts, sessionKey, held, signal, emit: () => {}, instructions });
      return describeCompaction(outcome);
    },
  };
}

const NOTHING_TO_COMPACT = "There is nothing to compact yet.";

function describeCompaction(outcome: CompactOutcome): string {
  if (!outcome.compacted) return shown(outcome.reason, 500);
  const { tokensBefore, tokensAfter, told = [] } = outcome;
  return [...told, `Compacted: ${shortCount(tokensBefore)} → ${shortCount(tokensAfter)} tokens.`].join("\n");
}
