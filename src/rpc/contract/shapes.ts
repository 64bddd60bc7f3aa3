/** Shapes used by several methods. */
import { z } from "zod";
import { isRecord } from "../../base/json-record.ts";
import { THINKING_LEVELS } from "../../config/choices.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptMessage, TurnMark } from "../../transcript/entries.ts";
import type { Permission } from "../protocol.ts";

/** Rows of the method table, by the permission that a caller needs. */
export const read = methodFor("read");
export const write = methodFor("write");
export const admin = methodFor("admin");

function methodFor(permission: Permission) {
  return <Params extends z.ZodObject, Result extends z.ZodObject>(row: {
    summary: string;
    params: Params;
    result: Result;
  }) => ({ ...row, permission });
}

/** Dates become ISO text. */
export type AsJson<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? AsJson<Item>[]
    : T extends object
      ? { [Key in keyof T]: AsJson<T[Key]> }
      : T;

/** An object of a type that is defined elsewhere. */
export function objectOf<T>(description: string): z.ZodType<T> {
  return z.custom<T>(isRecord).describe(description);
}

export const textUpTo = (length: number) => z.string().trim().min(1).max(length);
export const countUpTo = (most: number) => z.int().min(1).max(most);

export const agentId = textUpTo(64).describe("Default: the default agent.");
export const sessionKey = textUpTo(1024);
export const sessionId = textUpTo(256);
export const accountId = textUpTo(64).optional();
export const instant = z.number().describe("Milliseconds since 1970.");
export const idempotencyKey = textUpTo(200).describe("Requests with the same key are executed once.");
const otherWindow = "Fails with kind `conflict` if the session has another window now.";
export const expectedSessionId = sessionId.describe(otherWindow).optional();
export const session = { key: sessionKey, agentId: agentId.optional() };
export const chat = { sessionKey, agentId: agentId.optional() };
export const everyAgent = agentId.describe("Default: every agent.").optional();
export const message = z.string().min(1).max(1_000_000);

export const sessionEntry = objectOf<SessionEntry>("The session's entry, in OpenClaw's field names.");

export const channelName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a channel's name consists of a-z, 0-9, _ and -");

export const thinkingLevel = z.enum(THINKING_LEVELS);

export const usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  total: z.number(),
});

export type HistoryMessage = TranscriptMessage &
  TurnMark & {
    entryId: string;
    isCut?: boolean | undefined;
    /** The agent saved its memory in this turn; views collapse it. */
    isFlush?: boolean | undefined;
  };
