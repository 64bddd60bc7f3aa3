/**
 * `holdfast`: what a builder needs. Every line is a promise; docs/library.md explains them. OpenClaw's functions
 * and those for Claude Code are complete in `holdfast/openclaw` and `holdfast/claude`.
 */

// Errors
export { ERROR_KINDS, HoldfastError, errorOutcome, reportError } from "./base/errors.ts";
export type { ErrorKind, ErrorOutcome, ErrorReport } from "./base/errors.ts";

// Agents, turns, the gateway
export { closeDefaultAgents, openHoldfastAgent } from "./library/agents.ts";
export { connectToGateway, openHoldfastGateway, openHoldfastHandoff, openHoldfastTurns } from "./library/agents.ts";
export type { OpenHoldfastHandoffOptions } from "./library/agents.ts";
export type { OpenedGateway, Turns } from "./compose/turns.ts";
export type { AgentHandle } from "./session/agent-handle.ts";
export type {
  Engine,
  EngineContext,
  EngineEvent,
  EngineTurn,
  EngineUsage,
  OpenEngine,
  SteerMark,
  SummaryRequest,
} from "./engine/engine.ts";
export type {
  Channel,
  ChannelCapabilities,
  ChannelHost,
  ChannelStatus,
  InboundMessage,
  MessageButton,
  MessageEdit,
  OutboundMedia,
  OutboundMessage,
  SentMessage,
} from "./channels/channel.ts";
export type {
  AddressedMessage,
  Admitted,
  Pipeline,
  PipelineStatus,
  TurnEnd,
  TurnEvent,
  TurnEvents,
  TurnOutcome,
} from "./turn/pipeline.ts";

// The store and its sessions
export type {
  Handoffs,
  KeptHandoff,
  ListPage,
  ListQuery,
  ListedSession,
  Store,
  StoreChange,
  Window,
} from "./store/store.ts";
export type { Inbox, InboxItem, Lease, LeaseAttempt, Leases, Outbox, OutboxItem } from "./store/queues.ts";
export { archiveSession, deleteSession, listArchives, restoreSession, reopenWindow } from "./session/archive.ts";
export { findSession, assertMayAccessSession } from "./session/find-session.ts";
export { withSessionLease } from "./session/lease.ts";
export { maintainSessions } from "./session/maintenance.ts";
export { patchSession } from "./session/patch.ts";
export { compactSession } from "./session/transcript-changes.ts";
export { resetSession } from "./session/window.ts";

// Transcripts
export type { DraftEntry, TranscriptEntry, TranscriptHeader, TranscriptMessage } from "./transcript/entries.ts";
export { readContext } from "./transcript/context.ts";
export { openTranscriptLog } from "./transcript/log.ts";
export { isFlushEntry, saidText } from "./transcript/messages.ts";
export { readTail, readTranscript } from "./transcript/reader.ts";

// The gateway's clients
export { connectRpc, createHttpCaller } from "./rpc/client.ts";
export type { RpcCaller, RpcClient } from "./rpc/client.ts";
export type { MethodName, ParamsOf, ResultOf } from "./rpc/contract.ts";
export type { RpcEvent } from "./rpc/protocol.ts";

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

// Claude Code
export {
  activeSpawns,
  assessTaskRelevance,
  closeDefaultClaude,
  discoverSessions,
  gatherProjectStatus,
  getAllLiveSessions,
  keywordFallback,
  killClaudeCode,
  listAllSessions,
  parseJsonlHeader,
  parseOutboundMessage,
  peekSessionHistory,
  renderProjectStatus,
  repoPathToSlug,
  resolveSession,
  saveSession,
  selectSession,
  sendFollowUpAndWait,
  spawnClaudeCode,
  stopPersistentSession,
  updateSessionStats,
} from "./library/claude.ts";
export type {
  ClaudeCodeResult,
  DiscoveredSession,
  LiveSession,
  ProjectStatus,
  RunnerEvent,
  SessionScore,
  SessionSelection,
  SpawnOptions,
  TaskRelevance,
} from "./library/claude.ts";

// OpenClaw's names
export {
  appendAssistantMessageToSessionTranscript,
  appendHistoryEntry,
  appendUntrustedContext,
  applyResetModelOverride,
  buildAgentMainSessionKey,
  buildAgentPeerSessionKey,
  buildGroupDisplayName,
  buildHistoryContext,
  buildHistoryContextFromEntries,
  buildHistoryContextFromMap,
  buildReplyPayloads,
  clearHistoryEntries,
  clearSessionStoreCacheForTest,
  deriveSessionTitle,
  emitSessionTranscriptUpdate,
  evaluateSessionFreshness,
  evictOldHistoryKeys,
  finalizeInboundContext,
  forkSessionFromParent,
  formatInboundBodyWithSenderMeta,
  incrementCompactionCount,
  initSessionState,
  isSilentReplyText,
  isSubagentSessionKey,
  loadSessionStore,
  mergeSessionEntry,
  normalizeAccountId,
  normalizeAgentId,
  normalizeChatType,
  normalizeDeliveryContext,
  normalizeInboundTextNewlines,
  normalizeMainKey,
  normalizeSendPolicy,
  onSessionTranscriptUpdate,
  parseAgentSessionKey,
  parseInlineDirectives,
  parseReplyDirectives,
  parseSessionLabel,
  persistSessionUsageUpdate,
  prependSystemEvents,
  recordSessionMetaFromInbound,
  resolveAgentIdFromSessionKey,
  resolveDailyResetAtMs,
  resolveGroupSessionKey,
  resolveMirroredTranscriptText,
  resolveSendPolicy,
  resolveSenderLabel,
  resolveSessionKey,
  resolveSessionResetPolicy,
  resolveSessionResetType,
  resolveSessionTranscriptPath,
  resolveThreadParentSessionKey,
  resolveThreadSessionKeys,
  saveSessionStore,
  shouldRunMemoryFlush,
  stripMentions,
  stripStructuralPrefixes,
  updateLastRoute,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
} from "./library/openclaw.ts";
export type {
  ChatType,
  DeliveryContext,
  GroupKeyResolution,
  HistoryEntry,
  MessageContext,
  ReplyPayload,
  SessionEntry,
  SessionOrigin,
  SkillsSnapshot,
} from "./library/openclaw.ts";
