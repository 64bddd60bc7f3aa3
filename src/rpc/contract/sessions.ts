/** Sessions: list, show, change. Shapes as in OpenClaw's gateway; additions are in the docs. */
import { z } from "zod";
import { QUEUE_DROPS, QUEUE_MODES, VERBOSE_LEVELS } from "../../config/choices.ts";
import type { DeliveryContext, SessionOrigin } from "../../store/session-entry.ts";
import {
  agentId,
  countUpTo,
  everyAgent,
  expectedSessionId,
  instant,
  objectOf,
  session,
  sessionEntry,
  sessionId,
  sessionKey,
  textUpTo,
  thinkingLevel,
  admin,
  read,
  write,
} from "./shapes.ts";

const kind = z.enum(["direct", "group", "global", "unknown"]);
const chatType = z.enum(["direct", "group", "channel"]);
const count = z.number();

/** Fields of the session's entry that a list shows. */
export const shownFields = {
  label: z.string().optional(),
  displayName: z.string().optional(),
  subject: z.string().optional(),
  channel: z.string().optional(),
  chatType: chatType.optional(),
  origin: objectOf<SessionOrigin>("Origin of the session's first message.").optional(),
  updatedAt: instant,
  sessionId: z.string(),
  systemSent: z.boolean().optional(),
  abortedLastRun: z.boolean().optional(),
  thinkingLevel: z.string().optional(),
  sendPolicy: z.enum(["allow", "deny"]).optional(),
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  totalTokens: count.optional(),
  modelProvider: z.string().optional(),
  model: z.string().optional(),
  contextTokens: count.optional(),
  deliveryContext: objectOf<DeliveryContext>("Where replies are sent.").optional(),
  lastChannel: z.string().optional(),
};

const sessionRow = z.object({
  key: z.string(),
  agentId: z.string(),
  kind,
  ...shownFields,
  derivedTitle: z.string().optional(),
  lastMessagePreview: z.string().optional(),
});

const level = textUpTo(64).nullable().optional();
const text = textUpTo(1024).nullable().optional();
const noEffect = level.describe("Kept for OpenClaw, without effect here.");

export const sessionMethods = {
  "sessions.list": read({
    summary: "Lists sessions, most recently used first.",
    params: z.strictObject({
      agentId: everyAgent,
      limit: countUpTo(10_000).default(200),
      offset: z.int().min(0).default(0),
      activeMinutes: z.number().positive().describe("Only sessions used within this time.").optional(),
      kind: kind.optional(),
      includeGlobal: z.boolean().describe("False: leaves out sessions of kind `global`.").default(true),
      includeUnknown: z.boolean().describe("False: leaves out sessions of kind `unknown`.").default(true),
      spawnedBy: sessionKey.describe("Only sessions that this one spawned.").optional(),
      channel: z.string().optional(),
      label: z.string().optional(),
      search: z.string().max(1000).describe("Words in key, label, name or subject.").optional(),
      includeDerivedTitles: z.boolean().describe("Adds `derivedTitle`.").default(false),
      includeLastMessage: z.boolean().describe("Adds `lastMessagePreview`.").default(false),
    }),
    result: z.object({
      ts: instant,
      path: z.string().describe("The store's file, or `(multiple)`."),
      count,
      total: count.describe("Number without `limit` and `offset`."),
      defaults: z.object({
        modelProvider: z.string().optional(),
        model: z.string().optional(),
        contextTokens: count.optional(),
      }),
      sessions: z.array(sessionRow),
    }),
  }),
  "sessions.preview": read({
    summary: "Shows the last messages of some sessions, shortened.",
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
          problem: z.string().optional().describe("Damage in the transcript; the status is then `error`."),
        }),
      ),
    }),
  }),
  "sessions.resolve": read({
    summary: "Finds a session by key, label, session id or a prefix of it.",
    params: z.strictObject({
      key: sessionKey.optional(),
      label: textUpTo(256).optional(),
      sessionId: sessionId.describe("A session id, or a prefix of one.").optional(),
      agentId: agentId.optional(),
      spawnedBy: sessionKey.describe("Fails with kind `not-found` if another session spawned it.").optional(),
    }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      agentId: z.string(),
      sessionId: z.string().describe("The given window, else the current one."),
      isCurrent: z.boolean(),
    }),
  }),
  "sessions.windows": read({
    summary: "Lists the windows of a session, newest (current) first.",
    params: z.strictObject(session),
    result: z.object({
      key: z.string(),
      windows: z.array(
        z.object({
          sessionId: z.string(),
          openedAt: instant,
          closedAt: instant.optional(),
          reason: z.enum(["initial", "command", "daily", "idle", "fork", "switch", "restore"]),
          isCurrent: z.boolean(),
          isArchived: z.boolean(),
          derivedTitle: z.string().optional(),
        }),
      ),
    }),
  }),
  "sessions.patch": write({
    summary: "Changes settings of a session; null removes a setting.",
    params: z.strictObject({
      ...session,
      expectedSessionId,
      label: text,
      displayName: text,
      subject: text,
      thinkingLevel: thinkingLevel.nullable().optional(),
      verboseLevel: z.enum(VERBOSE_LEVELS).nullable().optional(),
      reasoningLevel: level,
      elevatedLevel: level,
      responseUsage: z.enum(["on", "off", "tokens", "full"]).nullable().optional(),
      sendPolicy: z.enum(["allow", "deny"]).nullable().optional(),
      groupActivation: z.enum(["mention", "always"]).nullable().optional(),
      providerOverride: text,
      modelOverride: text,
      model: text.describe("Sets the two overrides: `provider/model`, or a name that `/model` knows."),
      execHost: noEffect,
      execSecurity: noEffect,
      execAsk: noEffect,
      execNode: noEffect,
      queueMode: z.enum(QUEUE_MODES).nullable().optional(),
      queueDebounceMs: z.int().min(0).max(600_000).nullable().optional(),
      queueCap: z.int().min(1).max(10_000).nullable().optional(),
      queueDrop: z.enum(QUEUE_DROPS).nullable().optional(),
    }),
    result: z.object({
      ok: z.literal(true),
      path: z.string(),
      key: z.string(),
      entry: sessionEntry,
      notes: z.array(z.string()).describe("Settings that are kept without effect.").optional(),
    }),
  }),
  "sessions.reset": write({
    summary: "Saves memory, closes the window and opens the next, like `/new`.",
    params: z.strictObject({ ...session, expectedSessionId }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      previousSessionId: z.string(),
      entry: sessionEntry,
    }),
  }),
  "sessions.delete": admin({
    summary: "Removes a session and its hand-off; its transcripts move to the archive. Refused for the main session.",
    params: z.strictObject({ ...session, expectedSessionId }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      deleted: z.boolean().describe("False: no such session."),
      archived: z.array(z.string()).describe("Archive names for `holdfast sessions restore`."),
    }),
  }),
  "sessions.compact": write({
    summary: "Keeps the last lines of a transcript; the original is saved next to it.",
    params: z.strictObject({
      ...session,
      maxLines: z.int().min(1).max(1_000_000).describe("Default: 400.").optional(),
    }),
    result: z.object({
      ok: z.literal(true),
      key: z.string(),
      compacted: z.boolean(),
      archived: z.string().optional(),
      kept: count,
    }),
  }),
};
