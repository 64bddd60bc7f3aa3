/** Hand-offs: show, capture, clear and resume what one window leaves for the next. */
import { z } from "zod";
import { HANDOFF_STATUSES } from "../../handoff/handoff-view.ts";
import { CAPTURE_REASONS, FACT_KINDS, SUMMARY_KINDS } from "../../handoff/state.ts";
import { agentId, countUpTo, everyAgent, instant, sessionKey, textUpTo, read, write } from "./shapes.ts";

const handoffItem = z.object({
  kind: z.enum([...SUMMARY_KINDS, ...FACT_KINDS]),
  text: z.string(),
  entryId: z.string().describe("Its source: an entry of the transcript."),
  sessionId: z.string().describe("The window of that entry, if it is an earlier one.").optional(),
  at: instant,
  remark: z.string().describe("What the repo says about it now.").optional(),
  resolvedBy: z.string().describe("For a resolved blocker: the entry that says so.").optional(),
  said: z.string().describe("The sentence that a line of a model comes from.").optional(),
});

const handoff = z
  .object({
    agentId: z.string(),
    sessionKey: z.string(),
    sessionId: z.string().describe("The window it describes."),
    isNative: z.boolean().describe("It describes a session of Claude Code."),
    status: z.enum(HANDOFF_STATUSES),
    willBeOffered: z.boolean(),
    isAsked: z.boolean().describe("Requested by a person: the next turn gets it in any case."),
    project: z.string(),
    mode: z.enum(["work", "chat", "deep"]),
    cwd: z.string().optional(),
    branch: z.string().optional(),
    reason: z.enum(CAPTURE_REASONS).describe("Why it was captured last."),
    ending: z.string().describe("How the window ended, in a sentence."),
    lastMessageAt: instant,
    capturedAt: instant,
    expiresAt: instant,
    offeredAt: instant.optional(),
    clearedAt: instant.optional(),
    messages: z.number(),
    items: z.array(handoffItem),
  })
  .describe("A hand-off, each line with its source.");

const nativeId = z
  .string()
  .trim()
  .regex(/^[0-9a-fA-F][0-9a-fA-F-]{3,35}$/, "an id, or a prefix of at least four characters")
  .describe("A session id of Claude Code, or a prefix of it, instead of a key.");

const target = { sessionKey: sessionKey.optional(), nativeId: nativeId.optional(), agentId: agentId.optional() };

const done = { ok: z.literal(true), sessionKey: z.string() };

export const handoffMethods = {
  "handoff.status": read({
    summary: "Shows the hand-off of a session. Default: the latest one.",
    params: z.strictObject({
      ...target,
      verify: z.boolean().default(false).describe("Adds `remark`: compares each line with the repo's current state."),
    }),
    result: z.object({
      enabled: z.boolean().describe("False: `handoff.enabled` is false; there are no hand-offs."),
      sessionKey: z.string().optional(),
      isOff: z.boolean().describe("Turned off for this session."),
      handoff: handoff.optional(),
      markdown: z.string().describe("The hand-off as text.").optional(),
    }),
  }),
  "handoff.list": read({
    summary: "Lists hand-offs, newest first, including expired and cleared ones.",
    params: z.strictObject({
      agentId: everyAgent,
      project: textUpTo(200).optional(),
      limit: countUpTo(1000).default(50),
    }),
    result: z.object({
      count: z.number(),
      total: z.number().describe("Number without `limit`."),
      handoffs: z.array(handoff),
    }),
  }),
  "handoff.capture": write({
    summary: "Updates the hand-off of a session with its latest messages. Also for ended sessions of Claude Code.",
    params: z.strictObject(target),
    result: z.object({
      ...done,
      captured: z.boolean().describe("False: there is nothing to hand over."),
      handoff: handoff.optional(),
    }),
  }),
  "handoff.clear": write({
    summary: "Deletes a hand-off for good. The transcript stays.",
    params: z.strictObject(target),
    result: z.object({
      ...done,
      cleared: z.boolean().describe("False: there was no hand-off."),
      handoff: handoff.describe("The deleted hand-off.").optional(),
    }),
  }),
  "handoff.resume": write({
    summary:
      "Gives the hand-off to the next turn, even if it was offered before; for Claude Code, to the next session in the repo.",
    params: z.strictObject({
      ...target,
      name: textUpTo(200).describe("Its project, or a prefix of its window's id. Required once expired.").optional(),
    }),
    result: z.object({
      ...done,
      outcome: z.enum(["ready", "expired", "none"]),
      handoff: handoff.optional(),
      markdown: z.string().describe("The hand-off as text.").optional(),
    }),
  }),
};
