/**
 * A transcript's messages as a model takes them. A transcript may hold what other engines, tools and
 * versions wrote, and may be cut anywhere; providers refuse a request for the smallest disorder. So each
 * tool call gets exactly one result right behind it, calls get ids that every provider takes, nothing is
 * empty, and the person has the first and the last word.
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
import { attachmentsOf } from "../../transcript/attachments.ts";
import type { ModelName } from "../../models/model-name.ts";
import { delimited } from "../../base/delimited.ts";
import { type AttachedImages, NO_IMAGES } from "./attached-images.ts";
import type { AssistantPart, PromptMessage, ToolPart, UserPart } from "./sdk-types.ts";
import { signatureOptions } from "./signatures.ts";

export const INTERRUPTED_CALL = "Interrupted: it is not known how far this got. Look before you do it again.";

export function toPrompt(
  context: readonly TranscriptMessage[],
  target: ModelName,
  images: AttachedImages = NO_IMAGES,
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
    return content.length === 0 ? [] : [{ role: "user", content }];
  });
  if (prompt[0]?.role !== "user") prompt.unshift(userMessage("[The conversation begins before this point.]"));
  if (prompt.at(-1)?.role === "assistant") prompt.push(userMessage("[Your answer ended here. Go on with it.]"));
  return prompt;
}

export function hasImages({ role, content }: PromptMessage): boolean {
  return role === "user" && content.some(({ type }) => type === "file");
}

/** For a model that refuses them. */
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

/** Which result belongs to which call. Ids may come again in a long conversation; the next one counts. */
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
      // Without its signature a thought is refused; and nobody needs it.
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

/** Those that were run or may have been: an answer that was cut off never got to its calls. */
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
      return textParts(`What was said before, in short:\n${delimited("summary", message.summary)}`);
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
  return `The person ran a command, which ${state}:\n${command}\n${said}${truncated ? "\n[its output is cut]" : ""}`;
}

/** The words of a content; what is no text is named. */
export function plainText(content: MessageContent): string {
  return blocksOf(content)
    .map((block) => (block.type === "text" ? block.text : block.type === "image" ? "[an image]" : ""))
    .filter((text) => text !== "")
    .join("\n")
    .toWellFormed();
}

/** Only blocks whose members are what their type says: a transcript is read as it is. */
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

/** What every provider takes for a tool's name. */
function safeName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "tool";
}
