/** The schema of turns, the gateway, the channels and related sections. */
import { z } from "zod";
import { QUEUE_DROPS, QUEUE_MODES } from "./choices.ts";
import { agentIdSchema, field, section, textSchema, variableNameSchema } from "./schema-parts.ts";

const seconds = z.number().positive().max(86_400);

export const turnsSchema = z.strictObject({
  concurrency: field(z.int().min(1).max(1000), "Turns at the same time. Default: 64."),
  concurrencyPerAgent: field(
    z.int().min(1).max(1000),
    "Turns of one agent at the same time. Default: 4 with Claude Code, else only the total limit.",
  ),
  timeoutSeconds: field(seconds, "Time limit of a turn. Default: 600."),
  drainSeconds: field(
    z.number().min(0).max(3600),
    "How long running turns may continue after a stop request. Default: 30.",
  ),
  keepFinishedDays: field(
    z.int().min(1).max(3650),
    "How long messages are remembered to detect duplicates. Default: 30.",
  ),
  queue: section("Messages that arrive during a turn of their session.", {
    mode: field(
      z.enum(QUEUE_MODES),
      "steer: into the running turn; followup: one after another; collect: together; interrupt: at once.",
    ),
    debounceMs: field(z.int().min(0).max(600_000), "How long collect waits for another message. Default: 1000."),
    cap: field(z.int().min(1).max(10_000), "How many messages may wait. Default: 20."),
    drop: field(
      z.enum(QUEUE_DROPS),
      "What is dropped beyond that: old, new, or old with a summary for the agent. Default: summarize.",
    ),
  }),
});

export const groupsSchema = z.strictObject({
  activation: field(
    z.enum(["mention", "always"]),
    "mention: the agent answers when mentioned; always: every message. Default: mention.",
  ),
  mentionPatterns: field(
    z.array(textSchema.max(256)).max(100),
    "Regular expressions that count as a mention, in addition to the platform's own.",
  ),
  historyLimit: field(z.int().min(0).max(1000), "Messages before a mention that the agent sees. Default: 50."),
});

export const memorySchema = z.strictObject({
  flush: field(z.boolean(), "Ask the agent to save its memory first. Default: true."),
  flushTimeoutSeconds: field(seconds, "Time limit. Default: 60."),
});

export const searchSchema = z.strictObject({
  embeddings: field(
    textSchema,
    "Embedding model (provider/model) that finds sessions by meaning. Their beginnings are sent to the provider, " +
      "without secrets. Default: the shipped word vectors, without a network.",
  ),
});

export const handoffSchema = z.strictObject({
  enabled: field(z.boolean(), "Capture hand-offs and offer them to the next conversation. Default: true."),
  everyMessages: field(z.int().min(1).max(10_000), "Capture after this many messages. Default: 20."),
  largeToolResult: field(z.int().min(1000), "Capture after a tool result of this many characters. Default: 20000."),
  expiresHours: field(z.number().positive().max(8760), "How long a hand-off is offered. Default: 24."),
  keepSnapshots: field(z.int().min(0).max(10_000), "Number of earlier states kept. Default: 50."),
  model: field(
    textSchema,
    "Model that writes the lines when a window ends. auto: Claude Code or the agent's own model, whichever had the " +
      "conversation; provider/model: that one; off: none. Default: auto.",
  ),
  modelTimeoutSeconds: field(seconds, "Time limit of that model. Default: 20."),
});

export const hooksSchema = z.strictObject({
  timeoutSeconds: field(seconds, "Time limit of a hook. Default: 10."),
  entries: field(
    z.record(
      z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, "must be the name of a hook"),
      z.strictObject({ enabled: field(z.boolean(), "Whether the hook runs.") }),
    ),
    "Hooks by name. Workspace hooks run only if enabled here.",
  ),
});

export const gatewaySchema = z.strictObject({
  port: field(
    z.int().min(0).max(65_535),
    "Port on the loopback interface; 0: any. Default: 7433, or a free one if it is in use.",
  ),
  maxBodyBytes: field(
    z.int().min(1024).max(1_073_741_824),
    "Limit of a request body and a WebSocket frame. Default: 4 MB.",
  ),
  requestsPerMinute: field(z.int().min(1), "Limit per client. Default: 600."),
});

const accountFields = {
  enabled: field(z.boolean(), "False: not started. Default: true."),
  agent: field(agentIdSchema, "The agent that answers. Default: the default agent."),
  allowFrom: field(
    z.array(textSchema.max(256)).max(10_000),
    "Who may write: user ids, usernames, group ids, or *. Default: nobody.",
  ),
  pairing: field(z.boolean(), "Strangers get a code that the owner can approve. Default: true."),
  replyTo: field(z.enum(["off", "first", "all"]), "Whether answers quote the message. Default: off."),
};

const tokenFields = {
  tokenEnv: field(variableNameSchema, "The environment variable with the token."),
  tokenFile: field(textSchema, "A file that contains only the token."),
};

const address = z.url({ protocol: /^https?$/ });
const accountName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "an account name consists of a-z, 0-9, _ and -; use default for a single one");

export const channelsSchema = z.strictObject({
  telegram: field(
    z.record(
      accountName,
      z.strictObject({
        ...accountFields,
        ...tokenFields,
        webhookUrl: field(
          z.url({ protocol: /^https$/ }),
          "Public address of the gateway for Telegram. Default: the gateway polls Telegram.",
        ),
        apiRoot: field(address, "Another Bot API server."),
      }),
    ),
    "Telegram bots by a name of your choice.",
  ),
  discord: field(
    z.record(
      accountName,
      z.strictObject({
        ...accountFields,
        ...tokenFields,
        apiRoot: field(address, "Another REST address."),
      }),
    ),
    "Discord bots by a name of your choice.",
  ),
  whatsapp: field(
    z.record(accountName, z.strictObject(accountFields)),
    "WhatsApp numbers by a name of your choice; link them with `holdfast channels login`.",
  ),
});
