/** `holdfast message send`: sends a message through a channel without an agent. */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { RpcCaller } from "../../rpc/client.ts";
import type { ParamsOf, ResultOf } from "../../rpc/contract.ts";
import type { Flags, Texts } from "../command.ts";
import { loadSetup } from "../context.ts";
import { print, printJson, waitingLine } from "../output.ts";
import { ensureGateway } from "../gateway-client.ts";

type SendOptions = Flags<"json"> &
  Texts<"channel" | "account" | "target" | "message" | "replyTo" | "threadId"> & { media?: string[] | undefined };

type Sent = ResultOf<"message.send">;

export async function sendMessage(options: SendOptions): Promise<void> {
  const params = toParams(options);
  const gateway = await ensureGateway(await loadSetup());
  using _line = waitingLine("Sending");
  const sent = await sendAndWait(gateway, params);
  if (options.json === true) printJson(toJson(sent));
  if (sent.state === "failed") throw notSent(sent);
  if (options.json !== true) print(describe(sent));
}

const PATIENCE_MS = 10_000;
const POLL_MS = 150;

/** Repeating the request sends nothing twice and returns the state of the message. */
async function sendAndWait(gateway: RpcCaller, params: ParamsOf<"message.send">): Promise<Sent> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const sent = await gateway.call("message.send", params);
    const isOver = sent.state === "delivered" || sent.state === "failed";
    if (isOver || performance.now() > deadline) return sent;
    await delay(POLL_MS);
  }
}

function toParams(options: SendOptions): ParamsOf<"message.send"> {
  const { message, media = [], account, replyTo, threadId } = options;
  const channel = required(options.channel, "--channel", "the channel, e.g. --channel telegram");
  const to = required(options.target, "--target", "the chat, e.g. -t 12345");
  if ((message ?? "").trim() === "" && media.length === 0) required(undefined, "--message", "the text with -m");
  return {
    channel,
    to,
    idempotencyKey: nodeCrypto().randomUUID(),
    message,
    media: media.length === 0 ? undefined : media.map(toMedia),
    accountId: account,
    replyToId: replyTo,
    threadId,
  };
}

function required(value: string | undefined, option: string, what: string): string {
  if (value !== undefined && value.trim() !== "") return value;
  throw new HoldfastError("usage", "option-missing", `${option} is missing`, { hint: `Give ${what}.` });
}

/** The gateway runs in another folder, so paths are made absolute. */
function toMedia(item: string): string {
  return /^https?:\/\//i.test(item) ? item : resolve(item);
}

/** OpenClaw's frame around the gateway's response. */
function toJson(sent: Sent): object {
  return {
    schema: 1,
    action: "send",
    channel: sent.channel,
    dryRun: false,
    handledBy: "gateway",
    messageId: sent.messageId,
    payload: sent,
  };
}

function describe({ channel, to, state, messageId }: Sent): string {
  if (state !== "delivered") return `The message to ${to} is queued and will be sent when ${channel} accepts it.`;
  return `Sent to ${to} on ${channel}${messageId === undefined ? "" : ` (message ${messageId})`}.`;
}

function notSent({ channel, to, outboxIds }: Sent): HoldfastError {
  return new HoldfastError("unavailable", "message-not-sent", `${channel} rejected the message to ${to}`, {
    hint: "See `holdfast channels status` and `holdfast gateway logs`.",
    data: { channel, to, outboxIds },
  });
}
