/** The tools for the chat behind a task: its last messages, and announcements to the person. */
import { z } from "zod";
import { transcriptPath } from "../../session/agent-handle.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { readNewest } from "../../transcript/walk.ts";
import { PRIORITIES } from "../announcer.ts";
import { countUpTo, defineTool } from "../bridge-tool.ts";
import { UNTRUSTED, excerpt } from "../model-text.ts";
import { findConversation } from "../privacy.ts";
import { isFlushEntry, saidText } from "../../transcript/messages.ts";

const MESSAGE_CHARS = 2000;
const TOTAL_CHARS = 16_000;

const message = z.object({
  role: z.enum(["user", "assistant", "summary"]),
  text: z.string(),
  at: z.string(),
});

export const conversationContext = defineTool({
  name: "openclaw_conversation_context",
  title: "Conversation context",
  description:
    "The chat conversation that led to this task: its last messages, oldest first. Call it when the task refers to " +
    "something that was said before, or does not say what the person wants. `linked: false` means that no " +
    "conversation belongs to this task.",
  flag: "exposeConversation",
  input: z.strictObject({
    limit: countUpTo(100, 20, "How many messages from the end"),
  }),
  output: z.object({
    linked: z.boolean(),
    session: z.string().optional(),
    messages: z.array(message),
    complete: z.boolean(),
    note: z.string(),
  }),
  run: async ({ limit }, bridge) => {
    const link = await findConversation(bridge);
    if (!link.linked) return { linked: false, messages: [], complete: true, note: link.reason };
    const path = await transcriptPath(link.agent, link.entry);
    const { found, isComplete } = await readNewest(path, { limit, maxChars: TOTAL_CHARS }, toMessage);
    // A summary replaces everything before it.
    const summary = found.findLastIndex(({ role }) => role === "summary");
    const messages = found.slice(Math.max(0, summary));
    return { linked: true, session: link.key, messages, complete: isComplete || summary !== -1, note: UNTRUSTED };
  },
});

function toMessage(entry: TranscriptEntry): z.input<typeof message> | undefined {
  const at = entry.timestamp;
  if (entry.type === "compaction") return { role: "summary", text: excerpt(entry.summary, MESSAGE_CHARS), at };
  if (entry.type !== "message" || isFlushEntry(entry)) return undefined;
  const { role } = entry.message;
  const text = excerpt(saidText(entry), MESSAGE_CHARS);
  return text === "" || (role !== "user" && role !== "assistant") ? undefined : { role, text, at };
}

const MAX_MESSAGE = 4000;

export const announce = defineTool({
  name: "openclaw_announce",
  title: "Announce to the person",
  description:
    "Sends a message to the person behind this task, outside of your final answer: a milestone, a question that can " +
    "wait, something that broke. It is kept until it is delivered. Be brief; the limit is 20 per minute.",
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
          : `Kept; the gateway delivers it on ${target.channel} as soon as it runs.`,
    };
  },
});
