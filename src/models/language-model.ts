/**
 * Asks a language model for text, over the AI SDK's provider packages. Opening a model checks its name, address and key;
 * the packages take longer to load than most commands take to run, so the first request loads them.
 */
import { type Logger, silentLogger } from "../base/log.ts";
import type { ModelConfig, ProviderConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { emptyAnswerError, modelError, refusedError } from "./model-errors.ts";
import { resolveModelName, resolveModelPrice, tokenCostOf } from "./model-info.ts";
import { lazy } from "../base/async.ts";
import {
  loadSdkModel,
  createBoundedFetch,
  type ProviderAccess,
  type SdkModel,
  resolveProvider,
} from "./provider-access.ts";

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
  const fetch = createBoundedFetch({ maxBytes: MAX_ANSWER_BYTES });
  const loaded = lazy(async () => await loadSdkModel(access, model, fetch));
  return {
    provider,
    model,
    generateText: async (request) => {
      const answer = await generate(await loaded.get(), access, request, logger);
      const { inputTokens: input = 0, outputTokens: output = 0 } = answer.usage;
      const price = input + output === 0 ? undefined : resolveModelPrice({ provider, model }, options.models);
      const cost = price && tokenCostOf({ input, output, cacheRead: 0, cacheWrite: 0 }, price);
      return { ...answer, costUsd: cost?.total };
    },
  };
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

async function generate(model: SdkModel, access: ProviderAccess, request: TextRequest, logger: Logger) {
  const { system, prompt, maxTokens, temperature, signal } = request;
  const call = { provider: access.name, model: model.modelId, signal };
  // OpenAI-compatible servers reject settings they do not know; the named providers translate this one.
  const reasoning = access.protocol === "openai-compatible" ? undefined : request.reasoning;
  const { content, finishReason, usage, warnings } = await Promise.resolve(
    model.doGenerate({
      prompt: [
        ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
        { role: "user", content: [{ type: "text", text: prompt }] },
      ],
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(signal === undefined ? {} : { abortSignal: signal }),
    }),
  ).catch((error: unknown) => {
    throw modelError(error, call);
  });
  for (const warning of warnings) logger.debug("model request adjusted", { warning });
  const { unified: reason } = finishReason;
  if (reason === "content-filter") throw refusedError(call);
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const finish: TextAnswer["finish"] = reason === "stop" || reason === "length" ? reason : "other";
  if (text === "" && finish === "other") throw emptyAnswerError(call);
  return { text, finish, usage: { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total } };
}
