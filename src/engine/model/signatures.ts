/**
 * Providers sign what a model thought, and want it back unchanged while the same turn goes on. The
 * signature stands in the block, under the name that pi gave it; blocks of others keep theirs.
 */
import { isRecord } from "../../base/json-record.ts";
import type { ContentBlock } from "../../transcript/entries.ts";
import type { ProviderMetadata } from "./sdk-types.ts";

/** What a block holds besides its own members. */
export function signatureOf(
  type: "thinking" | "toolCall",
  metadata: ProviderMetadata | undefined,
): { thinkingSignature?: string; thoughtSignature?: string } {
  const anthropic = metadata?.["anthropic"]?.["signature"];
  const google = metadata?.["google"]?.["thoughtSignature"];
  const signature = typeof anthropic === "string" ? anthropic : google;
  if (typeof signature !== "string" || signature === "") return {};
  return type === "thinking" ? { thinkingSignature: signature } : { thoughtSignature: signature };
}

/** Undefined: it has none, or the provider wants none. */
export function signatureOptions(provider: string, block: ContentBlock): ProviderMetadata | undefined {
  if (!isRecord(block)) return undefined;
  const signature = block["thinkingSignature"] ?? block["thoughtSignature"];
  if (typeof signature !== "string") return undefined;
  if (provider === "anthropic") return { anthropic: { signature } };
  return provider === "google" ? { google: { thoughtSignature: signature } } : undefined;
}
