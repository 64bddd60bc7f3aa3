/** The names that the package exports: every one is a promise. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import * as holdfast from "../../src/index.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

it("exports exactly what docs/library.md names", () => {
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
      "buildHistoryContextFromEntries",
      "buildHistoryContextFromMap",
      "buildReplyPayloads",
      "canonicalSessionKey",
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
      "evaluateCases",
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
      "markTask",
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
      "readMarker",
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
      "resolveDefaultSessionStorePath",
      "resolveGroupSessionKey",
      "resolveInboundSessionKey",
      "resolveMirroredTranscriptText",
      "resolveSendPolicy",
      "resolveSession",
      "resolveSessionKey",
      "resolveSessionResetPolicy",
      "resolveSessionResetType",
      "resolveSessionTranscriptPath",
      "resolveSessionTranscriptsDirForAgent",
      "resolveStorePath",
      "resolveThreadParentSessionKey",
      "resolveThreadSessionKeys",
      "restoreSession",
      "saidText",
      "saveSession",
      "saveSessionStore",
      "scoreOffline",
      "scoreSession",
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

it("loads none of the packages that only some of its callers need", () => {
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

it("can have agents answer without a gateway", async () => {
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
