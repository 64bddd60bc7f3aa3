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

/** Of a line of any type. */
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
  "isSidechain",
  "isMeta",
  "isCompactSummary",
  "toolUseResult",
  "permissionMode",
  "message",
  "attachment",
  "compactMetadata",
  "lastPrompt",
  "customTitle",
  "aiTitle",
  "summary",
] as const;

/** Of the `usage` of an assistant's message. */
export const USAGE_MEMBERS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
] as const;
