/** `holdfast message send`: something said through a channel that no agent was asked for. */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { RpcCaller } from "../../rpc/client.ts";
import type { ParamsOf, ResultOf } from "../../rpc/contract.ts";
import { loadSetup } from "../context.ts";
import { print, printJson } from "../output.ts";
import { ensureGateway } from "../rpc/gateway-client.ts";
import { waitingLine } from "../waiting-line.ts";

export interface SendOptions {
  channel?: string;
  account?: string;
  target?: string;
  message?: string;
  media?: string[];
  replyTo?: string;
  threadId?: string;
  json?: boolean;
}

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
const LOOK_AGAIN_MS = 150;

/** The same request again sends nothing twice and says how far the message is. */
async function sendAndWait(gateway: RpcCaller, params: ParamsOf<"message.send">): Promise<Sent> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const sent = await gateway.call("message.send", params);
    const isOver = sent.state === "delivered" || sent.state === "failed";
    if (isOver || performance.now() > deadline) return sent;
    await delay(LOOK_AGAIN_MS);
  }
}

function toParams(options: SendOptions): ParamsOf<"message.send"> {
  const { message, media = [], account, replyTo, threadId } = options;
  const channel = required(options.channel, "--channel", "the channel, e.g. --channel telegram");
  const to = required(options.target, "--target", "the chat, e.g. -t 12345");
  if ((message ?? "").trim() === "" && media.length === 0) required(undefined, "--message", "what to say with -m");
  return {
    channel,
    to,
    idempotencyKey: nodeCrypto().randomUUID(),
    ...(message === undefined ? {} : { message }),
    ...(media.length === 0 ? {} : { media: media.map((item) => toMedia(item)) }),
    ...(account === undefined ? {} : { accountId: account }),
    ...(replyTo === undefined ? {} : { replyToId: replyTo }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

function required(value: string | undefined, option: string, what: string): string {
  if (value !== undefined && value.trim() !== "") return value;
  throw new HoldfastError("usage", "option-missing", `${option} is missing`, { hint: `Give ${what}.` });
}

/** The gateway works in another folder. */
function toMedia(item: string): string {
  return /^https?:\/\//i.test(item) ? item : resolve(item);
}

/** OpenClaw's frame around what the gateway answered. */
function toJson(sent: Sent): object {
  return {
    schema: 1,
    action: "send",
    channel: sent.channel,
    dryRun: false,
    handledBy: "gateway",
    ...(sent.messageId === undefined ? {} : { messageId: sent.messageId }),
    payload: sent,
  };
}

function describe({ channel, to, state, messageId }: Sent): string {
  if (state !== "delivered") return `The message to ${to} is kept and goes out when ${channel} takes it.`;
  return `Sent to ${to} on ${channel}${messageId === undefined ? "" : ` (message ${messageId})`}.`;
}

function notSent({ channel, to, outboxIds }: Sent): HoldfastError {
  return new HoldfastError("unavailable", "message-not-sent", `${channel} does not take the message to ${to}`, {
    hint: "`holdfast channels status` and the gateway's log say why.",
    data: { channel, to, outboxIds },
  });
}
