/** Turns texts into vectors with an embedding model, over the AI SDK. */
import { type Clock, backOffMs } from "../base/clock.ts";
import type { HoldfastError } from "../base/errors.ts";
import type { OpenModelOptions } from "./language-model.ts";
import { isTransient, modelError } from "./model-errors.ts";
import { resolveModelName, resolveModelPrice } from "./model-info.ts";
import { createBoundedFetch, loadSdkEmbedding, resolveProvider } from "./provider-access.ts";

export interface EmbeddingModel {
  /** Provider and model. */
  name: string;
  /** Waits and tries again while the provider is busy, five times unless told otherwise. */
  encode(texts: readonly string[], options?: EncodeOptions): Promise<Embeddings>;
}

interface EncodeOptions {
  signal?: AbortSignal | undefined;
  attempts?: number | undefined;
}

interface Embeddings {
  vectors: Float32Array[];
  tokens: number;
  /** US dollars. Undefined if the price is unknown. */
  costUsd?: number | undefined;
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const ATTEMPTS = 5;
const BACK_OFF = { firstMs: 1000, maxMs: 30_000 };
const TIMEOUT_MS = 60_000;

/** `spec` as for a language model. */
export function openEmbeddingModel(spec: string, options: OpenModelOptions & { clock: Clock }): EmbeddingModel {
  const { provider, model } = resolveModelName(spec, options.models);
  const access = resolveProvider(provider, options.providers, options.env);
  const price = resolveModelPrice({ provider, model }, options.models);

  const embed = async (values: string[], signal: AbortSignal): Promise<Embeddings> => {
    const fetch = createBoundedFetch({ maxBytes: MAX_ANSWER_BYTES });
    const [{ embedMany }, loaded] = await Promise.all([import("ai"), loadSdkEmbedding(access, model, fetch)]);
    const { embeddings, usage } = await embedMany({
      model: loaded,
      values,
      maxRetries: 0,
      telemetry: { isEnabled: false },
      abortSignal: signal,
    });
    // Google does not count.
    const tokens = Number.isFinite(usage.tokens) ? usage.tokens : 0;
    const costUsd = price === undefined ? undefined : (tokens * price.input) / 1_000_000;
    return { vectors: embeddings.map((vector) => Float32Array.from(vector)), tokens, costUsd };
  };

  return {
    name: `${provider}/${model}`,
    encode: async (texts, { signal, attempts = ATTEMPTS } = {}) => {
      for (let failures = 1; ; failures += 1) {
        const limited = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]);
        try {
          // A provider refuses an empty text.
          return await embed(
            texts.map((text) => (text.trim() === "" ? "-" : text)),
            limited,
          );
        } catch (cause) {
          const error = modelError(cause, { provider, model, signal: limited });
          if (!isTransient(error) || failures >= attempts) throw error;
          await options.clock.sleep(pauseOf(error, failures), signal);
        }
      }
    },
  };
}

/** The provider's own wish, within limits. */
function pauseOf({ data }: HoldfastError, failures: number): number {
  const wish = data["retryAfterSeconds"];
  return typeof wish === "number" ? Math.min(wish * 1000, BACK_OFF.maxMs) : backOffMs(failures, BACK_OFF);
}
