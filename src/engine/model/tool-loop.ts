/**
 * A turn: the model is asked, its tools are run, it is asked again, until it has nothing left to do. Each
 * message is handed out when it is complete, and before what follows from it is begun.
 */
import { HoldfastError } from "../../base/errors.ts";
import { type ModelErrorCode, emptyAnswerError, refusedError } from "../../models/model-errors.ts";
import type { ResolvedPrice } from "../../models/prices.ts";
import type { AssistantMessage, ToolResultMessage } from "../../transcript/entries.ts";
import type { EngineEvent, EngineTurn } from "../engine.ts";
import type { ToolTable, ToolUse } from "../tools/agent-tool.ts";
import { createAttachedFiles } from "../tools/attached-files.ts";
import { INTERRUPTED_RESULT, runTool } from "../tools/run-tool.ts";
import type { Answer, ToolCall } from "./answer.ts";
import { type Asked, type ModelLine, askModel } from "./ask-model.ts";
import { loadAttachedImages } from "./attached-images.ts";
import { providerOptions, reasoningOptions, toolOptions } from "./request-options.ts";
import type { PromptMessage, ToolPart } from "./sdk-types.ts";
import type { Steering } from "./steering.ts";
import { hasImages, toPrompt, userMessage, withoutImages } from "./to-prompt.ts";
import { type Bill, createBill, tokensOf } from "./usage.ts";

/** How often the tools may be used before the model has to answer. */
const MAX_TOOL_STEPS = 25;

const LAST_STEP = `[The limit of ${MAX_TOOL_STEPS} steps with tools is reached. Answer now with what you have, and say what is left to do.]`;
const LIMIT_NOTICE = `The limit of ${MAX_TOOL_STEPS} steps with tools in one turn is reached; the model was asked to answer with what it has.`;
const UNSEEN_NOTICE = "The model did not take the images of this conversation; it was asked without them.";

export interface LoopParts {
  line: ModelLine;
  tools: ToolTable;
  price: ResolvedPrice | undefined;
  steering: Steering;
}

export async function* runToolLoop(
  parts: LoopParts,
  turn: EngineTurn,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  const { line, tools, steering } = parts;
  let prompt: PromptMessage[] = [
    ...(turn.system.trim() === "" ? [] : [{ role: "system" as const, content: turn.system.toWellFormed() }]),
    ...toPrompt(turn.context, line.name, await loadAttachedImages(turn.context)),
  ];
  const attached = createAttachedFiles(turn.context);
  const reasoning = reasoningOptions(turn.thinking, line.access, prompt);
  const bill = createBill(line.name, parts.price);
  const takenIds = new Set<string>();
  for (let step = 1; !signal.aborted; step++) {
    const mayUseTools = step <= MAX_TOOL_STEPS;
    for (const message of steering.take()) {
      yield { type: "steered", ...message };
      prompt.push(userMessage(message.text.toWellFormed()));
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
      // Who sent none with this message was told when they did.
      if (asked.error === undefined && endsWithImages(shown)) yield { type: "notice", text: UNSEEN_NOTICE };
    }
    const goesOn = yield* reportAnswer(parts, asked, { bill, prompt, signal, mayUseTools, isFirst: step === 1 });
    if (!goesOn) return;
    prompt.push({ role: "assistant", content: asked.answer.parts() });
    prompt.push({ role: "tool", content: yield* runCalls(parts, asked.answer.calls(), { signal, attached }) });
  }
}

function endsWithImages(prompt: readonly PromptMessage[]): boolean {
  const newest = prompt.findLast(({ role }) => role === "user");
  return newest !== undefined && hasImages(newest);
}

/** Some models cannot see, and a provider may refuse an image for reasons of its own, as it would at every turn. */
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

/** Hands out what was said; returns whether there are tools to run. What a failed answer said went out in pieces. */
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

/** What is wrong with an answer that came to its end. */
function problemOf(answer: Answer, { name, access }: ModelLine, isFirst: boolean): HoldfastError | undefined {
  const reason = answer.finish()?.finishReason;
  if (reason?.unified === "content-filter") return refusedError(name);
  if (isFirst && !answer.hasOutput()) return emptyAnswerError(name);
  // Servers that only speak OpenAI's protocol often leave the reason out; the providers themselves never do.
  const isCut = reason === undefined || (reason.unified === "other" && reason.raw === undefined);
  return isCut && access.protocol !== "openai-compatible" ? cutOffError(name) : undefined;
}

function cutOffError({ provider, model }: ModelLine["name"]): HoldfastError {
  return new HoldfastError("unavailable", "model-answer-cut", `${provider}/${model} broke off in its answer.`, {
    hint: "Ask again; if it goes on, check the network and providers.<name>.baseUrl.",
    data: { provider, model },
  });
}

function stopReasonOf(answer: Answer, hasCalls: boolean): NonNullable<AssistantMessage["stopReason"]> {
  if (hasCalls) return "toolUse";
  return answer.finish()?.finishReason.unified === "length" ? "length" : "stop";
}

/** One after the other, in the order of the model: it may write a file and read it again. */
async function* runCalls(
  { tools, line }: LoopParts,
  calls: readonly ToolCall[],
  use: ToolUse,
): AsyncGenerator<EngineEvent, ToolPart[]> {
  const results: ToolPart[] = [];
  for (const { id, name, input } of calls) {
    yield { type: "tool-start", id, name, input: input ?? {} };
    const outcome = use.signal.aborted
      ? { text: INTERRUPTED_RESULT, isError: true }
      : await runTool(tools, { name, input }, { ...use, logger: line.logger });
    yield { type: "tool-end", id, name, isError: outcome.isError };
    const message: ToolResultMessage = {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text: outcome.text }],
      isError: outcome.isError,
      timestamp: line.clock.now(),
    };
    yield { type: "message", message };
    const output = {
      type: outcome.isError ? ("error-text" as const) : ("text" as const),
      value: outcome.text || "(no output)",
    };
    results.push({ type: "tool-result", toolCallId: id, toolName: name, output });
  }
  return results;
}
