/** The public API. Every line is a promise; docs/library.md explains them. */

// Errors
export { ERROR_KINDS, HoldfastError, errorOutcome, reportError } from "./base/errors.ts";
export type { ErrorKind, ErrorOutcome, ErrorReport } from "./base/errors.ts";

// Keys
export { canonicalSessionKey } from "./keys/canonical-key.ts";
export { normalizeChatType } from "./keys/chat-type.ts";
export type { ChatType } from "./keys/chat-type.ts";
export { buildGroupDisplayName } from "./keys/group-display-name.ts";
export { resolveGroupSessionKey } from "./keys/group.ts";
export type { GroupKeyResolution } from "./keys/group.ts";
export { resolveInboundSessionKey, resolveSessionKey } from "./keys/inbound.ts";
export type { MessageContext } from "./keys/message-context.ts";
export { normalizeAccountId, normalizeAgentId, normalizeMainKey } from "./keys/names.ts";
export {
  buildAgentMainSessionKey,
  buildAgentPeerSessionKey,
  isSubagentSessionKey,
  parseAgentSessionKey,
  resolveAgentIdFromSessionKey,
} from "./keys/session-key.ts";
export { resolveThreadParentSessionKey, resolveThreadSessionKeys } from "./keys/thread.ts";

// Stores
export type {
  Handoffs,
  Inbox,
  InboxItem,
  KeptHandoff,
  Lease,
  LeaseAttempt,
  Leases,
  ListPage,
  ListQuery,
  ListedSession,
  Outbox,
  OutboxItem,
  Store,
  StoreChange,
  Window,
} from "./store/store.ts";
export type { DeliveryContext, SessionEntry, SessionOrigin, SkillsSnapshot } from "./store/session-entry.ts";
export {
  clearSessionStoreCacheForTest,
  loadSessionStore,
  saveSessionStore,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
} from "./store/json/session-store-file.ts";
export {
  resolveDefaultSessionStorePath,
  resolveSessionTranscriptsDirForAgent,
  resolveStorePath,
} from "./store/store-paths.ts";

// Transcripts
export type { DraftEntry, TranscriptEntry, TranscriptHeader, TranscriptMessage } from "./transcript/entries.ts";
export { readContext } from "./transcript/context.ts";
export { emitSessionTranscriptUpdate, onSessionTranscriptUpdate } from "./transcript/events.ts";
export { openTranscriptLog } from "./transcript/log.ts";
export { resolveMirroredTranscriptText } from "./transcript/mirror.ts";
export { resolveSessionTranscriptPath } from "./transcript/paths.ts";
export { readTail, readTranscript } from "./transcript/reader.ts";
export { isFlushEntry, saidText } from "./transcript/turn-mark.ts";

// Lifecycle
export type { AgentHandle } from "./session/agent-handle.ts";
export { archiveSession, deleteSession, listArchives, restoreSession } from "./session/archive.ts";
export { compactSession } from "./session/compaction.ts";
export { mergeSessionEntry } from "./session/entry.ts";
export {
  evaluateSessionFreshness,
  resolveDailyResetAtMs,
  resolveSessionResetPolicy,
  resolveSessionResetType,
} from "./session/freshness.ts";
export { normalizeDeliveryContext } from "./session/inbound-meta.ts";
export { parseSessionLabel } from "./session/label.ts";
export { withSessionLease } from "./session/lease.ts";
export { maintainSessions } from "./session/maintenance.ts";
export { assertMayAccessSession } from "./session/ownership.ts";
export { patchSession } from "./session/patch.ts";
export { reopenWindow } from "./session/reopen-window.ts";
export { stripStructuralPrefixes } from "./session/reset-trigger.ts";
export { findSession } from "./session/find-session.ts";
export { normalizeSendPolicy, resolveSendPolicy } from "./session/send-policy.ts";
export { deriveSessionTitle } from "./session/title.ts";
export { resetSession } from "./session/window.ts";
export {
  appendAssistantMessageToSessionTranscript,
  applyResetModelOverride,
  closeDefaultAgents,
  forkSessionFromParent,
  incrementCompactionCount,
  initSessionState,
  openHoldfastAgent,
  persistSessionUsageUpdate,
  recordSessionMetaFromInbound,
  updateLastRoute,
} from "./library.ts";

// Turns
export type {
  Channel,
  ChannelCapabilities,
  ChannelHost,
  ChannelStatus,
  InboundMessage,
  OutboundMessage,
  SentMessage,
} from "./channels/channel.ts";
export type { OpenedGateway } from "./compose-gateway.ts";
export type { Turns } from "./compose-turns.ts";
export { connectToGateway, openHoldfastGateway, openHoldfastTurns } from "./library-turns.ts";
export type { AddressedMessage, Admitted, Pipeline, PipelineStatus } from "./turn/pipeline.ts";
export type { TurnEnd, TurnEvent, TurnEvents, TurnOutcome } from "./turn/turn-events.ts";
export {
  appendHistoryEntry,
  buildHistoryContextFromEntries,
  buildHistoryContextFromMap,
  clearHistoryEntries,
  evictOldHistoryKeys,
} from "./turn/body/history.ts";
export type { HistoryEntry } from "./turn/body/history.ts";
export { finalizeInboundContext, normalizeInboundTextNewlines } from "./turn/body/inbound-context.ts";
export { stripMentions } from "./turn/body/mentions.ts";
export { formatInboundBodyWithSenderMeta } from "./turn/body/sender-meta.ts";
export { prependSystemEvents } from "./turn/body/system-lines.ts";
export { appendUntrustedContext } from "./turn/body/untrusted-context.ts";
export { shouldRunMemoryFlush } from "./turn/memory-flush.ts";
export { buildReplyPayloads } from "./turn/reply/build-payloads.ts";
export { parseInlineDirectives } from "./turn/reply/inline-directives.ts";
export type { ReplyPayload } from "./turn/reply/payload.ts";
export { parseReplyDirectives } from "./turn/reply/reply-directives.ts";
export { isSilentReplyText } from "./turn/reply/tokens.ts";

// The gateway's clients
export { connectRpc, createHttpCaller } from "./rpc/client.ts";
export type { RpcCaller, RpcClient } from "./rpc/client.ts";
export type { MethodName, ParamsOf, ResultOf } from "./rpc/contract.ts";
export type { RpcEvent } from "./rpc/events.ts";

// The hand-off
export { detectPatterns } from "./handoff/patterns/detect-patterns.ts";
export { resolveBlockers } from "./handoff/patterns/resolve-blockers.ts";
export type { PatternMessage, PatternNote, PatternType } from "./handoff/patterns/note.ts";
export { nativeSessionKey } from "./handoff/handoff.ts";
export type { CaptureTarget, Handoff, Offer, OfferRequest, ResumeAnswer } from "./handoff/handoff.ts";
export { handoffView } from "./handoff/handoff-view.ts";
export type { HandoffItem, HandoffStatus, HandoffView } from "./handoff/handoff-view.ts";
export { renderMarkdown as renderHandoff } from "./handoff/render.ts";
export type { CaptureReason, SessionState, StateNote, StateSummary, SummaryItem } from "./handoff/state.ts";
export { openHoldfastHandoff } from "./library-handoff.ts";
export type { OpenHoldfastHandoffOptions } from "./library-handoff.ts";

// Claude Code
export type { DiscoveredSession } from "./claude/discovered-session.ts";
export { markTask, readMarker } from "./claude/attribution.ts";
export { parseJsonlHeader, repoPathToSlug } from "./claude/discovery/jsonl-header.ts";
export { peekSessionHistory } from "./claude/history-peek.ts";
export type { ProjectStatus } from "./claude/project-status.ts";
export { renderProjectStatus } from "./claude/render-project-status.ts";
export { parseOutboundMessage } from "./claude/protocol/outbound.ts";
export type { ClaudeCodeResult, LiveSession, RunnerEvent, SpawnOptions } from "./claude/runner/runner-contract.ts";
export { evaluateCases } from "./claude/selection/evaluate.ts";
export { keywordFallback } from "./claude/selection/keyword-fallback.ts";
export { scoreOffline } from "./claude/selection/offline/score-offline.ts";
export { assessTaskRelevance } from "./claude/selection/relevance.ts";
export { scoreSession } from "./claude/selection/score.ts";
export type { SessionScore, SessionSelection, TaskRelevance } from "./claude/selection/selection.ts";
export {
  activeSpawns,
  closeDefaultClaude,
  discoverSessions,
  gatherProjectStatus,
  getAllLiveSessions,
  killClaudeCode,
  listAllSessions,
  resolveSession,
  saveSession,
  selectSession,
  sendFollowUpAndWait,
  spawnClaudeCode,
  stopPersistentSession,
  updateSessionStats,
} from "./library-claude.ts";
