/** The contract of a language model: what Holdfast asks of one, whoever serves it. */

export interface LanguageModel {
  provider: string;
  /** As the provider calls it. */
  model: string;
  /**
   * One request, no retries: whoever calls knows how long an answer is worth waiting for.
   * Fails with a HoldfastError whose code is one of `MODEL_ERRORS` (`model-errors.ts`).
   */
  generateText(request: TextRequest): Promise<TextAnswer>;
}

export interface TextRequest {
  /** Rules that stand above the prompt. Left out: none. */
  system?: string;
  prompt: string;
  maxTokens?: number;
  /** Models that do not take one ignore it. */
  temperature?: number;
  /** `none`: think as little as the model lets one choose. Left out: as the provider does by itself. */
  reasoning?: "none";
  /** An abort by `AbortSignal.timeout` becomes the error `model-timeout`, any other `model-interrupted`. */
  signal?: AbortSignal;
}

export interface TextAnswer {
  text: string;
  /** `length`: the answer was cut at `maxTokens`. */
  finish: "stop" | "length" | "other";
  usage: { inputTokens?: number; outputTokens?: number };
}
