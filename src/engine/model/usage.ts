/** What a request took, in tokens and in money. */
import { isRecord } from "../../base/json-record.ts";
import type { ModelName } from "../../models/model-name.ts";
import { type ResolvedPrice, type TokenCounts, tokenCostOf } from "../../models/prices.ts";
import type { MessageUsage } from "../../transcript/entries.ts";
import { IMAGE_TOKENS, textTokens } from "../../transcript/estimate-tokens.ts";
import { NO_COST } from "../../transcript/no-usage.ts";
import type { EngineUsage } from "../engine.ts";
import type { Finish, PromptMessage } from "./sdk-types.ts";

/** Some servers count nothing; then the lengths have to do, or the context would never look full. */
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

/** The bytes of an image are no words. */
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

export interface Bill {
  /** Of one request, for the message that it brought. */
  add(tokens: TokenCounts): MessageUsage;
  /** Of the newest request, with the costs of all. */
  usage(): EngineUsage | undefined;
}

export function createBill({ provider, model }: ModelName, price: ResolvedPrice | undefined): Bill {
  let newest: TokenCounts | undefined;
  let costUsd = 0;
  return {
    add: (tokens) => {
      const cost = price === undefined ? NO_COST : tokenCostOf(tokens, price);
      newest = tokens;
      costUsd += cost.total;
      return { ...tokens, totalTokens: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite, cost };
    },
    usage: () =>
      newest === undefined ? undefined : { provider, model, ...newest, ...(price === undefined ? {} : { costUsd }) },
  };
}
