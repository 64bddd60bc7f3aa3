/** What a connection is told of. */
import { z } from "zod";
import { EVENT_NAMES } from "../events.ts";
import { type MethodContract, sessionKey } from "./shapes.ts";

export const eventMethods = {
  "events.subscribe": {
    summary: "From now on this connection gets events. Asked again, the new choice replaces the old one.",
    permission: "read",
    params: z.strictObject({
      sessionKeys: z
        .array(sessionKey)
        .max(1000)
        .describe("Only events of these sessions. Left out: of all; an empty list: none.")
        .exactOptional(),
      events: z.array(z.enum(EVENT_NAMES)).max(100).describe("Only these. Left out: all.").exactOptional(),
    }),
    result: z.object({
      ok: z.literal(true),
      events: z.array(z.string()),
      sessionKeys: z.array(z.string()).exactOptional(),
    }),
  },
} as const satisfies Record<string, MethodContract>;
