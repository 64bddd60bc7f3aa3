/** `holdfast/openclaw`: OpenClaw's functions under OpenClaw's names, with OpenClaw's arguments and answers. */

// Conversations and messages
export { emitSessionTranscriptUpdate, onSessionTranscriptUpdate } from "../transcript/log.ts";
export { resolveMirroredTranscriptText } from "../transcript/messages.ts";
export { parseSessionLabel } from "../session/patch.ts";
export {
  appendHistoryEntry,
  buildHistoryContextFromMap,
  clearHistoryEntries,
  evictOldHistoryKeys,
} from "./openclaw-history.ts";
export type { HistoryEntry } from "../store/store.ts";
export {
  buildHistoryContext,
  buildHistoryContextFromEntries,
  prependSystemEvents,
  appendUntrustedContext,
  formatInboundBodyWithSenderMeta,
  resolveSenderLabel,
} from "../turn/body/body.ts";
export { finalizeInboundContext, normalizeInboundTextNewlines, stripMentions } from "../turn/body/inbound.ts";
export { shouldRunMemoryFlush } from "../turn/run/flush-memory.ts";
export { buildReplyPayloads, type ReplyPayload } from "../turn/reply/payloads.ts";
export { parseInlineDirectives, parseReplyDirectives } from "../turn/reply/directives.ts";
export { canonicalSessionKey } from "../keys/canonical-key.ts";
export { resolveGroupSessionKey, buildGroupDisplayName } from "../keys/group.ts";
export type { GroupKeyResolution } from "../keys/group.ts";
export { resolveInboundSessionKey, resolveSessionKey } from "../keys/inbound.ts";
export { type MessageContext, normalizeChatType, type ChatType } from "../keys/message-context.ts";
export { normalizeAccountId, normalizeAgentId, normalizeMainKey } from "../keys/names.ts";
export {
  buildAgentMainSessionKey,
  buildAgentPeerSessionKey,
  isSubagentSessionKey,
  parseAgentSessionKey,
  resolveAgentIdFromSessionKey,
  resolveThreadParentSessionKey,
  resolveThreadSessionKeys,
} from "../keys/session-key.ts";

// The session store file
export type { DeliveryContext, SessionEntry, SessionOrigin, SkillsSnapshot } from "../store/session-entry.ts";
export {
  clearSessionStoreCacheForTest,
  loadSessionStore,
  saveSessionStore,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
  resolveDefaultSessionStorePath,
  resolveSessionTranscriptsDirForAgent,
  resolveStorePath,
} from "../store/json/session-store-file.ts";

// Transcripts
export { resolveSessionTranscriptPath } from "../transcript/paths.ts";

// Lifecycle
export {
  appendAssistantMessageToSessionTranscript,
  applyResetModelOverride,
  forkSessionFromParent,
  incrementCompactionCount,
  initSessionState,
  persistSessionUsageUpdate,
  recordSessionMetaFromInbound,
  updateLastRoute,
} from "./agents.ts";
export { mergeSessionEntry, normalizeDeliveryContext } from "../session/entry.ts";
export {
  evaluateSessionFreshness,
  resolveDailyResetAtMs,
  resolveSessionResetPolicy,
  resolveSessionResetType,
} from "../session/freshness.ts";
export { stripStructuralPrefixes } from "../session/reset-trigger.ts";
export { normalizeSendPolicy, resolveSendPolicy } from "../session/send-policy.ts";
export { deriveSessionTitle } from "../session/title.ts";

// The body of a message and its reply
export { isSilentReplyText } from "../turn/reply/tokens.ts";
