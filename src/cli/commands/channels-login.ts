/**
 * `holdfast channels login`: shows the code that links WhatsApp, until it is scanned. Only one process may
 * speak for an account: where a gateway runs its code is shown, else the channel is opened here for as
 * long as it takes.
 */
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { createLogger } from "../../base/log.ts";
import type { ChannelStatus } from "../../channels/channel.ts";
import { openChannel } from "../../compose-channels.ts";
import { parseChoice } from "../arguments.ts";
import { type Setup, loadSetup } from "../context.ts";
import { print, printJson, printStyled, talk } from "../output.ts";
import { paintQrCode } from "../qr/paint-qr-code.ts";
import { type GatewayHandle, findRunningGateway } from "../rpc/gateway-client.ts";
import { requireAccount } from "./pairing.ts";

export interface LoginOptions {
  channel?: string;
  account?: string;
  json?: boolean;
}

export async function login(options: LoginOptions): Promise<void> {
  const channel = parseChoice("--channel", options.channel ?? "whatsapp", ["telegram", "discord", "whatsapp"]);
  if (channel !== "whatsapp") throw needsToken(channel);
  const setup = await loadSetup();
  const accountId = requireAccount(setup, channel, options.account ?? onlyAccount(setup));
  const gateway = await findRunningGateway(setup);
  const show = createCodePrinter(options.json === true);
  for await (const status of gateway === undefined ? openHere(setup, accountId) : watch(gateway, accountId)) {
    if (status.state === "connected") return announce(accountId, options);
    if (status.state === "failed" || status.state === "stopped") throw failed(status);
    show(status);
  }
}

function onlyAccount({ config }: Setup): string {
  const accounts = Object.keys(config.channels.whatsapp);
  return accounts.length === 1 ? (accounts[0] ?? "default") : "default";
}

const LOOK_AGAIN_MS = 1000;

/** What the gateway says about the account, again and again. */
async function* watch(gateway: GatewayHandle, accountId: string): AsyncGenerator<ChannelStatus> {
  for (;;) {
    const { channels } = await gateway.call("channels.status", {});
    const row = channels.find((known) => known.channel === "whatsapp" && known.accountId === accountId);
    if (row === undefined) throw notServed(accountId);
    yield row.status;
    await systemClock.sleep(LOOK_AGAIN_MS);
  }
}

/** The channel's own reports, from a channel that takes no messages. */
async function* openHere({ home, config }: Setup, accountId: string): AsyncGenerator<ChannelStatus> {
  const logger = createLogger({ level: config.log.level });
  const channel = await openChannel("whatsapp", accountId, {
    home,
    config,
    env: process.env,
    clock: systemClock,
    logger,
  });
  const reports: ChannelStatus[] = [];
  let wake = Promise.withResolvers<void>();
  const report = (status: ChannelStatus): void => {
    reports.push(status);
    wake.resolve();
  };
  const started = channel.start({ admit: refuseMessage, report });
  started.catch((error: unknown) => report({ state: "failed", text: error instanceof Error ? error.message : "" }));
  try {
    for (;;) {
      await wake.promise;
      wake = Promise.withResolvers<void>();
      yield* reports.splice(0);
    }
  } finally {
    await channel.stop();
  }
}

/** What is not admitted is not acknowledged: the platform keeps it for the gateway. */
async function refuseMessage(): Promise<void> {
  await Promise.resolve();
  throw new HoldfastError("unavailable", "login-only", "This process only links the account", {
    hint: "Start the gateway to answer messages.",
  });
}

/** Each code once; a new one comes when the old one has expired. */
function createCodePrinter(json: boolean): (status: ChannelStatus) => void {
  let last = "";
  return ({ loginCode, text }) => {
    const shown = loginCode ?? text;
    if (shown === last) return;
    last = shown;
    if (loginCode === undefined) talk(text);
    else if (json) printJson({ schema: 1, channel: "whatsapp", loginCode });
    else printCode(loginCode);
  };
}

function printCode(code: string): void {
  talk("Scan this with WhatsApp: Settings → Linked devices → Link a device. Ctrl-C ends it.");
  printStyled(paintQrCode(code));
}

function announce(accountId: string, { json }: LoginOptions): void {
  if (json === true) printJson({ schema: 1, ok: true, channel: "whatsapp", accountId, state: "connected" });
  else print(`WhatsApp account "${accountId}" is linked.`);
}

function failed({ text }: ChannelStatus): HoldfastError {
  return new HoldfastError("unavailable", "login-failed", `WhatsApp could not be linked: ${text}`, {
    hint: "Try again; a code is good for about a minute.",
  });
}

function notServed(accountId: string): HoldfastError {
  return new HoldfastError("not-found", "account-not-served", `The gateway does not serve account "${accountId}"`, {
    hint: "It was started before the account was configured, or with --no-channels: start it again.",
  });
}

function needsToken(channel: string): HoldfastError {
  const variable = `${channel.toUpperCase()}_BOT_TOKEN`;
  return new HoldfastError("usage", "login-by-token", `${channel} has no login: it takes a token`, {
    hint: `Set ${variable} for the gateway, or name a file: holdfast config set channels.${channel}.default.tokenFile <path>`,
  });
}
