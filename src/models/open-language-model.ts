/**
 * Language models over the AI SDK. Names, addresses and keys are checked when a model is opened; the
 * packages, which take longer to load than most commands to run, are loaded with the first request.
 */
import type * as AiSdk from "ai";
import { type Logger, silentLogger } from "../base/log.ts";
import type { ModelConfig, ProviderConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import type { LanguageModel, TextAnswer, TextRequest } from "./language-model.ts";
import { emptyAnswerError, modelError, refusedError } from "./model-errors.ts";
import { resolveModelName } from "./model-name.ts";
import { type ProviderAccess, resolveProvider } from "./provider-access.ts";
import { type SdkModel, loadSdkModel } from "./sdk-model.ts";

export interface OpenModelOptions {
  providers: Readonly<Record<string, ProviderConfig>>;
  /** Known models, for their aliases. Left out: none. */
  models?: Readonly<Record<string, ModelConfig>>;
  /** Where keys are taken from. */
  env: Environment;
  logger?: Logger;
}

/** `spec`: `provider/model`, an alias of `models`, or a well-known bare name such as `claude-haiku`. */
export function openLanguageModel(spec: string, options: OpenModelOptions): LanguageModel {
  const { provider, model } = resolveModelName(spec, options.models);
  const access = resolveProvider(provider, options.providers, options.env);
  const logger = options.logger ?? silentLogger;
  let loading: Promise<Loaded> | undefined;
  return {
    provider,
    model,
    generateText: async (request) => {
      loading ??= load(access, model, logger);
      return generate(await loading, access, request);
    },
  };
}

/** Far more than any text answer; far less than what would hurt. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

interface Loaded {
  ai: typeof AiSdk;
  model: SdkModel;
}

async function load(access: ProviderAccess, model: string, logger: Logger): Promise<Loaded> {
  const fetch = createBoundedFetch({ maxBytes: MAX_ANSWER_BYTES });
  const [ai, loaded] = await Promise.all([import("ai"), loadSdkModel(access, model, fetch)]);
  return { ai, model: ai.wrapLanguageModel({ model: loaded, middleware: warningsTo(logger) }) };
}

/** The SDK prints its warnings to the console, where a command's output goes; here they are logged. */
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
  // Servers that speak OpenAI's protocol refuse settings they do not know; the named providers translate.
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
  return {
    text,
    finish,
    usage: {
      ...(usage.inputTokens === undefined ? {} : { inputTokens: usage.inputTokens }),
      ...(usage.outputTokens === undefined ? {} : { outputTokens: usage.outputTokens }),
    },
  };
}
