/** What is known of the lines that Claude Code writes: their types, and the members that are read here. */

import type { Passage } from "./object-skimmer.ts";

/** Lines of other types are counted and passed over. */
export function isKnownLineType(type: string): boolean {
  return KNOWN_TYPES.has(type) || type.startsWith("api-request");
}

const KNOWN_TYPES = new Set([
  "agent-name",
  "ai-title",
  "assistant",
  "attachment",
  "cost-state",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "queue-operation",
  "relocated",
  "summary",
  "system",
  "tag",
  "tools-used",
  "user",
  "worktree-state",
]);

/**
 * Where the large values stand that are passed over: a tool's result in its message, and again in
 * `toolUseResult`; what the model wrote: text, thoughts and
 * calls of tools begin alike.
 */
export const TOOL_RESULT: Passage = {
  opening: '{"role":"user","content":[{"tool_use_id":"',
  next: '},"uuid":"',
};
export const ANSWER: Passage = {
  opening: '[{"type":"t',
  next: '],"stop_reason":',
};
/** How lines begin: within a line it may show that two have run into each other. */
export const LINE_START = '{"parentUuid":';

/** What accounting needs of a line of the model. */
export const USAGE_MEMBERS = [
  "uuid",
  "message.id",
  "message.model",
  "message.content",
  "message.usage",
  "message.usage.input_tokens",
  "message.usage.output_tokens",
  "message.usage.cache_read_input_tokens",
  "message.usage.cache_creation_input_tokens",
  "message.usage.cache_creation.ephemeral_1h_input_tokens",
] as const;

export const LINE_MEMBERS = [
  ...USAGE_MEMBERS,
  "type",
  "subtype",
  "timestamp",
  "sessionId",
  "cwd",
  "gitBranch",
  "version",
  "entrypoint",
  "slug",
  "userType",
  "isSidechain",
  "isMeta",
  "isCompactSummary",
  "toolUseResult",
  "permissionMode",
  "lastPrompt",
  "customTitle",
  "aiTitle",
  "summary",
  "attachment.type",
  "compactMetadata.trigger",
  "compactMetadata.preTokens",
  "compactMetadata.postTokens",
  "message",
] as const;
