/** `openclaw_announce`: a message to the person, kept until it is delivered. */
import { z } from "zod";
import { PRIORITIES } from "../announcer.ts";
import { defineTool } from "../bridge-tool.ts";

const MAX_MESSAGE = 4000;

export const announce = defineTool({
  name: "openclaw_announce",
  title: "Announce to the person",
  description:
    "Sends a message to the person behind this task, outside of your final answer: a milestone, a question that can " +
    "wait, something that broke. It is kept until it is delivered. Be brief; there is a limit of 20 a minute.",
  writes: true,
  input: z.strictObject({
    message: z
      .string()
      .max(MAX_MESSAGE)
      .regex(/\S/, "say something")
      .describe(`What to say, at most ${MAX_MESSAGE} characters`),
    priority: z.enum(PRIORITIES).default("normal").describe("How much it matters (default normal)"),
  }),
  output: z.object({
    /** `kept`: on disk, to be delivered by the gateway. */
    status: z.enum(["kept", "delivered"]),
    id: z.number(),
    channel: z.string(),
    note: z.string(),
  }),
  run: async ({ message, priority }, { announcer }) => {
    const { item, target } = await announcer.keep(message.trim(), priority);
    const status: "kept" | "delivered" = item.state === "delivered" ? "delivered" : "kept";
    return {
      status,
      id: item.id,
      channel: target.channel,
      note:
        target.channel === "cli"
          ? "Kept. The person sees it on the command line (`holdfast mcp --announcements`)."
          : `Kept; the gateway delivers it on ${target.channel}, or will when it runs.`,
    };
  },
});
