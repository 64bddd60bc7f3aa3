/**
 * Converts a transcript into a prompt. A transcript may hold messages of other engines, tools and versions,
 * and may be cut anywhere, while providers reject any malformed request. So each tool call is followed by
 * exactly one result, call ids are valid for every provider, no message is empty, and the prompt starts and
 * ends with a user message.
 */
import { isRecord } from "../../base/json-record.ts";
import type {
  AssistantMessage,
  BashExecutionMessage,
  ContentBlock,
  MessageContent,
  ToolResultMessage,
  TranscriptMessage,
} from "../../transcript/entries.ts";
import { openVouchedFile, readAtMost } from "../tools/confined-files.ts";
import { delimited } from "../../base/text.ts";
import type { ModelName } from "../../models/model-info.ts";
import { attachmentsOf } from "../../transcript/messages.ts";
import type { ProviderAccess, SdkModel } from "../../models/provider-access.ts";
import type { ToolTable } from "../tools/agent-tool.ts";

export const INTERRUPTED_CALL = "Interrupted: it is unknown how far this got. Check before you repeat it.";

export function toPrompt(
  context: readonly TranscriptMessage[],
  target: ModelName,
  images: AttachedImages = NO_IMAGES,
  timeOf?: (message: TranscriptMessage) => string | undefined,
): PromptMessage[] {
  const results = resultsOfCalls(context);
  const paired = new Set(results.values());
  const turnStart = context.findLastIndex(({ role }) => role === "user");
  const ids = { last: 0 };
  const prompt = context.flatMap((message, index): PromptMessage[] => {
    if (message.role === "assistant") {
      const signed = index > turnStart && message.provider === target.provider && message.model === target.model;
      return assistantMessages(message, results, ids, signed ? target.provider : undefined);
    }
    if (message.role === "toolResult" && paired.has(message)) return [];
    const content = [...userParts(message), ...attachedParts(message, images)];
    const time = message.role === "user" ? timeOf?.(message) : undefined;
    return content.length === 0 ? [] : [{ role: "user", content: [...textParts(time ?? ""), ...content] }];
  });
  if (prompt[0]?.role !== "user") prompt.unshift(userMessage("[The conversation begins before this point.]"));
  if (prompt.at(-1)?.role === "assistant") prompt.push(userMessage("[Your answer ended here. Continue.]"));
  return prompt;
}

export function hasImages({ role, content }: PromptMessage): boolean {
  return role === "user" && content.some(({ type }) => type === "file");
}

export function withoutImages(prompt: readonly PromptMessage[]): PromptMessage[] {
  return prompt.map((message) => {
    if (message.role !== "user") return message;
    return { ...message, content: message.content.map((part) => (part.type === "file" ? UNSEEN_IMAGE : part)) };
  });
}

const UNSEEN_IMAGE: UserPart = { type: "text", text: "[an image that cannot be shown]" };

export function userMessage(text: string): PromptMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

/** Pairs calls with results. If a long conversation repeats an id, the next result counts. */
function resultsOfCalls(context: readonly TranscriptMessage[]): ReadonlyMap<ContentBlock, ToolResultMessage> {
  const open = new Map<string, ContentBlock>();
  const results = new Map<ContentBlock, ToolResultMessage>();
  for (const message of context) {
    if (message.role === "assistant") {
      for (const block of callsOf(message)) open.set(block.id, block);
    } else if (message.role === "toolResult") {
      const call = open.get(message.toolCallId);
      if (call !== undefined) results.set(call, message);
      open.delete(message.toolCallId);
    }
  }
  return results;
}

function assistantMessages(
  message: AssistantMessage,
  results: ReadonlyMap<ContentBlock, ToolResultMessage>,
  ids: { last: number },
  signedBy: string | undefined,
): PromptMessage[] {
  const calls = new Set<ContentBlock>(callsOf(message));
  const content: AssistantPart[] = [];
  const answers: ToolPart[] = [];
  for (const block of blocksOf(message.content)) {
    if (block.type === "text" && hasText(block.text)) content.push({ type: "text", text: block.text.toWellFormed() });
    else if (block.type === "thinking" && signedBy !== undefined) {
      const providerOptions = signatureOptions(signedBy, block);
      // Providers reject thinking without its signature.
      if (providerOptions !== undefined) content.push({ type: "reasoning", text: block.thinking, providerOptions });
    } else if (block.type === "toolCall" && calls.has(block)) {
      const toolCallId = `past_${(ids.last += 1)}`;
      const toolName = safeName(block.name);
      const providerOptions = signedBy === undefined ? undefined : signatureOptions(signedBy, block);
      content.push({
        type: "tool-call",
        toolCallId,
        toolName,
        input: block.arguments,
        ...(providerOptions === undefined ? {} : { providerOptions }),
      });
      answers.push({ type: "tool-result", toolCallId, toolName, output: outputOf(results.get(block)) });
    }
  }
  return [
    ...(content.length === 0 ? [] : [{ role: "assistant" as const, content }]),
    ...(answers.length === 0 ? [] : [{ role: "tool" as const, content: answers }]),
  ];
}

/** Skips calls of an answer that was cut off: they were never run. */
function callsOf({ content, stopReason }: AssistantMessage): Extract<ContentBlock, { type: "toolCall" }>[] {
  if (stopReason === "aborted" || stopReason === "error") return [];
  return blocksOf(content).filter((block) => block.type === "toolCall");
}

function outputOf(result: ToolResultMessage | undefined): Extract<ToolPart, { type: "tool-result" }>["output"] {
  if (result === undefined) return { type: "error-text", value: INTERRUPTED_CALL };
  const value = plainText(result.content) || "(no output)";
  return { type: result.isError ? "error-text" : "text", value };
}

function userParts(message: Exclude<TranscriptMessage, AssistantMessage>): UserPart[] {
  switch (message.role) {
    case "user":
    case "custom":
      return contentParts(message.content);
    case "compactionSummary":
      return textParts(`Summary of the conversation so far:\n${delimited("summary", message.summary)}`);
    case "branchSummary":
      return textParts(`What was tried on another branch:\n${delimited("summary", message.summary)}`);
    case "bashExecution":
      return message.excludeFromContext === true ? [] : textParts(describeCommand(message));
    case "toolResult":
      return textParts(
        `Result of the tool ${safeName(message.toolName)}:\n${delimited("result", plainText(message.content))}`,
      );
    default:
      // A role of another version or tool.
      return [];
  }
}

function attachedParts(message: TranscriptMessage, images: AttachedImages): UserPart[] {
  if (message.role !== "user") return [];
  return attachmentsOf([message]).flatMap(({ path }): UserPart[] => {
    const image = images.get(path);
    return image === undefined ? [] : [imagePart(image.mediaType, image.data)];
  });
}

function imagePart(mediaType: string, data: string): UserPart {
  return { type: "file", mediaType, data: { type: "data", data } };
}

function contentParts(content: MessageContent): UserPart[] {
  return blocksOf(content).flatMap((block): UserPart[] => {
    if (block.type === "text") return textParts(block.text);
    if (block.type !== "image") return [];
    const isImage = /^image\/[\w.+-]+$/.test(block.mimeType) && /^[A-Za-z0-9+/]+={0,2}$/.test(block.data);
    if (!isImage) return [UNSEEN_IMAGE];
    return [imagePart(block.mimeType, block.data)];
  });
}

function describeCommand({ command, output, exitCode, cancelled, truncated }: BashExecutionMessage): string {
  const state = cancelled ? "was stopped" : `ended with ${exitCode ?? "no"} code`;
  const said = delimited("output", output);
  return `The person ran a command, which ${state}:\n${command}\n${said}${truncated ? "\n[output truncated]" : ""}`;
}

export function plainText(content: MessageContent): string {
  return blocksOf(content)
    .map((block) => (block.type === "text" ? block.text : block.type === "image" ? "[an image]" : ""))
    .filter((text) => text !== "")
    .join("\n")
    .toWellFormed();
}

/** Drops malformed blocks: transcripts are read without validation. */
export function blocksOf(content: MessageContent): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isKnownBlock) : [];
}

function isKnownBlock(block: ContentBlock | null): boolean {
  switch (block?.type) {
    case "text":
      return typeof block.text === "string";
    case "thinking":
      return typeof block.thinking === "string";
    case "image":
      return typeof block.data === "string" && typeof block.mimeType === "string";
    case "toolCall":
      return typeof block.id === "string" && typeof block.name === "string" && isRecord(block.arguments);
    default:
      return false;
  }
}

function textParts(text: string): UserPart[] {
  return hasText(text) ? [{ type: "text", text: text.toWellFormed() }] : [];
}

function hasText(text: string): boolean {
  return text.trim() !== "";
}

/** Providers accept only these characters in a tool name. */
function safeName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "tool";
}

interface AttachedImage {
  mediaType: string;
  data: string;
}

/**
 * Images by path. They are read again for every turn, so the model can still see images it has commented on.
 * The media type comes from the bytes: providers reject a request whose image has the wrong type.
 */
type AttachedImages = ReadonlyMap<string, AttachedImage>;

const NO_IMAGES: AttachedImages = new Map();

/** Anthropic accepts 5 MB per image in base64, which adds a third. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;
/** Google accepts requests of 20 MB, others more. */
const MAX_TOTAL_BYTES = 12 * 1024 * 1024;
/** With more images, Anthropic requires smaller ones. */
const MAX_IMAGES = 20;

/** Loads the newest images that fit. The others stay a path in the message text. */
export async function loadAttachedImages(context: readonly TranscriptMessage[]): Promise<AttachedImages> {
  const images = new Map<string, AttachedImage>();
  let room = MAX_TOTAL_BYTES;
  const sent = attachmentsOf(context.filter(({ role }) => role === "user"));
  for (const { path, mimeType = "" } of sent.toReversed()) {
    if (images.size === MAX_IMAGES) break;
    if (!mimeType.startsWith("image/") && !/\.(?:png|jpe?g|gif|webp)$/i.test(path)) continue;
    const bytes = await readImage(path, Math.min(room, MAX_IMAGE_BYTES));
    const mediaType = bytes === undefined ? undefined : imageType(bytes);
    if (bytes === undefined || mediaType === undefined) continue;
    room -= bytes.length;
    images.set(path, { mediaType, data: bytes.toString("base64") });
  }
  return images;
}

async function readImage(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using handle = await openVouchedFile(path);
    if ((await handle.stat()).size > maxBytes) return undefined;
    return await readAtMost(handle, maxBytes);
  } catch {
    return undefined;
  }
}

/** Only types that every vision model accepts. */
function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF[^]{4}WEBP$/.test(start) ? "image/webp" : undefined;
}

/** Providers sign thinking and tool calls and want them back unchanged. Blocks keep them under pi's member names. */
export function signatureOf(type: "thinking" | "toolCall", metadata: ProviderMetadata | undefined) {
  const anthropic = metadata?.["anthropic"]?.["signature"];
  const google = metadata?.["google"]?.["thoughtSignature"];
  const signature = typeof anthropic === "string" ? anthropic : google;
  if (typeof signature !== "string" || signature === "") return {};
  return type === "thinking" ? { thinkingSignature: signature } : { thoughtSignature: signature };
}

/** Undefined: the block is not signed, or the provider wants no signature. */
function signatureOptions(provider: string, block: ContentBlock): ProviderMetadata | undefined {
  if (!isRecord(block)) return undefined;
  const signature = block["thinkingSignature"] ?? block["thoughtSignature"];
  if (typeof signature !== "string") return undefined;
  if (provider === "anthropic") return { anthropic: { signature } };
  return provider === "google" ? { google: { thoughtSignature: signature } } : undefined;
}

const LEVELS: readonly Reasoning[] = ["minimal", "low", "medium", "high", "xhigh"];

/** Leaves unknown levels, and servers that may know none, at their default. */
export function reasoningOptions(
  level: string | undefined,
  { protocol }: ProviderAccess,
  prompt: readonly PromptMessage[],
): Pick<CallOptions, "reasoning"> {
  const reasoning = level === "off" ? "none" : LEVELS.find((known) => known === level);
  if (reasoning === undefined || protocol === "openai-compatible") return {};
  // Anthropic requires the thinking block before a tool call to continue thinking after it.
  return { reasoning: protocol === "anthropic" && endsInThoughtlessCall(prompt) ? "none" : reasoning };
}

function endsInThoughtlessCall(prompt: readonly PromptMessage[]): boolean {
  if (prompt.at(-1)?.role !== "tool") return false;
  const asked = prompt.at(-2);
  return asked?.role === "assistant" && !asked.content.some(({ type }) => type === "reasoning");
}

/** OpenAI stores nothing; Anthropic caches the prompt. */
export function providerOptions({ protocol }: ProviderAccess, prompt: readonly PromptMessage[]) {
  // OpenAI gives reasoning summaries only to verified organisations.
  const openai = { store: false, reasoningSummary: null };
  if (protocol === "openai") return { prompt: [...prompt], providerOptions: { openai } };
  if (protocol !== "anthropic") return { prompt: [...prompt] };
  const cached = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const last = prompt.length - 1;
  return {
    prompt: prompt.map((message, index) => {
      return message.role === "system" || index === last ? { ...message, providerOptions: cached } : message;
    }),
  };
}

export function toolOptions(tools: ToolTable, mayUse: boolean): Pick<CallOptions, "tools" | "toolChoice"> {
  if (tools.size === 0) return {};
  const given = [...tools.values()].map(({ name, description, inputSchema }) => {
    return { type: "function" as const, name, description, inputSchema };
  });
  return { tools: given, ...(mayUse ? {} : { toolChoice: { type: "none" } }) };
}

export type CallOptions = Parameters<SdkModel["doStream"]>[0];
export type PromptMessage = CallOptions["prompt"][number];
export type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
export type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];
type Reasoning = NonNullable<CallOptions["reasoning"]>;
export type StreamPart =
  Awaited<ReturnType<SdkModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type Finish = Extract<StreamPart, { type: "finish" }>;
export type ProviderMetadata = NonNullable<Finish["providerMetadata"]>;
