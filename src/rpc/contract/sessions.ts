/** Sessions: list, look, change. Shapes as in OpenClaw's gateway; what is added is named in the docs. */
import { z } from "zod";
import { QUEUE_DROPS, QUEUE_MODES } from "../../config/config.ts";
import type { DeliveryContext, SessionOrigin } from "../../store/session-entry.ts";
import {
  type MethodContract,
  agentId,
  expectedSessionId,
  instant,
  objectOf,
  sessionEntry,
  sessionId,
  sessionKey,
  thinkingLevel,
} from "./shapes.ts";

const kind = z.enum(["direct", "group", "global", "unknown"]);
const chatType = z.enum(["direct", "group", "channel"]);
const count = z.number();

const sessionRow = z.object({
  key: z.string(),
  agentId: z.string(),
  kind,
  label: z.string().exactOptional(),
  displayName: z.string().exactOptional(),
  subject: z.string().exactOptional(),
  channel: z.string().exactOptional(),
  chatType: chatType.exactOptional(),
  origin: objectOf<SessionOrigin>("Where the session's first message came from.").exactOptional(),
  updatedAt: instant,
  sessionId: z.string(),
  systemSent: z.boolean().exactOptional(),
  abortedLastRun: z.boolean().exactOptional(),
  thinkingLevel: z.string().exactOptional(),
  sendPolicy: z.enum(["allow", "deny"]).exactOptional(),
  inputTokens: count.exactOptional(),
  outputTokens: count.exactOptional(),
  totalTokens: count.exactOptional(),
  modelProvider: z.string().exactOptional(),
  model: z.string().exactOptional(),
  contextTokens: count.exactOptional(),
  deliveryContext: objectOf<DeliveryContext>("Where replies go.").exactOptional(),
  lastChannel: z.string().exactOptional(),
  derivedTitle: z.string().exactOptional(),
  lastMessagePreview: z.string().exactOptional(),
});

const level = z.string().trim().min(1).max(64).nullable().exactOptional();
const text = z.string().trim().min(1).max(1024).nullable().exactOptional();

export const sessionMethods = {
  "sessions.list": {
    summary: "Sessions, the one used last first.",
    permission: "read",
    params: z.strictObject({
      agentId: agentId.describe("Only this agent's. Left out: every agent's.").exactOptional(),
      limit: z.int().min(1).max(10_000).default(200),
      offset: z.int().min(0).default(0),
      activeMinutes: z.number().positive().describe("Only those used within so many minutes.").exactOptional(),
      kind: kind.exactOptional(),
      channel: z.string().exactOptional(),
      label: z.string().exactOptional(),
      search: z.string().max(1000).describe("Words in key, label, name or subject.").exactOptional(),
      includeDerivedTitles: z.boolean().describe("Adds `derivedTitle`.").default(false),
      includeLastMessage: z.boolean().describe("Adds `lastMessagePreview`.").default(false),
    }),
    result: z.object({
      ts: instant,
      path: z.string().describe("The store's file, or `(multiple)`."),
      count,
      total: count.describe("How many there are without `limit` and `offset`."),
      defaults: z.object({
        modelProvider: z.string().exactOptional(),
        model: z.string().exactOptional(),
        contextTokens: count.exactOptional(),
      }),
      sessions: z.array(sessionRow),
    }),
  },
  "sessions.preview": {
    summary: "The last messages of some sessions, each cut to a line or two.",
    permission: "read",
    params: z.strictObject({
      keys: z.array(sessionKey).min(1).max(64),
      limit: z.int().min(1).max(50).default(12),
      maxChars: z.int().min(20).max(2000).default(240),
    }),
    result: z.object({
      ts: instant,
      previews: z.array(
        z.object({
          key: z.string(),
          status: z.enum(["ok", "empty", "missing", "error"]),
          items: z.array(z.object({ role: z.string(), text: z.string() })),
        }),
      ),
    }),
  },
  "sessions.resolve": {
    summary: "The key of the session that a key, label, session id or the start of one names.",
    permission: "read",
    params: z.strictObject({
      key: sessionKey.exactOptional(),
      label: z.string().trim().min(1).max(256).exactOptional(),
      sessionId: sessionId.describe("Or the start of it.").exactOptional(),
      agentId: agentId.exactOptional(),
    }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      agentId: z.string(),
      sessionId: z.string().describe("Of the window that was named, else of the current one."),
      isCurrent: z.boolean(),
    }),
  },
  "sessions.windows": {
    summary: "Every window of a session, the newest first; the first one is the current one.",
    permission: "read",
    params: z.strictObject({ key: sessionKey, agentId: agentId.exactOptional() }),
    result: z.object({
      key: z.string(),
      windows: z.array(
        z.object({
          sessionId: z.string(),
          openedAt: instant,
          closedAt: instant.exactOptional(),
          reason: z.enum(["initial", "command", "daily", "idle", "fork", "switch", "restore"]),
          isCurrent: z.boolean(),
          isArchived: z.boolean(),
          derivedTitle: z.string().exactOptional(),
        }),
      ),
    }),
  },
  "sessions.patch": {
    summary: "Sets what a person may set on a session; null takes a setting away.",
    permission: "write",
    params: z.strictObject({
      key: sessionKey,
      agentId: agentId.exactOptional(),
      expectedSessionId,
      label: text,
      displayName: text,
      subject: text,
      thinkingLevel: thinkingLevel.nullable().exactOptional(),
      verboseLevel: z.enum(["on", "off", "full"]).nullable().exactOptional(),
      reasoningLevel: level,
      elevatedLevel: level,
      responseUsage: z.enum(["on", "off", "tokens", "full"]).nullable().exactOptional(),
      sendPolicy: z.enum(["allow", "deny"]).nullable().exactOptional(),
      groupActivation: z.enum(["mention", "always"]).nullable().exactOptional(),
      providerOverride: text,
      modelOverride: text,
      queueMode: z.enum(QUEUE_MODES).nullable().exactOptional(),
      queueDebounceMs: z.int().min(0).max(600_000).nullable().exactOptional(),
      queueCap: z.int().min(1).max(10_000).nullable().exactOptional(),
      queueDrop: z.enum(QUEUE_DROPS).nullable().exactOptional(),
    }),
    result: z.object({ ok: z.literal(true), path: z.string(), key: z.string(), entry: sessionEntry }),
  },
  "sessions.reset": {
    summary: "Closes the window and opens the next, as `/new` does. Memory is written down first.",
    permission: "write",
    params: z.strictObject({ key: sessionKey, agentId: agentId.exactOptional(), expectedSessionId }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      previousSessionId: z.string(),
      entry: sessionEntry,
    }),
  },
  "sessions.delete": {
    summary:
      "Takes a session out of use, with what it left for the next; its transcripts go to the archive. The main session is refused.",
    permission: "admin",
    params: z.strictObject({ key: sessionKey, agentId: agentId.exactOptional(), expectedSessionId }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      deleted: z.boolean().describe("False: there was no such session."),
      archived: z.array(z.string()).describe("What `holdfast sessions restore` brings back."),
    }),
  },
  "sessions.compact": {
    summary: "Keeps the last lines of a transcript; the whole of it goes to a file beside it.",
    permission: "write",
    params: z.strictObject({
      key: sessionKey,
      agentId: agentId.exactOptional(),
      maxLines: z.int().min(1).max(1_000_000).describe("Left out: 400.").exactOptional(),
    }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      compacted: z.boolean(),
      archived: z.string().exactOptional(),
      kept: count,
    }),
  },
} as const satisfies Record<string, MethodContract>;
