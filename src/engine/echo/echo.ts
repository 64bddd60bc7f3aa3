/**
 * The echo engine repeats the message. It needs no network and no key, so everything around an engine can be
 * tried at once, and it marks its answers, so they are not mistaken for a model's. Lines of a message can be a script
 * (`docs/echo.md`) that uses workspace tools or simulates failures.
 *
 * The same turn always gives the same answer. A turn that runs again does not repeat a tool call whose result
 * is in the context.
 */
import { type Clock, localTime, systemClock } from "../../base/clock.ts";
import { ERROR_KINDS, type ErrorKind, HoldfastError } from "../../base/errors.ts";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { type ToolResultMessage, type ContentBlock, NO_COST } from "../../transcript/entries.ts";
import type { Engine, EngineEvent, EngineTurn, SummaryRequest, EngineUsage } from "../engine.ts";
import { raceAbort } from "../../base/async.ts";
import { type ToolTable, type AgentTool, runTool, toolResultMessage } from "../tools/agent-tool.ts";
import { createAttachedFiles } from "../tools/confined-files.ts";
import { estimateTokens, textTokens, messageText, withoutHandoff } from "../../transcript/messages.ts";

export interface EchoEngineOptions {
  /** The tools for `tool:` lines. Default: none. */
  tools?: ToolTable | undefined;
  clock?: Clock | undefined;
  logger?: Logger | undefined;
}

interface Echo {
  turn: EngineTurn;
  text: string;
  signal: AbortSignal;
  tools: ToolTable;
  clock: Clock;
  logger: Logger;
  place: number;
  /** Tool results of an interrupted attempt, in order. */
  known: ToolResultMessage[];
  calls: number;
  /** Replaces the echo. */
  said: string[];
  /** How many characters of the answer were sent already. */
  streamed: number;
  heard: string[];
  thoughts: string[];
  tokens: number | undefined;
}

export function createEchoEngine(options: EchoEngineOptions = {}): Engine {
  return {
    name: "echo",
    keepsConversation: false,
    async *run(turn, signal) {
      if (signal.aborted) return;
      const echo = begin(options, turn, signal);
      try {
        if (turn.kind === "flush") {
          yield* flush(echo);
          yield* answer(echo, "NO_REPLY", "stop");
          return;
        }
        for (const line of echo.text.split(/\r?\n/)) yield* obey(echo, line.trim());
        yield* answer(echo, echoOf(echo), "stop");
      } catch (error) {
        if (!signal.aborted) throw error;
        if (echo.said.length > 0) yield* answer(echo, echo.said.join("\n"), "aborted");
      }
    },
    summarize: async (request) => await Promise.resolve(summaryOf(request)),
    close: async () => {},
  };
}

function begin(options: EchoEngineOptions, turn: EngineTurn, signal: AbortSignal): Echo {
  const { context } = turn;
  const asked = context.findLastIndex(({ role }) => role === "user");
  const question = context[asked];
  const isAsked = question !== undefined && messageText(question).trim() === turn.text.trim();
  return {
    turn,
    text: isAsked ? messageText(withoutHandoff(question)) : turn.text,
    signal,
    tools: options.tools ?? new Map(),
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    place: context.filter(({ role }) => role === "user").length,
    // Without a message of its own, the results at the end belong to an earlier turn.
    known: isAsked ? context.slice(asked + 1).filter((message) => message.role === "toolResult") : [],
    calls: 0,
    said: [],
    streamed: 0,
    heard: [],
    thoughts: [],
    tokens: undefined,
  };
}

/** More than any consumer accepts. */
const MAX_FLOOD = 256 * 1024 * 1024;
const MAX_SLEEP_MS = 60 * 60_000;

/** Does what a line of a script says. Any other line does nothing. */
async function* obey(echo: Echo, line: string): AsyncGenerator<EngineEvent> {
  const { signal, clock, tools } = echo;
  const colon = line.indexOf(":");
  const rest = line.slice(colon + 1).trim();
  signal.throwIfAborted();
  if (line === "hang") await raceAbort(new Promise<never>(() => {}), signal);
  switch (line.slice(0, colon)) {
    case "tool": {
      const [name = "", ...more] = rest.split(" ");
      yield* call(echo, name, toolInput(tools.get(name), more.join(" ").trim()));
      break;
    }
    case "say":
      echo.said.push(rest);
      break;
    case "stream": {
      const text = [...echo.said, rest].join("\n");
      yield { type: "text", text: `${text.slice(echo.streamed)}\n` };
      echo.said.push(rest);
      echo.streamed = text.length + 1;
      break;
    }
    case "think":
      echo.thoughts.push(rest);
      break;
    case "notice":
      yield { type: "notice", text: rest };
      break;
    case "sleep":
      await clock.sleep(wholeNumber(line, rest, MAX_SLEEP_MS), signal);
      break;
    case "tokens":
      echo.tokens = wholeNumber(line, rest, Number.MAX_SAFE_INTEGER);
      break;
    case "flood":
      yield* flood(echo, wholeNumber(line, rest, MAX_FLOOD));
      break;
    case "fail": {
      const kind = errorKind(line, rest);
      throw new HoldfastError(kind, "echo-failed", `The echo engine failed on request (${kind}).`, {
        hint: "Send a message without a line that starts with fail:",
      });
    }
    default:
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
  yield echoMessage(echo, [toolCall], "toolUse");
  yield { type: "tool-start", id, name, input };
  const { text, isError } = await runTool(
    tools,
    { name, input },
    {
      signal,
      logger,
      sessionKey: echo.turn.sessionKey,
      callId: `${echo.turn.sessionId}:${id}`,
      attached: createAttachedFiles(echo.turn.context),
    },
  );
  yield { type: "message", message: toolResultMessage({ id, name, text, isError }, clock.now()) };
  yield { type: "tool-end", id, name, isError };
  echo.heard.push(`${name}:\n${text}`);
  signal.throwIfAborted();
}

async function* flush(echo: Echo): AsyncGenerator<EngineEvent> {
  const { clock, turn } = echo;
  const day = localTime(clock.now()).slice(0, 10);
  const content = `- ${day}: [echo] ${turn.context.length} messages in ${turn.sessionKey}`;
  yield* call(echo, "write_file", { path: `memory/${day}.md`, content, append: true });
}

const FLOOD_LINE = `${"flood ".repeat(12).trim()}\n`;
const FLOOD_PIECE = 7200;

async function* flood(echo: Echo, bytes: number): AsyncGenerator<EngineEvent> {
  const text = FLOOD_LINE.repeat(Math.ceil(bytes / FLOOD_LINE.length)).slice(0, bytes);
  for (let at = 0; at < bytes; at += FLOOD_PIECE) {
    echo.signal.throwIfAborted();
    yield { type: "text", text: text.slice(at, at + FLOOD_PIECE) };
  }
  yield echoMessage(echo, [{ type: "text", text }], "stop");
}

function echoOf({ said, heard, place, text }: Echo): string {
  if (said.length > 0) return said.join("\n");
  const echoed = `[echo] message ${place} of this window: ${text}`;
  return [echoed, ...heard.map((result) => `[echo] ${result}`)].join("\n\n");
}

async function* answer(echo: Echo, text: string, stopReason: "stop" | "aborted"): AsyncGenerator<EngineEvent> {
  // In two pieces, so that consumers must join them.
  const space = Math.max(text.indexOf(" ") + 1, echo.streamed);
  const pieces = [text.slice(echo.streamed, space), text.slice(space)].filter((piece) => piece !== "");
  for (const piece of pieces) yield { type: "text", text: piece };
  const thoughts = echo.thoughts.map((thinking) => ({ type: "thinking" as const, thinking }));
  yield echoMessage(echo, [...thoughts, { type: "text", text }], stopReason);
  yield { type: "usage", usage: echoUsage(echo, text) };
}

const SUMMARY_LINE = 200;

function summaryOf({ messages, instructions }: SummaryRequest): string {
  const said = messages.map(messageText).filter((text) => text !== "");
  const lines = [said.at(0), said.at(-1)].map((text) => (text ?? "").slice(0, SUMMARY_LINE).toWellFormed());
  const wish = instructions === undefined ? "" : ` Asked to keep: ${instructions}.`;
  return `[echo] summary of ${messages.length} messages.${wish} First: ${lines[0]} Last: ${lines[1]}`;
}

function echoUsage(echo: Echo, answer: string): EngineUsage {
  const input = (echo.tokens ??= estimateTokens(echo.turn.context));
  return { provider: "holdfast", model: "echo", input, output: textTokens(answer), cacheRead: 0, cacheWrite: 0 };
}

function echoMessage(
  echo: Echo,
  content: ContentBlock[],
  stopReason: "stop" | "toolUse" | "aborted",
): EngineEvent & { type: "message" } {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const { provider, model, ...tokens } = echoUsage(echo, text);
  const usage = { ...tokens, totalTokens: tokens.input + tokens.output, cost: NO_COST };
  const common = { role: "assistant" as const, api: "holdfast", timestamp: echo.clock.now() };
  return { type: "message", message: { ...common, content, provider, model, usage, stopReason } };
}

/** The argument of a `tool:` line: a JSON object, or the text of the tool's first property. */
function toolInput(tool: AgentTool | undefined, argument: string): JsonRecord {
  if (argument === "") return {};
  const written = argument.startsWith("{") ? parseJson(argument) : undefined;
  if (isRecord(written)) return written;
  const [first = "input"] = Object.keys(tool?.inputSchema.properties ?? {});
  return { [first]: argument };
}

function wholeNumber(line: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw notUnderstood(line, `a whole number up to ${max}`);
}

function errorKind(line: string, text: string): ErrorKind {
  if (Object.hasOwn(ERROR_KINDS, text)) return text as ErrorKind;
  throw notUnderstood(line, `one of ${Object.keys(ERROR_KINDS).join(", ")}`);
}

function notUnderstood(line: string, wanted: string): HoldfastError {
  return new HoldfastError("usage", "echo-script", `The echo engine cannot do "${line.slice(0, 100)}".`, {
    hint: `Expected after the colon: ${wanted}. See docs/echo.md.`,
  });
}
