/**
 * Sends one request to a model and yields its text as it arrives. A transient failure is retried at most
 * twice, and only before the model has said anything. The answer is collected as blocks for the transcript and as parts
 * for the next request.
 */
import type { Clock } from "../../base/clock.ts";
import type { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { isTransient, modelError } from "../../models/model-errors.ts";
import { type ProviderAccess, createBoundedFetch, loadSdkModel } from "../../models/provider-access.ts";
import type { EngineEvent, EngineUsage } from "../engine.ts";
import { raceAbort } from "../../base/async.ts";
import {
  type CallOptions,
  type StreamPart,
  signatureOf,
  type AssistantPart,
  type Finish,
  type ProviderMetadata,
  type PromptMessage,
} from "./to-prompt.ts";
import { type ModelName, type ResolvedPrice, type TokenCounts, tokenCostOf } from "../../models/model-info.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { type ContentBlock, type MessageUsage, NO_COST } from "../../transcript/entries.ts";
import { IMAGE_TOKENS, textTokens } from "../../transcript/messages.ts";

export interface ModelLine {
  name: ModelName;
  access: ProviderAccess;
  logger: Logger;
  clock: Clock;
  maxSilenceMs: number;
  fetch?: typeof globalThis.fetch | undefined;
}

type TextEvent = EngineEvent & { type: "text" };

export interface Asked {
  answer: Answer;
  error?: HoldfastError | undefined;
}

/** Far more than any answer takes, with protocol overhead. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const MAX_RETRIES = 2;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_WAIT_MS = 30_000;

type Question = Omit<CallOptions, "abortSignal">;

/** Never throws: a partial answer comes with its error. */
export async function* askModel(
  line: ModelLine,
  options: Question,
  signal: AbortSignal,
  takenIds: Set<string> = new Set(),
): AsyncGenerator<TextEvent, Asked> {
  for (let attempt = 0; ; attempt++) {
    const answer = createAnswer(takenIds);
    const error = yield* streamInto(answer, line, options, signal);
    if (error === undefined) return { answer };
    const wait = retryWait(error, attempt);
    if (signal.aborted || wait === undefined || answer.hasOutput()) return { answer, error };
    line.logger.info("asking the model again", { code: error.code, attempt: attempt + 1, waitMs: wait });
    try {
      await line.clock.sleep(wait, signal);
    } catch {
      return { answer, error };
    }
  }
}

function retryWait(error: HoldfastError, attempt: number): number | undefined {
  if (attempt >= MAX_RETRIES || !isTransient(error)) return undefined;
  const said = error.data["retryAfterSeconds"];
  const wait = typeof said === "number" ? said * 1000 : FIRST_RETRY_MS * 4 ** attempt * (0.75 + Math.random() / 2);
  return wait <= MAX_RETRY_WAIT_MS ? wait : undefined;
}

async function* streamInto(
  answer: Answer,
  line: ModelLine,
  options: Question,
  turnSignal: AbortSignal,
): AsyncGenerator<TextEvent, HoldfastError | undefined> {
  const idle = createIdleTimer(line.maxSilenceMs);
  const signal = AbortSignal.any([turnSignal, idle.signal]);
  const call = { ...line.name, signal };
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined;
  try {
    const bounded = createBoundedFetch({ maxBytes: MAX_STREAM_BYTES, onBytes: idle.touch, fetch: line.fetch });
    const model = await loadSdkModel(line.access, line.name.model, bounded);
    const opened = await idle.while(
      async () => await raceAbort(Promise.resolve(model.doStream({ ...options, abortSignal: signal })), signal),
    );
    const open = opened.stream.getReader();
    reader = open;
    for (;;) {
      const { done, value } = await idle.while(async () => await raceAbort(open.read(), signal));
      if (done) break;
      if (value.type === "error") return modelError(value.error, call);
      if (value.type === "stream-start" && value.warnings.length > 0) {
        line.logger.debug("model request adjusted", { warnings: value.warnings });
      }
      const text = answer.add(value);
      if (text !== "") yield { type: "text", text };
    }
    return undefined;
  } catch (error) {
    return modelError(error, call);
  } finally {
    // Closes the connection, also if the consumer stopped early. Not awaited.
    void reader?.cancel().catch(() => undefined);
  }
}

/** How long a model may send nothing at all. */
export const MAX_SILENCE_MS = 60_000;

/** Aborts a request when the model is silent for too long. The timer runs only during `while`. */
function createIdleTimer(maxSilenceMs: number) {
  const controller = new AbortController();
  const giveUp = (): void =>
    controller.abort(new DOMException(`No data for ${maxSilenceMs / 1000} s.`, "TimeoutError"));
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: controller.signal,
    touch: (): void => void timer?.refresh(),
    while: async <T>(waiting: () => Promise<T>): Promise<T> => {
      timer = setTimeout(giveUp, maxSilenceMs);
      try {
        return await waiting();
      } finally {
        clearTimeout(timer);
        timer = undefined;
      }
    },
  };
}

export interface ToolCall {
  id: string;
  name: string;
  /** Undefined: the model wrote invalid JSON. */
  input: unknown;
}

export type Answer = ReturnType<typeof createAnswer>;

type Item =
  | { type: "text" | "thinking"; id: string; text: string; metadata?: ProviderMetadata | undefined }
  | { type: "call"; call: ToolCall; metadata?: ProviderMetadata | undefined };

/** `takenIds`: ids of all tool calls of this turn. */
export function createAnswer(takenIds: Set<string>) {
  const items: Item[] = [];
  let finish: Finish | undefined;
  return {
    add: (part: StreamPart): string => {
      if (part.type === "finish") finish = part;
      return addPart(items, part, takenIds);
    },
    /** True if a retry would repeat something. */
    hasOutput: () => items.some((item) => item.type === "call" || item.text !== ""),
    text: () => items.map((item) => (item.type === "text" ? item.text : "")).join(""),
    calls: () => items.flatMap((item) => (item.type === "call" ? [item.call] : [])),
    blocks: ({ withCalls }: { withCalls: boolean }) => items.flatMap((item) => blockOf(item, withCalls)),
    /** Content for the next request of this turn, with the provider's metadata. */
    parts: () => items.flatMap(partOf),
    finish: () => finish,
  };
}

function addPart(items: Item[], part: StreamPart, takenIds: Set<string>): string {
  switch (part.type) {
    case "text-start":
    case "text-end":
      extend(items, "text", part.id, "", part.providerMetadata);
      return "";
    case "text-delta":
      extend(items, "text", part.id, part.delta, part.providerMetadata);
      return part.delta;
    case "reasoning-start":
    case "reasoning-end":
      extend(items, "thinking", part.id, "", part.providerMetadata);
      return "";
    case "reasoning-delta":
      extend(items, "thinking", part.id, part.delta, part.providerMetadata);
      return "";
    case "tool-call": {
      const input = part.input.trim() === "" ? {} : parseJson(part.input);
      const call = { id: freshId(part.toolCallId, takenIds), name: part.toolName, input };
      items.push({ type: "call", call, metadata: part.providerMetadata });
      return "";
    }
    default:
      return "";
  }
}

/** Accepts a delta whose start event was never sent. */
function extend(
  items: Item[],
  type: "text" | "thinking",
  id: string,
  text: string,
  metadata: ProviderMetadata | undefined,
): void {
  const found = items.findLast((item) => item.type === type && item.id === id);
  if (found === undefined || found.type === "call") {
    items.push({ type, id, text, metadata });
    return;
  }
  found.text += text;
  if (metadata === undefined) return;
  const merged = { ...found.metadata };
  for (const [provider, members] of Object.entries(metadata)) merged[provider] = { ...merged[provider], ...members };
  found.metadata = merged;
}

/** Some servers send no id, or the same one for every call. */
function freshId(id: string, takenIds: Set<string>): string {
  const isGood = /^[\w-]{1,64}$/.test(id) && !takenIds.has(id);
  const fresh = isGood ? id : `call_${takenIds.size + 1}_${crypto.randomUUID().slice(0, 8)}`;
  takenIds.add(fresh);
  return fresh;
}

function blockOf(item: Item, withCalls: boolean): ContentBlock[] {
  if (item.type === "call") {
    const { id, name, input } = item.call;
    const block = { type: "toolCall" as const, id, name, arguments: isRecord(input) ? input : {} };
    return withCalls ? [{ ...block, ...signatureOf("toolCall", item.metadata) }] : [];
  }
  if (item.text === "") return [];
  if (item.type === "text") return [{ type: "text", text: item.text }];
  return [{ type: "thinking", thinking: item.text, ...signatureOf("thinking", item.metadata) }];
}

function partOf(item: Item): AssistantPart[] {
  const options = item.metadata === undefined ? {} : { providerOptions: item.metadata };
  if (item.type === "call") {
    const { id, name, input } = item.call;
    return [{ type: "tool-call", toolCallId: id, toolName: name, input: isRecord(input) ? input : {}, ...options }];
  }
  if (item.type === "thinking") return [{ type: "reasoning", text: item.text, ...options }];
  return item.text.trim() === "" ? [] : [{ type: "text", text: item.text, ...options }];
}

/** Estimates the counts if the server reports none; otherwise the context would never look full. */
export function tokensOf(finish: Finish | undefined, prompt: readonly PromptMessage[], output: string): TokenCounts {
  const { inputTokens, outputTokens } = finish?.usage ?? {};
  const cacheRead = count(inputTokens?.cacheRead) ?? 0;
  const cacheWrite = count(inputTokens?.cacheWrite) ?? 0;
  const total = count(inputTokens?.total);
  const input = count(inputTokens?.noCache) ?? (total === undefined ? undefined : total - cacheRead - cacheWrite);
  const isCounted = input !== undefined && input + cacheRead + cacheWrite > 0;
  return {
    input: isCounted ? Math.max(0, input) : promptTokens(prompt),
    output: count(outputTokens?.total) ?? textTokens(output),
    cacheRead,
    cacheWrite,
  };
}

/** Counts an image at a fixed price, not by its bytes. */
function promptTokens(prompt: readonly PromptMessage[]): number {
  let images = 0;
  const words = JSON.stringify(prompt, (_key, value: unknown) => {
    if (!isRecord(value) || value["type"] !== "file") return value;
    images += 1;
    return null;
  });
  return textTokens(words) + images * IMAGE_TOKENS;
}

function count(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export type Bill = ReturnType<typeof createBill>;

export function createBill({ provider, model }: ModelName, price: ResolvedPrice | undefined) {
  let newest: TokenCounts | undefined;
  let costUsd = 0;
  return {
    add: (tokens: TokenCounts): MessageUsage => {
      const cost = price === undefined ? NO_COST : tokenCostOf(tokens, price);
      newest = tokens;
      costUsd += cost.total;
      return { ...tokens, totalTokens: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite, cost };
    },
    usage: (): EngineUsage | undefined => {
      if (newest === undefined) return undefined;
      return { provider, model, ...newest, costUsd: price === undefined ? undefined : costUsd };
    },
  };
}
