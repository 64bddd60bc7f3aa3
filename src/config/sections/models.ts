/** Models, what they cost, and where they are reached. */

export interface ModelConfig {
  alias?: string;
  /** Tokens that fit into one request. Left out: what is known of the model. */
  contextWindow?: number;
  /** US dollars per million tokens. Left out: what is known of the model. */
  price?: ModelPrice;
}

/** What is left out costs what is known of the model, else nothing. */
export interface ModelPrice {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** `anthropic`, `openai` and `google` are known by name; any other name speaks OpenAI's protocol. */
export interface ProviderConfig {
  /** Left out: the provider's own address. Needed for a provider that is not known by name. */
  baseUrl?: string;
  /** The environment variable that holds the key. Left out: the provider's usual one. */
  apiKeyEnv?: string;
}
