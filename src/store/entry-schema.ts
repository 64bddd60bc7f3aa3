/**
 * The schema of each field of a session entry. Only fields that a write changes are checked, so invalid data of other
 * tools never blocks an unrelated update. Unknown fields belong to other tools. Loading zod takes longer than most
 * commands run, so stores import this file with the first write.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { HoldfastError } from "../base/errors.ts";
import { plainWords } from "../base/issue-words.ts";
import type { SessionEntry } from "./session-entry.ts";

/** Throws if the write puts an invalid value into a known field. `before` is undefined for a new key. */
export function validateEntryChanges(before: SessionEntry | undefined, after: SessionEntry): void {
  for (const [field, schema] of Object.entries(FIELD_SCHEMAS) as [keyof SessionEntry, z.ZodType][]) {
    if (before !== undefined && isSame(before[field], after[field])) continue;
    const { error } = schema.safeParse(after[field], { error: plainWords });
    if (error !== undefined) throw invalidField(field, error);
  }
}

function isSame(before: unknown, after: unknown): boolean {
  return before === after || (typeof before === "object" && isDeepStrictEqual(before, after));
}

const text = z.string();
const name = z.string().min(1);
const count = z.number().nonnegative();
const instant = z.number().nonnegative();
const flag = z.boolean();
const threadId = z.union([z.string(), z.number()]);
const chatType = z.enum(["direct", "group", "channel"]);

const FIELD_SCHEMAS = {
  sessionId: name,
  updatedAt: instant,
  lastInteractionAt: instant.optional(),
  sessionFile: name.optional(),
  openedByTurn: name.optional(),
  transcriptEnd: z.looseObject({ sessionId: name, id: name, bytes: count }).optional(),
  spawnedBy: name.optional(),

  sdkSessionId: text.optional(),
  cliSessionIds: z.record(z.string(), z.string()).optional(),
  claudeCliSessionId: text.optional(),

  channel: text.optional(),
  lastChannel: text.optional(),
  lastTo: text.optional(),
  lastAccountId: text.optional(),
  lastThreadId: threadId.optional(),
  deliveryContext: z
    .looseObject({
      channel: text.optional(),
      to: text.optional(),
      accountId: text.optional(),
      threadId: threadId.optional(),
    })
    .optional(),

  chatType: chatType.optional(),
  groupId: text.optional(),
  subject: text.optional(),
  groupChannel: text.optional(),
  space: text.optional(),
  displayName: text.optional(),

  sendPolicy: z.enum(["allow", "deny"]).optional(),
  groupActivation: z.enum(["mention", "always"]).optional(),
  groupActivationNeedsSystemIntro: flag.optional(),

  providerOverride: text.optional(),
  modelOverride: text.optional(),
  authProfileOverride: text.optional(),
  authProfileOverrideSource: z.enum(["auto", "user"]).optional(),
  authProfileOverrideCompactionCount: count.optional(),

  execHost: text.optional(),
  execSecurity: text.optional(),
  execAsk: text.optional(),
  execNode: text.optional(),

  thinkingLevel: text.optional(),
  verboseLevel: text.optional(),
  reasoningLevel: text.optional(),
  elevatedLevel: text.optional(),
  responseUsage: z.enum(["on", "off", "tokens", "full"]).optional(),
  ttsAuto: text.optional(),

  queueMode: text.optional(),
  queueDebounceMs: count.optional(),
  queueCap: count.optional(),
  queueDrop: z.enum(["old", "new", "summarize"]).optional(),

  inputTokens: count.optional(),
  outputTokens: count.optional(),
  totalTokens: count.optional(),
  contextTokens: count.optional(),
  modelProvider: text.optional(),
  model: text.optional(),

  compactionCount: count.optional(),
  memoryFlushAt: instant.optional(),
  memoryFlushCompactionCount: count.optional(),

  systemSent: flag.optional(),
  abortedLastRun: flag.optional(),
  lastHeartbeatText: text.optional(),
  lastHeartbeatSentAt: instant.optional(),

  origin: z
    .looseObject({
      label: text.optional(),
      provider: text.optional(),
      surface: text.optional(),
      chatType: chatType.optional(),
      from: text.optional(),
      to: text.optional(),
      accountId: text.optional(),
      threadId: threadId.optional(),
    })
    .optional(),
  project: z.string().min(1).max(100).optional(),
  projectFolder: name.optional(),
  handoff: z.enum(["on", "off"]).optional(),

  label: z.string().min(1).max(64).optional(),

  skillsSnapshot: z
    .looseObject({
      prompt: text,
      skills: z.array(z.looseObject({ name: text, primaryEnv: text.optional() })),
      resolvedSkills: z.array(z.unknown()).optional(),
      version: z.number().optional(),
    })
    .optional(),
  systemPromptReport: z.record(z.string(), z.unknown()).optional(),
} satisfies Record<keyof SessionEntry, z.ZodType>;

function invalidField(field: string, error: z.ZodError): HoldfastError {
  const issue = error.issues[0];
  const path = [field, ...(issue?.path ?? [])].map(String).join(".");
  return new HoldfastError("usage", "invalid-entry", `The session field ${path} is not valid: ${issue?.message}`, {
    hint: "Nothing was changed. Correct the value and try again.",
    data: { field: path },
    cause: error,
  });
}
