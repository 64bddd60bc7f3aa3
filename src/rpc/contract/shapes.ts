/** Shapes that several methods share. */
import { z } from "zod";
import { isRecord } from "../../base/json-record.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptMessage, TurnMark } from "../../transcript/entries.ts";
import type { Permission } from "../frames.ts";

/** One row of the method table, without the handler. */
export interface MethodContract {
  summary: string;
  permission: Permission;
  params: z.ZodObject;
  result: z.ZodObject;
}

/** Dates travel as ISO text. */
export type AsJson<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? AsJson<Item>[]
    : T extends object
      ? { [Key in keyof T]: AsJson<T[Key]> }
      : T;

/** An object of a type that is described elsewhere. */
export function objectOf<T>(description: string): z.ZodType<T> {
  return z.custom<T>(isRecord).describe(description);
}

export const agentId = z.string().trim().min(1).max(64).describe("An agent. Left out: the default agent.");
export const sessionKey = z.string().trim().min(1).max(1024);
export const sessionId = z.string().trim().min(1).max(256);
export const instant = z.number().describe("Milliseconds since 1970.");
export const idempotencyKey = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe("The same key twice is the same request: it is done once.");

export const expectedSessionId = sessionId
  .describe("Refused with kind `conflict` when the session is at another window by now.")
  .exactOptional();

export const sessionEntry = objectOf<SessionEntry>("The session's entry, in OpenClaw's field names.");

export const channelName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a channel's name is made of a-z, 0-9, _ and -");

export const thinkingLevel = z.enum(["off", "minimal", "low", "medium", "high", "xhigh"]);

export const usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  total: z.number(),
});

/** A message of a transcript with the entry that it stands in. */
export type HistoryMessage = TranscriptMessage &
  TurnMark & {
    entryId: string;
    isCut?: boolean;
    /** It belongs to a turn in which the agent saved its memory: views fold it away. */
    isFlush?: boolean;
  };
