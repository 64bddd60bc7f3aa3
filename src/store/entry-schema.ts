/**
 * The fields of a session entry. Only fields that a write changes are checked, so invalid data of other tools never
 * blocks an unrelated update. Unknown fields belong to other tools or later versions and are kept unchanged. Loading
 * zod takes longer than most commands run, so stores import this file with the first write; others import only types.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { HoldfastError } from "../base/errors.ts";
import { plainWords } from "../base/issue-words.ts";

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

const deliveryContext = z.object({
  channel: text.optional(),
  to: text.optional(),
  accountId: text.optional(),
  threadId: threadId.optional(),
});

const origin = z.object({
  label: text.optional(),
  provider: text.optional(),
  surface: text.optional(),
  chatType: chatType.optional(),
  from: text.optional(),
  to: text.optional(),
  accountId: text.optional(),
  threadId: threadId.optional(),
});

const skillsSnapshot = z.object({
  prompt: text,
  skills: z.array(z.object({ name: text, primaryEnv: text.optional() })),
  resolvedSkills: z.array(z.unknown()).optional(),
  version: z.number().optional(),
});

const transcriptEnd = z.object({
  /** The window that the mark is about. Another tool may switch the entry to another window and keep the mark. */
  sessionId: name,
  /** Id of the transcript entry. */
  id: name,
  /** End of its line in the file, in bytes. */
  bytes: count,
});

/** How far a task for Claude Code is; see `src/tasks/task.ts`. */
const task = z.looseObject({
  state: z.enum(["accepted", "running", "ended"]),
  text: z.string(),
  repoPath: name,
  /** The folder of its own worktree, if it asked for one. */
  worktree: name.optional(),
  label: text.optional(),
  model: text.optional(),
  budgetUsd: z.number().positive().optional(),
  persistent: flag.optional(),
  /** The native session that it should continue. */
  resume: text.optional(),
  /** The native session that does the work, once Claude Code has named it. */
  sessionId: name.optional(),
  /** The process that runs it. */
  process: z.object({ pid: count, startedAt: text, host: text }).optional(),
  question: z
    .looseObject({
      code: name,
      tool: text,
      detail: text,
      askedAt: instant,
      /** Given in another process; the one that runs the task picks it up. */
      answer: z.enum(["allow", "always", "deny"]).optional(),
    })
    .optional(),
  /** Outbox ids of its messages: a reply to one of them is a follow-up. */
  messages: z.array(count).optional(),
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  /** How the run ended, as the runner names it, or `lost` after a crash. */
  outcome: text.optional(),
  /** So far, or in the end. */
  costUsd: z.number().nonnegative().optional(),
  /** What the continued session had cost before. */
  earlierUsd: z.number().nonnegative().optional(),
  /** The result, until its message is in the outbox. */
  untold: text.optional(),
});

const FIELD_SCHEMAS = {
  // Identity
  sessionId: name,
  /** Last change of any kind, in ms. */
  updatedAt: instant,
  /** Last message of a person or of the agent, in ms. Decides whether the session is fresh. */
  lastInteractionAt: instant.optional(),
  sessionFile: name.optional(),
  /** The turn that opened this window. If it is repeated after a crash, it does not open another one. */
  openedByTurn: name.optional(),
  /** The last transcript entry at the end of the last turn. If it is missing later, data was lost. */
  transcriptEnd: transcriptEnd.optional(),
  spawnedBy: name.optional(),
  /** A subagent has work whose result its parent does not have yet. */
  reportDue: flag.optional(),
  task: task.optional(),

  // Sessions of other programs in which this one continues
  sdkSessionId: text.optional(),
  /** The machine whose disk has that session. Only in a cluster. */
  sdkSessionHost: text.optional(),
  cliSessionIds: z.record(z.string(), z.string()).optional(),
  claudeCliSessionId: text.optional(),

  // Delivery
  channel: text.optional(),
  lastChannel: text.optional(),
  lastTo: text.optional(),
  lastAccountId: text.optional(),
  lastThreadId: threadId.optional(),
  deliveryContext: deliveryContext.optional(),

  // Group
  chatType: chatType.optional(),
  groupId: text.optional(),
  subject: text.optional(),
  groupChannel: text.optional(),
  space: text.optional(),
  displayName: text.optional(),

  // Configuration
  sendPolicy: z.enum(["allow", "deny"]).optional(),
  groupActivation: z.enum(["mention", "always"]).optional(),
  groupActivationNeedsSystemIntro: flag.optional(),

  // Model and authorisation overrides
  providerOverride: text.optional(),
  modelOverride: text.optional(),
  authProfileOverride: text.optional(),
  authProfileOverrideSource: z.enum(["auto", "user"]).optional(),
  authProfileOverrideCompactionCount: count.optional(),

  // Execution
  execHost: text.optional(),
  execSecurity: text.optional(),
  execAsk: text.optional(),
  execNode: text.optional(),

  // Levels shown to the person
  thinkingLevel: text.optional(),
  verboseLevel: text.optional(),
  reasoningLevel: text.optional(),
  elevatedLevel: text.optional(),
  responseUsage: z.enum(["on", "off", "tokens", "full"]).optional(),
  ttsAuto: text.optional(),

  // Queue
  queueMode: text.optional(),
  queueDebounceMs: count.optional(),
  queueCap: count.optional(),
  queueDrop: z.enum(["old", "new", "summarize"]).optional(),

  // Tokens
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  totalTokens: count.optional(),
  contextTokens: count.optional(),
  modelProvider: text.optional(),
  model: text.optional(),

  // Compaction and memory
  compactionCount: count.optional(),
  memoryFlushAt: instant.optional(),
  memoryFlushCompactionCount: count.optional(),

  // State
  systemSent: flag.optional(),
  abortedLastRun: flag.optional(),
  lastHeartbeatText: text.optional(),
  lastHeartbeatSentAt: instant.optional(),

  // Hand-off
  /** The project as the person named it. Default: taken from the repo or folder. */
  project: z.string().min(1).max(100).optional(),
  /** The project's folder, for looking up facts. */
  projectFolder: name.optional(),
  /** `off`: this session leaves no hand-off. Default: `on`. */
  handoff: z.enum(["on", "off"]).optional(),

  // Origin and name
  origin: origin.optional(),
  label: z.string().min(1).max(64).optional(),

  // Snapshots: large and the same in many entries
  skillsSnapshot: skillsSnapshot.optional(),
  systemPromptReport: z.record(z.string(), z.unknown()).optional(),
};

/** The metadata record of a session key, in OpenClaw's field names. */
export type SessionEntry = z.infer<z.ZodObject<typeof FIELD_SCHEMAS>>;
export type TaskState = z.infer<typeof task>;
/** Where a reply to this session goes. */
export type DeliveryContext = z.infer<typeof deliveryContext>;
/** Where the session's first message came from. */
export type SessionOrigin = z.infer<typeof origin>;
export type SkillsSnapshot = z.infer<typeof skillsSnapshot>;

function invalidField(field: string, error: z.ZodError): HoldfastError {
  const issue = error.issues[0];
  const path = [field, ...(issue?.path ?? [])].map(String).join(".");
  return new HoldfastError("usage", "invalid-entry", `The session field ${path} is not valid: ${issue?.message}`, {
    hint: "Nothing was changed. Correct the value and try again.",
    data: { field: path },
    cause: error,
  });
}
