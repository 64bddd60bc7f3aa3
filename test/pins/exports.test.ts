/** The names that the package exports. Each is a promise. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import * as holdfast from "../../src/index.ts";
import * as claude from "../../src/library/claude.ts";
import * as openclaw from "../../src/library/openclaw.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

it("exports what a builder needs", () => {
  expect(Object.keys(holdfast).toSorted()).toMatchInlineSnapshot(`
    [
      "ERROR_KINDS",
      "HoldfastError",
      "activeSpawns",
      "appendAssistantMessageToSessionTranscript",
      "appendHistoryEntry",
      "appendUntrustedContext",
      "applyResetModelOverride",
      "archiveSession",
      "assertMayAccessSession",
      "assessTaskRelevance",
      "buildAgentMainSessionKey",
      "buildAgentPeerSessionKey",
      "buildGroupDisplayName",
      "buildHistoryContext",
      "buildHistoryContextFromEntries",
      "buildHistoryContextFromMap",
      "buildReplyPayloads",
      "clearHistoryEntries",
      "clearSessionStoreCacheForTest",
      "closeDefaultAgents",
      "closeDefaultClaude",
      "compactSession",
      "connectRpc",
      "connectToGateway",
      "createHttpCaller",
      "deleteSession",
      "deriveSessionTitle",
      "detectPatterns",
      "discoverSessions",
      "emitSessionTranscriptUpdate",
      "errorOutcome",
      "evaluateSessionFreshness",
      "evictOldHistoryKeys",
      "finalizeInboundContext",
      "findSession",
      "forkSessionFromParent",
      "formatInboundBodyWithSenderMeta",
      "gatherProjectStatus",
      "getAllLiveSessions",
      "handoffView",
      "incrementCompactionCount",
      "initSessionState",
      "isFlushEntry",
      "isSilentReplyText",
      "isSubagentSessionKey",
      "keywordFallback",
      "killClaudeCode",
      "listAllSessions",
      "listArchives",
      "loadSessionStore",
      "maintainSessions",
      "mergeSessionEntry",
      "nativeSessionKey",
      "normalizeAccountId",
      "normalizeAgentId",
      "normalizeChatType",
      "normalizeDeliveryContext",
      "normalizeInboundTextNewlines",
      "normalizeMainKey",
      "normalizeSendPolicy",
      "onSessionTranscriptUpdate",
      "openHoldfastAgent",
      "openHoldfastGateway",
      "openHoldfastHandoff",
      "openHoldfastTurns",
      "openTranscriptLog",
      "parseAgentSessionKey",
      "parseInlineDirectives",
      "parseJsonlHeader",
      "parseOutboundMessage",
      "parseReplyDirectives",
      "parseSessionLabel",
      "patchSession",
      "peekSessionHistory",
      "persistSessionUsageUpdate",
      "prependSystemEvents",
      "readContext",
      "readTail",
      "readTranscript",
      "recordSessionMetaFromInbound",
      "renderHandoff",
      "renderProjectStatus",
      "reopenWindow",
      "repoPathToSlug",
      "reportError",
      "resetSession",
      "resolveAgentIdFromSessionKey",
      "resolveBlockers",
      "resolveDailyResetAtMs",
      "resolveGroupSessionKey",
      "resolveMirroredTranscriptText",
      "resolveSendPolicy",
      "resolveSenderLabel",
      "resolveSession",
      "resolveSessionKey",
      "resolveSessionResetPolicy",
      "resolveSessionResetType",
      "resolveSessionTranscriptPath",
      "resolveThreadParentSessionKey",
      "resolveThreadSessionKeys",
      "restoreSession",
      "saidText",
      "saveSession",
      "saveSessionStore",
      "selectSession",
      "sendFollowUpAndWait",
      "shouldRunMemoryFlush",
      "spawnClaudeCode",
      "stopPersistentSession",
      "stripMentions",
      "stripStructuralPrefixes",
      "updateLastRoute",
      "updateSessionStats",
      "updateSessionStore",
      "updateSessionStoreEntry",
      "withSessionLease",
      "withSessionStoreLock",
    ]
  `);
});

it("exports OpenClaw's functions from holdfast/openclaw", () => {
  expect(Object.keys(openclaw).toSorted()).toMatchInlineSnapshot(`
    [
      "appendAssistantMessageToSessionTranscript",
      "appendHistoryEntry",
      "appendUntrustedContext",
      "applyResetModelOverride",
      "buildAgentMainSessionKey",
      "buildAgentPeerSessionKey",
      "buildGroupDisplayName",
      "buildHistoryContext",
      "buildHistoryContextFromEntries",
      "buildHistoryContextFromMap",
      "buildReplyPayloads",
      "canonicalSessionKey",
      "clearHistoryEntries",
      "clearSessionStoreCacheForTest",
      "deriveSessionTitle",
      "emitSessionTranscriptUpdate",
      "evaluateSessionFreshness",
      "evictOldHistoryKeys",
      "finalizeInboundContext",
      "forkSessionFromParent",
      "formatInboundBodyWithSenderMeta",
      "incrementCompactionCount",
      "initSessionState",
      "isSilentReplyText",
      "isSubagentSessionKey",
      "loadSessionStore",
      "mergeSessionEntry",
      "normalizeAccountId",
      "normalizeAgentId",
      "normalizeChatType",
      "normalizeDeliveryContext",
      "normalizeInboundTextNewlines",
      "normalizeMainKey",
      "normalizeSendPolicy",
      "onSessionTranscriptUpdate",
      "parseAgentSessionKey",
      "parseInlineDirectives",
      "parseReplyDirectives",
      "parseSessionLabel",
      "persistSessionUsageUpdate",
      "prependSystemEvents",
      "recordSessionMetaFromInbound",
      "resolveAgentIdFromSessionKey",
      "resolveDailyResetAtMs",
      "resolveDefaultSessionStorePath",
      "resolveGroupSessionKey",
      "resolveInboundSessionKey",
      "resolveMirroredTranscriptText",
      "resolveSendPolicy",
      "resolveSenderLabel",
      "resolveSessionKey",
      "resolveSessionResetPolicy",
      "resolveSessionResetType",
      "resolveSessionTranscriptPath",
      "resolveSessionTranscriptsDirForAgent",
      "resolveStorePath",
      "resolveThreadParentSessionKey",
      "resolveThreadSessionKeys",
      "saveSessionStore",
      "shouldRunMemoryFlush",
      "stripMentions",
      "stripStructuralPrefixes",
      "updateLastRoute",
      "updateSessionStore",
      "updateSessionStoreEntry",
      "withSessionStoreLock",
    ]
  `);
});

it("exports the Claude Code side from holdfast/claude", () => {
  expect(Object.keys(claude).toSorted()).toMatchInlineSnapshot(`
    [
      "activeSpawns",
      "assessTaskRelevance",
      "closeDefaultClaude",
      "discoverSessions",
      "evaluateCases",
      "gatherProjectStatus",
      "getAllLiveSessions",
      "keywordFallback",
      "killClaudeCode",
      "listAllSessions",
      "markTask",
      "parseJsonlHeader",
      "parseOutboundMessage",
      "peekSessionHistory",
      "readMarker",
      "renderProjectStatus",
      "repoPathToSlug",
      "resolveSession",
      "saveSession",
      "scoreOffline",
      "scoreSession",
      "selectSession",
      "sendFollowUpAndWait",
      "spawnClaudeCode",
      "stopPersistentSession",
      "updateSessionStats",
    ]
  `);
});

it("has the same functions in all entries", () => {
  const root = new Map(Object.entries(holdfast));
  const others = Object.entries({ ...openclaw, ...claude });
  expect(others.filter(([name, value]) => (root.get(name) ?? value) !== value)).toEqual([]);
});

it("loads no package that only some callers need", () => {
  const index = new URL("../../src/index.ts", import.meta.url).href;
  const script = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        const found = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1];
        if (found !== undefined) packages.add(found);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(index)});
    console.log(JSON.stringify([...packages]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "[]\n", stderr: "" });
});

it("answers without a gateway", async () => {
  await using home = await temporaryFolder();
  const turns = await holdfast.openHoldfastTurns({ home: home.path, config: DEFAULT_CONFIG });
  try {
    await turns.start();
    const { ended } = await turns.pipeline.admit({
      address: { channel: "web", accountId: "default", chatId: "1", messageId: "1" },
      ctx: { Provider: "web", From: "web:1", ChatType: "direct", Body: "hello" },
      receivedAt: Date.now(),
      deliver: false,
    });
    expect(await ended).toMatchObject({ outcome: "answered", text: expect.stringContaining("hello") as string });
  } finally {
    await turns.close();
  }
});
