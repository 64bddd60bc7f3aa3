/** `holdfast channels`: the state of the accounts, linking WhatsApp, and the people who may write to the agent. */
import { EventEmitter, on } from "node:events";
import { systemClock } from "../../base/clock.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { createLogger } from "../../base/log.ts";
import type { ChannelStatus } from "../../channels/channel.ts";
import type { PairingSender, PairingStore } from "../../channels/access.ts";
import { CHANNEL_NAMES, type ChannelName } from "../../config/choices.ts";
import { openDocuments } from "../../compose/agent.ts";
import { channelsFolder } from "../../config/layout.ts";
import { channelLabel, idleAccounts, withIdleAccounts } from "../channel-view.ts";
import { type Flags, type Texts, parseChoice } from "../command.ts";
import { type Setup, loadSetup } from "../context.ts";
import { flexible, formatAge, print, printJson, printStyled, printTable, right, talk } from "../output.ts";
import { type GatewayHandle, findRunningGateway } from "../gateway-client.ts";
import { configuredAccounts } from "../../config/config.ts";

type AccountOptions = Flags<"json"> & Texts<"account">;

export async function channelsStatus(options: Flags<"json">): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  const channels =
    gateway === undefined
      ? idleAccounts(setup.config, "the gateway is not running")
      : withIdleAccounts((await gateway.call("channels.status", {})).channels, setup.config);
  const running = gateway !== undefined;
  if (options.json === true) return printJson({ schema: 1, running, count: channels.length, channels });
  if (!running) talk("The gateway is not running. `holdfast gateway` starts it and connects the channels.");
  if (channels.length === 0) {
    return talk(
      "No channel is configured. Example: holdfast config set channels.telegram.default.allowFrom '[\"@you\"]'",
    );
  }
  printTable(
    ["CHANNEL", "ACCOUNT", "AGENT", "STATE", flexible("")],
    channels.map(({ channel, accountId, agentId, status }) => [
      channelLabel(channel),
      accountId,
      agentId ?? "",
      status.state,
      status.text,
    ]),
  );
}

/**
 * Shows the code that links WhatsApp until it is scanned. Only one process may use an account: if a gateway
 * runs, this shows the gateway's code; otherwise it opens the channel itself for as long as it takes.
 */
export async function login(options: AccountOptions & { channel?: ChannelName | undefined }): Promise<void> {
  const { channel = "whatsapp", json = false } = options;
  if (channel !== "whatsapp") throw needsToken(channel);
  const setup = await loadSetup();
  const accountId = requireAccount(setup, channel, options.account ?? defaultWhatsApp(setup));
  const gateway = await findRunningGateway(setup);
  let shown = "";
  for await (const status of gateway === undefined ? openHere(setup, accountId) : pollGateway(gateway, accountId)) {
    const { state, text, loginCode } = status;
    if (state === "connected") return announceLinked(accountId, json);
    if (state === "failed" || state === "stopped") throw loginFailed(text);
    // A code is shown once; when it expires, a new one arrives.
    if ((loginCode ?? text) !== shown) await showLoginStep(status, json);
    shown = loginCode ?? text;
  }
}

function defaultWhatsApp({ config }: Setup): string {
  const accounts = Object.keys(config.channels.whatsapp);
  return accounts.length === 1 ? (accounts[0] ?? "default") : "default";
}

const POLL_MS = 1000;

async function* pollGateway(gateway: GatewayHandle, accountId: string): AsyncGenerator<ChannelStatus> {
  for (;;) {
    const { channels } = await gateway.call("channels.status", {});
    const row = channels.find((known) => known.channel === "whatsapp" && known.accountId === accountId);
    if (row === undefined) throw notServed(accountId);
    yield row.status;
    await systemClock.sleep(POLL_MS);
  }
}

/** Opens the channel in this process, without accepting messages, and yields its status reports. */
async function* openHere({ home, config }: Setup, accountId: string): AsyncGenerator<ChannelStatus> {
  const { openChannel } = await import("../../compose/channels.ts");
  const logger = createLogger({ level: config.log.level });
  const parts = { home, config, env: process.env, clock: systemClock, logger };
  const channel = await openChannel("whatsapp", accountId, parts);
  const emitter = new EventEmitter<{ report: [ChannelStatus] }>();
  const reports = on(emitter, "report") as AsyncIterable<[ChannelStatus]>;
  const report = (status: ChannelStatus): void => void emitter.emit("report", status);
  const started = channel.start({ admit: refuseMessage, report });
  started.catch((error: unknown) => report({ state: "failed", text: errorMessage(error) }));
  try {
    for await (const [status] of reports) yield status;
  } finally {
    await channel.stop();
  }
}

/** A refused message is not acknowledged, so the platform keeps it for the gateway. */
async function refuseMessage(): Promise<void> {
  await Promise.resolve();
  throw new HoldfastError("unavailable", "login-only", "This process only links the account", {
    hint: "Start the gateway to answer messages.",
  });
}

async function showLoginStep({ loginCode, text }: ChannelStatus, json: boolean): Promise<void> {
  if (loginCode === undefined) return talk(text);
  if (json) return printJson({ schema: 1, channel: "whatsapp", loginCode });
  const { renderQrCode } = await import("../channel-view.ts");
  talk("Scan this code with WhatsApp: Settings → Linked devices → Link a device. Press Ctrl-C to cancel.");
  printStyled(await renderQrCode(loginCode));
}

function announceLinked(accountId: string, json: boolean): void {
  if (json) printJson({ schema: 1, ok: true, channel: "whatsapp", accountId, state: "connected" });
  else print(`WhatsApp account "${accountId}" is linked.`);
}

function loginFailed(text: string): HoldfastError {
  return new HoldfastError("unavailable", "login-failed", `WhatsApp could not be linked: ${text}`, {
    hint: "Try again; a code is valid for about a minute.",
  });
}

function notServed(accountId: string): HoldfastError {
  return new HoldfastError("not-found", "account-not-served", `The gateway does not serve account "${accountId}"`, {
    hint: "It was started before the account was configured, or with --no-channels. Restart it: holdfast gateway restart",
  });
}

function needsToken(channel: string): HoldfastError {
  const variable = `${channel.toUpperCase()}_BOT_TOKEN`;
  return new HoldfastError("usage", "login-by-token", `${channel} has no login: it uses a token`, {
    hint: `Set ${variable} for the gateway, or name a file: holdfast config set channels.${channel}.default.tokenFile <path>`,
  });
}

export async function pending(options: Flags<"json"> & { channel?: ChannelName | undefined }): Promise<void> {
  const setup = await loadSetup();
  const { channel } = options;
  const accounts = configuredAccounts(setup.config).filter(({ name }) => channel === undefined || name === channel);
  const lists = await Promise.all(
    accounts.map(async ({ name, accountId }) => {
      const requests = await (await openPairing(setup, name, accountId)).pending();
      return requests.map((request) => ({ channel: name, accountId, ...request }));
    }),
  );
  const requests = lists.flat();
  if (options.json === true) return printJson({ schema: 1, count: requests.length, requests });
  if (accounts.length === 0) return talk("No channel is configured. `holdfast channels status` shows how to add one.");
  if (requests.length === 0) return talk("Nobody is waiting for approval.");
  printTable(
    ["CHANNEL", "ACCOUNT", "CODE", flexible("WHO"), right("EXPIRES IN")],
    requests.map((request) => [
      request.channel,
      request.accountId,
      request.code,
      describeSender(request),
      formatAge(request.expiresAt - Date.now()),
    ]),
  );
  talk(`To approve one: holdfast channels approve ${requests[0]?.channel} <code>`);
}

export async function approve(rawChannel: string, code: string, options: AccountOptions): Promise<void> {
  const { channel, accountId, store } = await chooseAccount(rawChannel, options, async (candidate) => {
    const requests = await candidate.pending();
    return requests.some((request) => request.code === code.trim().toUpperCase());
  });
  const sender = await store.approve(code);
  if (options.json === true) return printJson({ schema: 1, ok: true, channel, accountId, sender });
  print(`${describeSender(sender)} can now write to the agent on ${channel}.`);
}

export async function revoke(rawChannel: string, id: string, options: AccountOptions): Promise<void> {
  const { channel, accountId, store } = await chooseAccount(rawChannel, options, async (candidate) => {
    const senders = await candidate.approved();
    return senders.some((sender) => sender.id === id);
  });
  if (!(await store.revoke(id))) {
    throw new HoldfastError("not-found", "sender-unknown", `Nobody with the id "${id}" was approved on ${channel}`, {
      hint: `The allow list is part of the configuration: holdfast config get channels.${channel}.${accountId}.allowFrom`,
      data: { channel, accountId, id },
    });
  }
  if (options.json === true) return printJson({ schema: 1, ok: true, channel, accountId, id });
  print(`${id} can no longer write to the agent on ${channel}.`);
}

/** The named account, else the one that knows the person, else the first. */
async function chooseAccount(
  rawChannel: string,
  { account }: AccountOptions,
  knows: (store: PairingStore) => Promise<boolean>,
) {
  const channel = parseChoice("The channel", rawChannel, CHANNEL_NAMES);
  const setup = await loadSetup();
  const accountIds =
    account === undefined ? Object.keys(setup.config.channels[channel]) : [requireAccount(setup, channel, account)];
  const candidates = await Promise.all(
    accountIds.map(async (accountId) => ({ channel, accountId, store: await openPairing(setup, channel, accountId) })),
  );
  for (const candidate of candidates) if (await knows(candidate.store)) return candidate;
  const [first] = candidates;
  if (first !== undefined) return first;
  throw noSuchAccount([], channel, "default");
}

/** An account that is not configured would create a file that nothing reads. */
function requireAccount({ config }: Setup, channel: ChannelName, accountId: string): string {
  const known = Object.keys(config.channels[channel]);
  if (known.includes(accountId)) return accountId;
  throw noSuchAccount(known, channel, accountId);
}

function noSuchAccount(known: readonly string[], channel: ChannelName, accountId: string): HoldfastError {
  return new HoldfastError("not-found", "account-not-found", `${channel} has no account "${accountId}"`, {
    hint:
      known.length === 0
        ? `Configure one: holdfast config set channels.${channel}.${accountId} '{}'`
        : `Configured accounts: ${known.join(", ")}.`,
    data: { channel, accountId },
  });
}

async function openPairing(setup: Setup, channel: ChannelName, accountId: string): Promise<PairingStore> {
  const { createPairingStore } = await import("../../channels/access.ts");
  const documents = await openDocuments(setup, channelsFolder(setup.home));
  return createPairingStore({ documents, channel, accountId, clock: systemClock });
}

function describeSender({ id, name, username }: PairingSender): string {
  const known = [name, username === undefined ? undefined : `@${username}`].filter((part) => part !== undefined);
  return known.length === 0 ? id : `${known.join(" ")} (${id})`;
}
