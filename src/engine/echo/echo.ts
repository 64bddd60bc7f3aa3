/**
 * The echo engine repeats the message. It needs no network and no key, so everything around an engine can be
 * tried at once, and it marks its answers, so they are not mistaken for a model's. Lines of a message can be a script
 * (`docs/echo.md`) that uses workspace tools or simulates failures.
 *
 * The same turn always gives the same answer. A turn that runs again does not repeat a tool call whose result
 * is in the context.
 */
import { type Clock, localTime, systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { type ToolResultMessage, type AssistantMessage, type ContentBlock, NO_COST } from "../../transcript/entries.ts";
import type { Engine, EngineEvent, EngineTurn, SummaryRequest, EngineUsage } from "../engine.ts";
import { raceAbort } from "../race-abort.ts";
import { type ToolTable, type AgentTool, runTool, toolResultMessage } from "../tools/agent-tool.ts";
import { createAttachedFiles } from "../tools/attached-files.ts";
import { type EchoStep, readScript } from "./script.ts";
import { estimateTokens, textTokens, messageText, withoutHandoff } from "../../transcript/messages.ts";

export interface EchoEngineOptions {
  /** The tools for `tool:` lines. Default: none. */
  toolsOf?: ((turn: EngineTurn) => ToolTable | Promise<ToolTable>) | undefined;
  clock?: Clock | undefined;
  logger?: Logger | undefined;
}

/** State of one turn. */
interface Echo {
  turn: EngineTurn;
  /** The message without a hand-off. */
  text: string;
  signal: AbortSignal;
  tools: ToolTable;
  clock: Clock;
  logger: Logger;
  /** Number of this message in the window. */
  place: number;
  /** Tool results of an interrupted attempt, in order. */
  known: ToolResultMessage[];
  calls: number;
  /** Replaces the echo. */
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
    // Without a message of its own, the results at the end belong to an earlier turn.
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
      throw scriptedFailure(step.kind);
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
  yield { type: "message", message: toolResultMessage({ id, name, text, isError }, clock.now()) };
  yield { type: "tool-end", id, name, isError };
  echo.heard.push(`${name}:\n${text}`);
  signal.throwIfAborted();
}

/** Notes the day and the number of messages. */
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

/** Splits the answer, so that consumers must join pieces. */
function pieces(text: string): string[] {
  const space = text.indexOf(" ");
  return space === -1 ? [text] : [text.slice(0, space + 1), text.slice(space + 1)];
}

function scriptedFailure(kind: HoldfastError["kind"]): HoldfastError {
  return new HoldfastError(kind, "echo-failed", `The echo engine failed on request (${kind}).`, {
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

/** `context`: the token count set by the script. */
function echoUsage(turn: EngineTurn, answer: string, context: number | undefined): EngineUsage {
  return {
    provider: "holdfast",
    model: "echo",
    input: context ?? estimateTokens(turn.context),
    output: textTokens(answer),
    cacheRead: 0,
    cacheWrite: 0,
  };
}

function echoMessage(
  content: ContentBlock[],
  facts: { usage: EngineUsage; stopReason: "stop" | "toolUse" | "aborted"; timestamp: number },
): AssistantMessage {
  const { provider, model, input, output, cacheRead, cacheWrite } = facts.usage;
  return {
    role: "assistant",
    content,
    api: "holdfast",
    provider,
    model,
    usage: {
      input,
      output,
      cacheRead,
      cacheWrite,
      totalTokens: input + output + cacheRead + cacheWrite,
      cost: NO_COST,
    },
    stopReason: facts.stopReason,
    timestamp: facts.timestamp,
  };
}

/** The argument of a `tool:` line: a JSON object, or the text of the tool's first property. */
function toolInput(tool: AgentTool | undefined, argument: string): JsonRecord {
  if (argument === "") return {};
  const written = argument.startsWith("{") ? parsed(argument) : undefined;
  if (isRecord(written)) return written;
  const [first = "input"] = Object.keys(tool?.inputSchema.properties ?? {});
  return { [first]: argument };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
