/** What one window leaves for the next: look, capture, forget, bring back. */
import { z } from "zod";
import { HANDOFF_STATUSES } from "../../handoff/handoff-view.ts";
import { CAPTURE_REASONS } from "../../handoff/state.ts";
import { type MethodContract, agentId, instant, sessionKey } from "./shapes.ts";

const handoffItem = z.object({
  kind: z.enum(["topic", "in-progress", "blocker", "decision", "accomplishment", "next-step"]),
  text: z.string(),
  entryId: z.string().describe("The entry of the transcript that it came from."),
  sessionId: z.string().describe("The earlier window of that entry. Left out: the one it tells about.").exactOptional(),
  at: instant,
  remark: z.string().describe("What the repo says about it now.").exactOptional(),
  resolvedBy: z.string().describe("Of a blocker that is over: the entry that said so.").exactOptional(),
  said: z.string().describe("What a model put into other words.").exactOptional(),
});

const handoff = z
  .object({
    agentId: z.string(),
    sessionKey: z.string(),
    sessionId: z.string().describe("The window that it tells about."),
    isNative: z.boolean().describe("It is about a session of Claude Code."),
    status: z.enum(HANDOFF_STATUSES),
    willBeOffered: z.boolean(),
    isAsked: z.boolean().describe("Somebody asked for it: the next turn is told, whatever else holds."),
    project: z.string(),
    mode: z.enum(["work", "chat", "deep"]),
    cwd: z.string().exactOptional(),
    branch: z.string().exactOptional(),
    reason: z.enum(CAPTURE_REASONS).describe("Why it was captured last."),
    ending: z.string().describe("How the window ended, in a sentence."),
    lastMessageAt: instant,
    capturedAt: instant,
    expiresAt: instant,
    offeredAt: instant.exactOptional(),
    clearedAt: instant.exactOptional(),
    messages: z.number(),
    items: z.array(handoffItem),
  })
  .describe("A hand-off, each line with the entry behind it.");

const nativeId = z
  .string()
  .trim()
  .regex(/^[0-9a-fA-F][0-9a-fA-F-]{3,35}$/, "an id, or at least four characters of its start")
  .describe("A session of Claude Code, or the start of its id, instead of a key.");

const target = {
  sessionKey: sessionKey.exactOptional(),
  nativeId: nativeId.exactOptional(),
  agentId: agentId.exactOptional(),
};

const done = { ok: z.literal(true), sessionKey: z.string() };

export const handoffMethods = {
  "handoff.status": {
    summary: "What a session leaves for its next window, as it is kept. Without a session: what was captured last.",
    permission: "read",
    params: z.strictObject({
      ...target,
      verify: z.boolean().describe("Adds `remark`: each line is compared with the repo as it is now.").default(false),
    }),
    result: z.object({
      enabled: z.boolean().describe("False: `handoff.enabled` is false, and nothing is handed over."),
      sessionKey: z.string().exactOptional(),
      isOff: z.boolean().describe("The person turned it off for this session."),
      handoff: handoff.exactOptional(),
      markdown: z.string().describe("The same, to be pasted anywhere.").exactOptional(),
    }),
  },
  "handoff.list": {
    summary: "What sessions have left, the newest first, also what is expired or was cleared.",
    permission: "read",
    params: z.strictObject({
      agentId: agentId.describe("Only this agent's. Left out: every agent's.").exactOptional(),
      project: z.string().trim().min(1).max(200).exactOptional(),
      limit: z.int().min(1).max(1000).default(50),
    }),
    result: z.object({
      count: z.number(),
      total: z.number().describe("How many there are without `limit`."),
      handoffs: z.array(handoff),
    }),
  },
  "handoff.capture": {
    summary: "Captures what was said since the last time. A session of Claude Code may have ended long ago.",
    permission: "write",
    params: z.strictObject(target),
    result: z.object({
      ...done,
      captured: z.boolean().describe("False: nothing was said that could be handed over."),
      handoff: handoff.exactOptional(),
    }),
  },
  "handoff.clear": {
    summary: "Forgets what was captured up to now, for good. The transcript stays.",
    permission: "write",
    params: z.strictObject(target),
    result: z.object({
      ...done,
      cleared: z.boolean().describe("False: nothing was kept."),
      handoff: handoff.describe("What was forgotten.").exactOptional(),
    }),
  },
  "handoff.resume": {
    summary: "The next turn is told, offered before or not; of Claude Code, the next session in the same repo.",
    permission: "write",
    params: z.strictObject({
      ...target,
      name: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .describe("Its project, or the start of its window's id: needed once it has expired.")
        .exactOptional(),
    }),
    result: z.object({
      ...done,
      outcome: z.enum(["ready", "expired", "none"]),
      handoff: handoff.exactOptional(),
      markdown: z.string().describe("To be given to a session by hand.").exactOptional(),
    }),
  },
} as const satisfies Record<string, MethodContract>;
