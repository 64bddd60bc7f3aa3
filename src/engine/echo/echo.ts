/**
 * Answers with what it got. It needs no network and no key, so that everything around an engine can be
 * tried at once, and it always says what it is, so that nobody takes it for a model. Lines of a message
 * can be a script (`docs/echo.md`): tools of the workspace, and whatever else an engine can do to a house.
 *
 * The same turn gives the same answer. A turn that is begun again does not call a tool twice whose result
 * is in the context.
 */
import { type Clock, localTime, systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import type { ToolResultMessage } from "../../transcript/entries.ts";
import { messageText, withoutHandoff } from "../../transcript/text.ts";
import type { Engine, EngineEvent, EngineTurn, SummaryRequest } from "../engine.ts";
import { raceAbort } from "../race-abort.ts";
import type { ToolTable } from "../tools/agent-tool.ts";
import { createAttachedFiles } from "../tools/attached-files.ts";
import { runTool } from "../tools/run-tool.ts";
import { echoMessage, echoUsage, toolResult } from "./echo-messages.ts";
import { type EchoStep, readScript } from "./script.ts";
import { toolInput } from "./tool-input.ts";

export interface EchoEngineOptions {
  /** What `tool:` can call. Left out: nothing. */
  toolsOf?: (turn: EngineTurn) => ToolTable | Promise<ToolTable>;
  clock?: Clock;
  logger?: Logger;
}

/** What a turn has come to so far. */
interface Echo {
  turn: EngineTurn;
  /** What is echoed: without what an earlier conversation left. */
  text: string;
  signal: AbortSignal;
  tools: ToolTable;
  clock: Clock;
  logger: Logger;
  /** Which message of the window this is. */
  place: number;
  /** Results of an attempt that was cut short, in order. */
  known: ToolResultMessage[];
  calls: number;
  /** Instead of the echo. */
  said: string[];
  heard: string[];
  tokens: number | undefined;
}

export function createEchoEngine(options: EchoEngineOptions = {}): Engine {
  return {
    name: "echo",
    keepsConversation: false,
    async *run(turn, signal) {
      if (signal.aborted) return;
      const echo = await begin(options, turn, signal);
      try {
        const steps = turn.kind === "flush" ? flushSteps(echo) : readScript(echo.text);
        for (const step of steps) yield* perform(echo, step);
        yield* answer(echo, turn.kind === "flush" ? "NO_REPLY" : echoOf(echo), "stop");
      } catch (error) {
        if (!signal.aborted) throw error;
        if (echo.said.length > 0) yield* answer(echo, echo.said.join("\n"), "aborted");
      }
    },
    summarize: async (request) => await Promise.resolve(summaryOf(request)),
    close: async () => {},
  };
}

async function begin(options: EchoEngineOptions, turn: EngineTurn, signal: AbortSignal): Promise<Echo> {
  const { context } = turn;
  const asked = context.findLastIndex(({ role }) => role === "user");
  const question = context[asked];
  const isAsked = question !== undefined && messageText(question).trim() === turn.text.trim();
  return {
    turn,
    text: isAsked ? messageText(withoutHandoff(question)) : turn.text,
    signal,
    tools: (await options.toolsOf?.(turn)) ?? new Map(),
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    place: context.filter(({ role }) => role === "user").length,
    // What stands before a turn that nobody asked for belongs to another one.
    known: isAsked ? context.slice(asked + 1).filter((message) => message.role === "toolResult") : [],
    calls: 0,
    said: [],
    heard: [],
    tokens: undefined,
  };
}

async function* perform(echo: Echo, step: EchoStep): AsyncGenerator<EngineEvent> {
  const { signal, clock } = echo;
  signal.throwIfAborted();
  switch (step.do) {
    case "tool":
      yield* call(echo, step.name, toolInput(echo.tools.get(step.name), step.argument));
      break;
    case "say":
      echo.said.push(step.text);
      break;
    case "notice":
      yield { type: "notice", text: step.text };
      break;
    case "sleep":
      await clock.sleep(step.ms, signal);
      break;
    case "tokens":
      echo.tokens = step.count;
      break;
    case "flood":
      yield* flood(echo, step.bytes);
      break;
    case "fail":
      throw asToldTo(step.kind);
    case "hang":
      await raceAbort(new Promise<never>(() => {}), signal);
  }
}

async function* call(echo: Echo, name: string, input: JsonRecord): AsyncGenerator<EngineEvent> {
  const known = echo.known[echo.calls];
  echo.calls += 1;
  if (known !== undefined) {
    echo.heard.push(`${name}:\n${messageText(known)}`);
    return;
  }
  const { clock, tools, signal, logger } = echo;
  const id = `echo-${echo.place}-${echo.calls}`;
  const toolCall = { type: "toolCall" as const, id, name, arguments: input };
  const usage = echoUsage(echo.turn, "", echo.tokens);
  yield { type: "message", message: echoMessage([toolCall], { usage, stopReason: "toolUse", timestamp: clock.now() }) };
  yield { type: "tool-start", id, name, input };
  const { text, isError } = await runTool(
    tools,
    { name, input },
    { signal, logger, attached: createAttachedFiles(echo.turn.context) },
  );
  yield { type: "message", message: toolResult({ id, name, text, isError, timestamp: clock.now() }) };
  yield { type: "tool-end", id, name, isError };
  echo.heard.push(`${name}:\n${text}`);
  signal.throwIfAborted();
}

/** A line with the day and how much there was: it cannot tell what is worth keeping. */
function flushSteps({ clock, turn }: Echo): EchoStep[] {
  const day = localTime(clock.now()).slice(0, 10);
  const content = `- ${day}: [echo] ${turn.context.length} messages in ${turn.sessionKey}`;
  const input = { path: `memory/${day}.md`, content, append: true };
  return [{ do: "tool", name: "write_file", argument: JSON.stringify(input) }];
}

const FLOOD_LINE = `${"flood ".repeat(12).trim()}\n`;
const FLOOD_PIECE = FLOOD_LINE.repeat(100);

async function* flood(echo: Echo, bytes: number): AsyncGenerator<EngineEvent> {
  let left = bytes;
  while (left > 0) {
    echo.signal.throwIfAborted();
    const piece = FLOOD_PIECE.slice(0, left);
    left -= piece.length;
    yield { type: "text", text: piece };
  }
  const text = FLOOD_LINE.repeat(Math.ceil(bytes / FLOOD_LINE.length)).slice(0, bytes);
  const [usage, timestamp] = [echoUsage(echo.turn, text, echo.tokens), echo.clock.now()];
  yield { type: "message", message: echoMessage([{ type: "text", text }], { usage, stopReason: "stop", timestamp }) };
}

function echoOf({ said, heard, place, text }: Echo): string {
  if (said.length > 0) return said.join("\n");
  const echoed = `[echo] message ${place} of this window: ${text}`;
  return [echoed, ...heard.map((result) => `[echo] ${result}`)].join("\n\n");
}

async function* answer(echo: Echo, text: string, stopReason: "stop" | "aborted"): AsyncGenerator<EngineEvent> {
  const usage = echoUsage(echo.turn, text, echo.tokens);
  for (const piece of pieces(text)) yield { type: "text", text: piece };
  const timestamp = echo.clock.now();
  yield { type: "message", message: echoMessage([{ type: "text", text }], { usage, stopReason, timestamp }) };
  yield { type: "usage", usage };
}

/** In two, so that whoever puts the pieces together is tried too. */
function pieces(text: string): string[] {
  const space = text.indexOf(" ");
  return space === -1 ? [text] : [text.slice(0, space + 1), text.slice(space + 1)];
}

function asToldTo(kind: HoldfastError["kind"]): HoldfastError {
  return new HoldfastError(kind, "echo-failed", `The echo engine failed as it was told to (${kind}).`, {
    hint: "Send a message without a line that starts with fail:",
  });
}

const SUMMARY_LINE = 200;

function summaryOf({ messages, instructions }: SummaryRequest): string {
  const said = messages.map(messageText).filter((text) => text !== "");
  const lines = [said.at(0), said.at(-1)].map((text) => (text ?? "").slice(0, SUMMARY_LINE).toWellFormed());
  const wish = instructions === undefined ? "" : ` Asked to keep: ${instructions}.`;
  return `[echo] summary of ${messages.length} messages.${wish} First: ${lines[0]} Last: ${lines[1]}`;
}
