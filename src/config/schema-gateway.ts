/** What a file may say about turns, the gateway and the channels. Loaded with the schema only. */
import { z } from "zod";
import { QUEUE_DROPS, QUEUE_MODES } from "./config.ts";
import { agentIdSchema, textSchema, variableNameSchema } from "./schema-parts.ts";

const seconds = z.number().positive().max(86_400);

export const turnsSchema = z.strictObject({
  concurrency: z.int().min(1).max(1000).describe("Turns at the same time. Default: 64.").exactOptional(),
  concurrencyPerAgent: z
    .int()
    .min(1)
    .max(1000)
    .describe("The same for one agent. Default: 4 with Claude Code, else as many.")
    .exactOptional(),
  timeoutSeconds: seconds.describe("A turn that takes longer is stopped. Default: 600.").exactOptional(),
  drainSeconds: z
    .number()
    .min(0)
    .max(3600)
    .describe("How long running turns may go on when the process is asked to end. Default: 30.")
    .exactOptional(),
  keepFinishedDays: z
    .int()
    .min(1)
    .max(3650)
    .describe("How long a message is remembered against coming again. Default: 30.")
    .exactOptional(),
  queue: z
    .strictObject({
      mode: z
        .enum(QUEUE_MODES)
        .describe("steer: into the running turn; followup: one after another; collect: together; interrupt: at once.")
        .exactOptional(),
      debounceMs: z
        .int()
        .min(0)
        .max(600_000)
        .describe("How long collect waits for one more message. Default: 1000.")
        .exactOptional(),
      cap: z.int().min(1).max(10_000).describe("How many messages may wait. Default: 20.").exactOptional(),
      drop: z
        .enum(QUEUE_DROPS)
        .describe("What goes beyond that: old, new, or old with a summary for the agent. Default: summarize.")
        .exactOptional(),
    })
    .describe("Messages that arrive while a turn of their session runs.")
    .exactOptional(),
});

export const groupsSchema = z.strictObject({
  activation: z
    .enum(["mention", "always"])
    .describe("mention: the agent answers when it is meant; always: every message. Default: mention.")
    .exactOptional(),
  mentionPatterns: z
    .array(textSchema.max(256))
    .max(100)
    .describe("Regular expressions that count as a mention, besides the platform's own.")
    .exactOptional(),
  historyLimit: z
    .int()
    .min(0)
    .max(1000)
    .describe("Messages before a mention that the agent is shown. Default: 50.")
    .exactOptional(),
});

export const memorySchema = z.strictObject({
  flush: z.boolean().describe("Ask the agent to write down what matters first. Default: true.").exactOptional(),
  flushTimeoutSeconds: seconds.describe("How long that may take. Default: 60.").exactOptional(),
});

export const handoffSchema = z.strictObject({
  enabled: z
    .boolean()
    .describe("Capture what matters and offer it to the next conversation. Default: true.")
    .exactOptional(),
  everyMessages: z.int().min(1).max(10_000).describe("Capture after so many messages. Default: 20.").exactOptional(),
  largeToolResult: z
    .int()
    .min(1000)
    .describe("Capture after a tool result of so many characters. Default: 20000.")
    .exactOptional(),
  expiresHours: z.number().positive().max(8760).describe("How long it is offered. Default: 24.").exactOptional(),
  keepSnapshots: z.int().min(0).max(10_000).describe("Earlier states that are kept. Default: 50.").exactOptional(),
  model: textSchema.describe("provider/model that words the summary. Left out: no model is asked.").exactOptional(),
  modelTimeoutSeconds: seconds.describe("How long that may take. Default: 20.").exactOptional(),
});

export const hooksSchema = z.strictObject({
  timeoutSeconds: seconds.describe("A hook that takes longer is given up. Default: 10.").exactOptional(),
  entries: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, "must be the name of a hook"),
      z.strictObject({ enabled: z.boolean().describe("Whether it is called.").exactOptional() }),
    )
    .describe("Hooks by name; those of a workspace run only when they are enabled here.")
    .exactOptional(),
});

export const gatewaySchema = z.strictObject({
  port: z.int().min(0).max(65_535).describe("Port on the loopback interface; 0: any. Default: 7433.").exactOptional(),
  maxBodyBytes: z
    .int()
    .min(1024)
    .max(1_073_741_824)
    .describe("Largest request body and WebSocket frame. Default: 4 MB.")
    .exactOptional(),
  requestsPerMinute: z.int().min(1).describe("Requests of one client within a minute. Default: 600.").exactOptional(),
});

const accountFields = {
  enabled: z.boolean().describe("False: not started. Default: true.").exactOptional(),
  agent: agentIdSchema.describe("The agent that answers. Default: the default agent.").exactOptional(),
  allowFrom: z
    .array(textSchema.max(256))
    .max(10_000)
    .describe("Who may write: ids, usernames, ids of groups, or *. Default: nobody.")
    .exactOptional(),
  pairing: z.boolean().describe("Strangers get a code that the owner can approve. Default: true.").exactOptional(),
  replyTo: z
    .enum(["off", "first", "all"])
    .describe("Whether answers quote the message they answer. Default: off.")
    .exactOptional(),
};

const tokenFields = {
  tokenEnv: variableNameSchema.describe("The environment variable that holds the token.").exactOptional(),
  tokenFile: textSchema.describe("A file that holds the token and nothing else.").exactOptional(),
};

const address = z.url({ protocol: /^https?$/ });
const accountName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "an account's name is made of a-z, 0-9, _ and -; use default for the only one");

export const channelsSchema = z.strictObject({
  telegram: z
    .record(
      accountName,
      z.strictObject({
        ...accountFields,
        ...tokenFields,
        webhookUrl: z
          .url({ protocol: /^https$/ })
          .describe("Where Telegram reaches the gateway. Default: the gateway asks Telegram.")
          .exactOptional(),
        apiRoot: address.describe("Another Bot API server.").exactOptional(),
      }),
    )
    .describe("Telegram bots by a name of your own.")
    .exactOptional(),
  discord: z
    .record(
      accountName,
      z.strictObject({
        ...accountFields,
        ...tokenFields,
        apiRoot: address.describe("Another REST address.").exactOptional(),
      }),
    )
    .describe("Discord bots by a name of your own.")
    .exactOptional(),
  whatsapp: z
    .record(accountName, z.strictObject(accountFields))
    .describe("WhatsApp numbers by a name of your own; `holdfast channels login` links them.")
    .exactOptional(),
});
