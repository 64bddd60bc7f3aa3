/**
 * The engine that asks a language model through the AI SDK and runs the agent's tools: ask the model, run its tools,
 * ask again, until it calls no more tools. Each message is yielded when it is complete, before the next step starts.
 */
import { createTimeLines } from "../../transcript/messages.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type ModelErrorCode, emptyAnswerError, refusedError } from "../../models/model-errors.ts";
import type { AssistantMessage } from "../../transcript/entries.ts";
import type { EngineEvent, EngineTurn, SteerMark, Engine } from "../engine.ts";
import { type ToolTable, type ToolUse, INTERRUPTED_RESULT, runTool, toolResultMessage } from "../tools/agent-tool.ts";
import { createAttachedFiles } from "../tools/confined-files.ts";
import {
  type Answer,
  type ToolCall,
  type Bill,
  createBill,
  tokensOf,
  type Asked,
  type ModelLine,
  askModel,
  MAX_SILENCE_MS,
} from "./ask-model.ts";
import {
  providerOptions,
  reasoningOptions,
  toolOptions,
  type PromptMessage,
  type ToolPart,
  hasImages,
  toPrompt,
  userMessage,
  withoutImages,
  loadAttachedImages,
} from "./to-prompt.ts";
import {
  type ResolvedPrice,
  resolveContextWindow,
  resolveModelName,
  resolveModelPrice,
} from "../../models/model-info.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ModelConfig, ProviderConfig } from "../../config/config.ts";
import type { Environment } from "../../config/layout.ts";
import { resolveProvider } from "../../models/provider-access.ts";
import { summarize } from "./summarize.ts";

const MAX_TOOL_STEPS = 25;

const LAST_STEP = `[The limit of ${MAX_TOOL_STEPS} tool steps is reached. Answer now with what you have, and say what is left to do.]`;
const LIMIT_NOTICE = `The limit of ${MAX_TOOL_STEPS} tool steps per turn is reached; the model was asked to answer with what it has.`;
const UNSEEN_NOTICE = "The model rejected the images of this conversation; it answered without them.";

interface LoopParts {
  line: ModelLine;
  tools: ToolTable;
  price: ResolvedPrice | undefined;
  steering: Steering;
}

async function* runToolLoop(parts: LoopParts, turn: EngineTurn, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const { line, tools, steering } = parts;
  const timeOf = createTimeLines();
  let prompt: PromptMessage[] = [
    ...(turn.system.trim() === "" ? [] : [{ role: "system" as const, content: turn.system.toWellFormed() }]),
    ...toPrompt(turn.context, line.name, await loadAttachedImages(turn.context), timeOf),
  ];
  const attached = createAttachedFiles(turn.context);
  const reasoning = reasoningOptions(turn.thinking, line.access, prompt);
  const bill = createBill(line.name, parts.price);
  const takenIds = new Set<string>();
  for (let step = 1; !signal.aborted; step++) {
    const mayUseTools = step <= MAX_TOOL_STEPS;
    for (const message of steering.take()) {
      yield { type: "steered", ...message };
      const steered = { role: "user" as const, content: message.text, timestamp: line.clock.now() };
      prompt.push(...toPrompt([steered], line.name, undefined, timeOf));
    }
    if (!mayUseTools) {
      yield { type: "notice", text: LIMIT_NOTICE };
      prompt.push(userMessage(LAST_STEP));
    }
    const options = { ...toolOptions(tools, mayUseTools), ...reasoning };
    const ask = (messages: PromptMessage[]): ReturnType<typeof askModel> =>
      askModel(line, { ...providerOptions(line.access, messages), ...options }, signal, takenIds);
    let asked = yield* ask(prompt);
    if (mayBeForImages(asked) && prompt.some(hasImages) && !signal.aborted) {
      line.logger.info("asking the model again, without images", { code: asked.error?.code });
      const shown = prompt;
      prompt = withoutImages(shown);
      asked = yield* ask(prompt);
      // For earlier images the notice was already sent.
      if (asked.error === undefined && endsWithImages(shown)) yield { type: "notice", text: UNSEEN_NOTICE };
    }
    const goesOn = yield* reportAnswer(parts, asked, { bill, prompt, signal, mayUseTools, isFirst: step === 1 });
    if (!goesOn) return;
    prompt.push({ role: "assistant", content: asked.answer.parts() });
    prompt.push({
      role: "tool",
      content: yield* runCalls(parts, asked.answer.calls(), { signal, attached, sessionKey: turn.sessionKey }),
    });
  }
}

function endsWithImages(prompt: readonly PromptMessage[]): boolean {
  const newest = prompt.findLast(({ role }) => role === "user");
  return newest !== undefined && hasImages(newest);
}

/** The model may not support images, or the provider rejected one; it would reject it in every later turn too. */
function mayBeForImages({ error, answer }: Asked): boolean {
  return error !== undefined && REFUSALS.has(error.code) && !answer.hasOutput();
}

const REFUSALS: ReadonlySet<string> = new Set<ModelErrorCode>([
  "model-request-invalid",
  "model-not-found",
  "context-too-long",
]);

interface Step {
  bill: Bill;
  prompt: readonly PromptMessage[];
  signal: AbortSignal;
  mayUseTools: boolean;
  isFirst: boolean;
}

/** Yields the answer's message. Returns true if there are tools to run. */
async function* reportAnswer(parts: LoopParts, asked: Asked, step: Step): AsyncGenerator<EngineEvent, boolean> {
  const { answer } = asked;
  const isAborted = step.signal.aborted;
  const error = asked.error ?? problemOf(answer, parts.line, step.isFirst);
  if (error !== undefined && !isAborted) throw error;
  const calls = isAborted || !step.mayUseTools ? [] : answer.calls();
  const content = answer.blocks({ withCalls: calls.length > 0 });
  if (isAborted && content.length === 0) return false;
  const message: AssistantMessage = {
    role: "assistant",
    content,
    api: parts.line.access.protocol,
    provider: parts.line.name.provider,
    model: parts.line.name.model,
    usage: step.bill.add(tokensOf(answer.finish(), step.prompt, JSON.stringify(content))),
    stopReason: isAborted ? "aborted" : stopReasonOf(answer, calls.length > 0),
    timestamp: parts.line.clock.now(),
  };
  yield { type: "message", message };
  const usage = step.bill.usage();
  if (usage !== undefined) yield { type: "usage", usage };
  return calls.length > 0;
}

function problemOf(answer: Answer, { name, access }: ModelLine, isFirst: boolean): HoldfastError | undefined {
  const reason = answer.finish()?.finishReason;
  if (reason?.unified === "content-filter") return refusedError(name);
  if (isFirst && !answer.hasOutput()) return emptyAnswerError(name);
  // Servers that imitate OpenAI often omit the finish reason; the providers themselves never do.
  const isCut = reason === undefined || (reason.unified === "other" && reason.raw === undefined);
  return isCut && access.protocol !== "openai-compatible" ? cutOffError(name) : undefined;
}

function cutOffError({ provider, model }: ModelLine["name"]): HoldfastError {
  const message = `${provider}/${model} stopped in the middle of its answer.`;
  return new HoldfastError("unavailable", "model-answer-cut", message, {
    hint: "Ask again. If it keeps happening, check the network and providers.<name>.baseUrl.",
    data: { provider, model },
  });
}

function stopReasonOf(answer: Answer, hasCalls: boolean): NonNullable<AssistantMessage["stopReason"]> {
  if (hasCalls) return "toolUse";
  return answer.finish()?.finishReason.unified === "length" ? "length" : "stop";
}

/** Runs the calls in order: the model may write a file and read it again. */
async function* runCalls(
  { tools, line }: LoopParts,
  calls: readonly ToolCall[],
  use: Omit<ToolUse, "callId">,
): AsyncGenerator<EngineEvent, ToolPart[]> {
  const results: ToolPart[] = [];
  for (const { id, name, input } of calls) {
    yield { type: "tool-start", id, name, input: input ?? {} };
    const outcome = use.signal.aborted
      ? { text: INTERRUPTED_RESULT, isError: true }
      : await runTool(tools, { name, input }, { ...use, callId: id, logger: line.logger });
    yield { type: "tool-end", id, name, isError: outcome.isError };
    yield { type: "message", message: toolResultMessage({ id, name, ...outcome }, line.clock.now()) };
    const output = {
      type: outcome.isError ? ("error-text" as const) : ("text" as const),
      value: outcome.text || "(no output)",
    };
    results.push({ type: "tool-result", toolCallId: id, toolName: name, output });
  }
  return results;
}

interface SteeredMessage {
  text: string;
  mark?: SteerMark | undefined;
}

export type Steering = ReturnType<typeof createSteering>;

export function createSteering() {
  let waiting: { message: SteeredMessage; settle: (taken: boolean) => void }[] = [];
  let isOpen = true;
  const settleAll = (taken: boolean): SteeredMessage[] => {
    const settled = waiting;
    waiting = [];
    for (const { settle } of settled) settle(taken);
    return settled.map(({ message }) => message);
  };
  return {
    /** Resolves to true when the next request takes the message, to false when the turn ends first. */
    offer: async (message: SteeredMessage): Promise<boolean> => {
      if (!isOpen) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ message, settle: resolve });
      return await promise;
    },
    take: () => settleAll(true),
    close: (): void => {
      isOpen = false;
      settleAll(false);
    },
  };
}

export interface ModelEngineOptions {
  providers: Readonly<Record<string, ProviderConfig>>;
  models: Readonly<Record<string, ModelConfig>>;
  env: Environment;
  logger: Logger;
  clock: Clock;
  tools: ToolTable;
  /** Default: 60 s. */
  maxSilenceMs?: number | undefined;
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

export function createModelEngine(options: ModelEngineOptions): Engine {
  const running = new Map<string, Steering>();
  return {
    name: "model",
    keepsConversation: false,
    async *run(turn, signal) {
      if (signal.aborted) return;
      const line = openLine(options, turn.model);
      const price = resolveModelPrice(line.name, options.models);
      const steering = createSteering();
      // A flush is not shown to anyone, so it must not take a person's message.
      if (turn.kind === "flush") steering.close();
      else running.set(turn.sessionKey, steering);
      try {
        yield* runToolLoop({ line, price, steering, tools: options.tools }, turn, signal);
      } finally {
        steering.close();
        if (running.get(turn.sessionKey) === steering) running.delete(turn.sessionKey);
      }
    },
    summarize: async (request, signal) => {
      const line = openLine(options, request.model);
      return await summarize(line, request, resolveContextWindow(request.model, options.models).tokens, signal);
    },
    steer: async (sessionKey, text, mark) => (await running.get(sessionKey)?.offer({ text, mark })) ?? false,
    close: async () => running.forEach((steering) => steering.close()),
  };
}

function openLine(options: ModelEngineOptions, spec: string | undefined): ModelLine {
  if (spec === undefined || spec.trim() === "")
    throw new HoldfastError("usage", "model-missing", "No model is configured for this agent.", {
      hint:
        "Set one with `holdfast config set agents.main.model anthropic/claude-haiku-5-5` (replace main by the agent's id) " +
        "and put the provider's key into the environment. For this conversation only, use /model.",
    });
  const name = resolveModelName(spec, options.models);
  const access = resolveProvider(name.provider, options.providers, options.env);
  return { ...options, name, access, maxSilenceMs: options.maxSilenceMs ?? MAX_SILENCE_MS };
}
