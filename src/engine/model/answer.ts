/** One answer of a model as it comes in: what goes into the transcript, and what goes back to the model. */
import { isRecord } from "../../base/json-record.ts";
import type { ContentBlock } from "../../transcript/entries.ts";
import type { AssistantPart, Finish, ProviderMetadata, StreamPart } from "./sdk-types.ts";
import { signatureOf } from "./signatures.ts";

export interface ToolCall {
  id: string;
  name: string;
  /** Undefined: what the model wrote is no JSON. */
  input: unknown;
}

export interface Answer {
  /** Returns the text that is new in it. */
  add(part: StreamPart): string;
  /** Whether there is anything that a retry would repeat. */
  hasOutput(): boolean;
  text(): string;
  calls(): ToolCall[];
  /** For the transcript. */
  blocks(options: { withCalls: boolean }): ContentBlock[];
  /** For the next request of the same turn, with what the provider wants back. */
  parts(): AssistantPart[];
  finish(): Finish | undefined;
}

type Item =
  | { type: "text" | "thinking"; id: string; text: string; metadata?: ProviderMetadata | undefined }
  | { type: "call"; call: ToolCall; metadata?: ProviderMetadata | undefined };

/** `takenIds`: of the calls before, which have to stay apart from those in here. */
export function createAnswer(takenIds: Set<string>): Answer {
  const items: Item[] = [];
  let finish: Finish | undefined;
  return {
    add: (part) => {
      if (part.type === "finish") finish = part;
      return addPart(items, part, takenIds);
    },
    hasOutput: () => items.some((item) => item.type === "call" || item.text !== ""),
    text: () => items.map((item) => (item.type === "text" ? item.text : "")).join(""),
    calls: () => items.flatMap((item) => (item.type === "call" ? [item.call] : [])),
    blocks: ({ withCalls }) => items.flatMap((item) => blockOf(item, withCalls)),
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
      const call = { id: freshId(part.toolCallId, takenIds), name: part.toolName, input: parseInput(part.input) };
      items.push({ type: "call", call, metadata: part.providerMetadata });
      return "";
    }
    default:
      return "";
  }
}

/** Also a piece whose beginning was never sent. */
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

function parseInput(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return undefined;
  }
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
