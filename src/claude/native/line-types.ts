/** What is known of the lines that Claude Code writes: their types, and the members that are read here. */

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
 * How a line with a tool's result is built: the result stands in its message and again in `toolUseResult`, and
 * nobody looks into either. `other` is how lines begin: within a line it may show that two have run into
 * each other.
 */
export const TOOL_RESULT = {
  opening: '{"role":"user","content":[{"tool_use_id":"',
  next: '},"uuid":"',
  other: '{"parentUuid":',
};

export const LINE_MEMBERS = [
  "type",
  "subtype",
  "uuid",
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
