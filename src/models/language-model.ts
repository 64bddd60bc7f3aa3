/**
 * Asks a language model for text, over the AI SDK. Opening a model checks its name, address and key; the SDK packages
 * take longer to load than most commands take to run, so the first request loads them.
 */
import type * as AiSdk from "ai";
import { type Logger, silentLogger } from "../base/log.ts";
import type { ModelConfig, ProviderConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { emptyAnswerError, modelError, refusedError } from "./model-errors.ts";
import { resolveModelName, resolveModelPrice, tokenCostOf } from "./model-info.ts";
import { lazy } from "../base/async.ts";
import { loadSdkModel, createBoundedFetch, type ProviderAccess, resolveProvider } from "./provider-access.ts";

export interface LanguageModel {
  provider: string;
  /** As the provider calls it. */
  model: string;
  /** One request without retries. Fails with a HoldfastError whose code is a `ModelErrorCode`. */
  generateText(request: TextRequest): Promise<TextAnswer>;
}

export interface TextRequest {
  system?: string | undefined;
  prompt: string;
  maxTokens?: number | undefined;
  /** Ignored by models that do not support it. */
  temperature?: number | undefined;
  /** `none`: as little thinking as the model allows. Default: the provider's default. */
  reasoning?: "none" | undefined;
  /** An abort by `AbortSignal.timeout` becomes the error `model-timeout`, any other `model-interrupted`. */
  signal?: AbortSignal | undefined;
}

export interface TextAnswer {
  text: string;
  /** `length`: the answer was cut at `maxTokens`. */
  finish: "stop" | "length" | "other";
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined };
  /** US dollars. Undefined if the price is unknown. */
  costUsd?: number | undefined;
}

export interface OpenModelOptions {
  providers: Readonly<Record<string, ProviderConfig>>;
  /** Configured models, for their aliases. Optional. */
  models?: Readonly<Record<string, ModelConfig>> | undefined;
  env: Environment;
  logger?: Logger | undefined;
}

export function openLanguageModel(spec: string, options: OpenModelOptions): LanguageModel {
  const { provider, model } = resolveModelName(spec, options.models);
  const access = resolveProvider(provider, options.providers, options.env);
  const logger = options.logger ?? silentLogger;
  const loaded = lazy(async () => await load(access, model, logger));
  return {
    provider,
    model,
    generateText: async (request) => {
      const answer = await generate(await loaded.get(), access, request);
      const { inputTokens: input = 0, outputTokens: output = 0 } = answer.usage;
      const price = input + output === 0 ? undefined : resolveModelPrice({ provider, model }, options.models);
      const cost = price && tokenCostOf({ input, output, cacheRead: 0, cacheWrite: 0 }, price);
      return { ...answer, costUsd: cost?.total };
    },
  };
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

type Loaded = Awaited<ReturnType<typeof load>>;

async function load(access: ProviderAccess, model: string, logger: Logger) {
  const fetch = createBoundedFetch({ maxBytes: MAX_ANSWER_BYTES });
  const [ai, loaded] = await Promise.all([import("ai"), loadSdkModel(access, model, fetch)]);
  return { ai, model: ai.wrapLanguageModel({ model: loaded, middleware: warningsTo(logger) }) };
}

/** The SDK prints warnings to the console and so into a command's output. This logs them instead. */
function warningsTo(logger: Logger): AiSdk.LanguageModelMiddleware {
  return {
    specificationVersion: "v4",
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      for (const warning of result.warnings) logger.debug("model request adjusted", { warning });
      return { ...result, warnings: [] };
    },
  };
}

async function generate({ ai, model }: Loaded, access: ProviderAccess, request: TextRequest): Promise<TextAnswer> {
  const call = { provider: access.name, model: model.modelId, signal: request.signal };
  // OpenAI-compatible servers reject settings they do not know; the named providers translate this one.
  const reasoning = access.protocol === "openai-compatible" ? undefined : request.reasoning;
  const { text, finishReason, usage } = await ai
    .generateText({
      model,
      prompt: request.prompt,
      maxRetries: 0,
      telemetry: { isEnabled: false },
      ...(request.system === undefined ? {} : { instructions: request.system }),
      ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(request.signal === undefined ? {} : { abortSignal: request.signal }),
    })
    .catch((error: unknown) => {
      throw modelError(error, call);
    });
  if (finishReason === "content-filter") throw refusedError(call);
  const finish = finishReason === "stop" || finishReason === "length" ? finishReason : "other";
  if (text === "" && finish === "other") throw emptyAnswerError(call);
  return { text, finish, usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } };
}
