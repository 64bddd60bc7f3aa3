/**
 * Builds the configured channels. The library of a platform is loaded when an account of it is opened. An
 * account that cannot be opened or started is reported, and the others run.
 */
import { join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import type { Clock } from "../base/clock.ts";
import { HoldfastError, errorMessage, fileError, isOutOfFiles } from "../base/errors.ts";
import { readFileIfPresent } from "../base/files.ts";
import type { Logger } from "../base/log.ts";
import { type AccountOptions, type Channel, type ChannelStatus, pauseAfter } from "../channels/channel.ts";
import type { ChannelName } from "../config/choices.ts";
import {
  type ChannelAccountConfig,
  type HoldfastConfig,
  type TokenConfig,
  configuredAccounts,
} from "../config/config.ts";
import { type Environment, channelLayout, channelsFolder, mediaCopiesFolder } from "../config/layout.ts";
import type { ChannelAccount, ChannelPool } from "../turn/pipeline.ts";
import { openDocuments } from "./agent.ts";
import { keepConnection } from "./connections.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { TakenLease } from "../session/lease.ts";
import type { MakeSocket } from "../channels/whatsapp/connection.ts";

export interface OpenChannelsOptions {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  clock: Clock;
  logger: Logger;
  /** Channels that are not configured, such as the gateway's own page. */
  extraChannels?: readonly Channel[] | undefined;
  onStatus?: ((channel: string, accountId: string, status: ChannelStatus) => void) | undefined;
  /** Rejects for an unknown agent, which must not answer. Optional. */
  requireAgent?: ((agentId: string) => Promise<void>) | undefined;
  /** For the leases of connections. Default: this process connects regardless of others. */
  openAgent?: ((agentId: string) => Promise<AgentHandle>) | undefined;
  /**
   * A `MakeSocket` for WhatsApp. Default: Baileys' own socket. The type does not name types of Baileys,
   * because the public types must compile without that optional package.
   */
  makeWhatsAppSocket?: ((config: never) => unknown) | undefined;
}

export function createChannelPool(options: OpenChannelsOptions): ChannelPool {
  const { config, logger } = options;
  const accounts: RunningAccount[] = (options.extraChannels ?? []).map((channel) =>
    createAccount(channel, {}, config.defaultAgent),
  );
  const failed = new Map<string, { channel: string; accountId: string; status: ChannelStatus }>();
  /** After the stop, no account is started: it would never be stopped. */
  const stopping = new AbortController();

  const setStatus = (account: RunningAccount, status: ChannelStatus): void => {
    account.status = status;
    options.onStatus?.(account.channel.name, account.channel.accountId, status);
  };

  const tryToOpen = async (
    configured: ConfiguredAccount,
  ): Promise<{ account?: RunningAccount | undefined; error?: unknown }> => {
    const { name, accountId, settings } = configured;
    const id = `${name} ${accountId}`;
    try {
      await options.requireAgent?.(settings.agent ?? config.defaultAgent);
      const channel = await openChannel(name, accountId, options);
      failed.delete(id);
      const account = createAccount(channel, settings, config.defaultAgent);
      accounts.push(account);
      return { account };
    } catch (error) {
      const status = failedStatus(error);
      failed.set(id, { channel: name, accountId, status });
      options.onStatus?.(name, accountId, status);
      logger.info("a channel could not be opened", { channel: name, accountId, error });
      return { error };
    }
  };
  const tryToStart = async (account: RunningAccount, admit: Admit): Promise<unknown> => {
    const { name, accountId } = account.channel;
    try {
      await account.channel.start({
        admit: async (message) => void (await admit({ ...message, agentId: account.agentId })),
        report: (status) => {
          setStatus(account, status);
          logger.info("channel", { channel: name, state: status.state, text: status.text });
        },
      });
      return undefined;
    } catch (error) {
      if (error instanceof HoldfastError && error.kind === "interrupted") return undefined;
      setStatus(account, failedStatus(error));
      logger.info("a channel could not be started", { channel: name, accountId, error });
      return error;
    }
  };
  /** False if the account is misconfigured. */
  const keepStarting = async (
    account: RunningAccount,
    admit: Admit,
    ending: AbortSignal = stopping.signal,
  ): Promise<boolean> => {
    for (let attempt = 0; !ending.aborted; attempt++) {
      const error = await tryToStart(account, admit);
      if (!isPassing(error)) return error === undefined;
      await pause(attempt);
    }
    return true;
  };
  const connections: Promise<TakenLease | undefined>[] = [];
  /** Resolves when the account is connected, cannot be used, or waits for another gateway. */
  const run = async (account: RunningAccount, admit: Admit): Promise<void> => {
    const { openAgent } = options;
    if (openAgent === undefined || account.channel.isExclusive !== true) {
      await keepStarting(account, admit);
      return;
    }
    const connect = async (ending: AbortSignal): Promise<boolean> => await keepStarting(account, admit, ending);
    const { promise: first, resolve: onFirst } = Promise.withResolvers<void>();
    const report = (status: ChannelStatus): void => setStatus(account, status);
    const { clock } = options;
    const common = { openAgent, report, clock, logger, signal: stopping.signal };
    connections.push(keepConnection(account, common, connect, onFirst).finally(onFirst));
    await first;
  };
  const pause = async (attempt: number): Promise<boolean> => {
    await options.clock.sleep(pauseAfter(undefined, attempt), stopping.signal).catch(() => undefined);
    return !stopping.signal.aborted;
  };

  return {
    accounts: () => accounts,
    failures: () => [...failed.values()],
    find: (channel, accountId) => {
      const matching = accounts.filter((account) => account.channel.name === channel);
      if (accountId !== undefined) return matching.find((account) => account.channel.accountId === accountId);
      return matching.length === 1 ? matching[0] : matching.find(({ channel: { accountId: id } }) => id === "default");
    },
    start: async (admit) => {
      const later: ConfiguredAccount[] = [];
      for (const configured of configuredAccounts(config)) {
        if (stopping.signal.aborted) return;
        const { error } = await tryToOpen(configured);
        if (isPassing(error)) later.push(configured);
      }
      await Promise.all([
        ...accounts.map(async (account) => await run(account, admit)),
        ...later.map(async (configured) => {
          for (let attempt = 0; await pause(attempt); attempt++) {
            const { account, error } = await tryToOpen(configured);
            if (account !== undefined) return await run(account, admit);
            if (!isPassing(error)) return;
          }
        }),
      ]);
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(accounts.map(async ({ channel }) => await channel.stop()));
      // The next gateway connects only when this one is disconnected.
      for (const end of await Promise.allSettled(connections)) {
        if (end.status === "fulfilled") await end.value?.release({ evenIf: "refused" }).catch(() => undefined);
      }
    },
  };
}

type Admit = Parameters<ChannelPool["start"]>[0];
type ConfiguredAccount = ReturnType<typeof configuredAccounts>[number];
type RunningAccount = { -readonly [Field in keyof ChannelAccount]: ChannelAccount[Field] };

/** The next attempt may succeed: no free file descriptor, or a file that cannot be read now. */
function isPassing(error: unknown): boolean {
  if (isOutOfFiles(error)) return true;
  return error instanceof HoldfastError && error.kind === "unavailable" && error.data["system"] !== undefined;
}

function createAccount(channel: Channel, settings: ChannelAccountConfig, defaultAgent: string): RunningAccount {
  return {
    channel,
    agentId: settings.agent ?? defaultAgent,
    replyTo: settings.replyTo ?? "off",
    blockStreaming: settings.blockStreaming ?? true,
    status: { state: "starting", text: "starting" },
  };
}

function failedStatus(error: unknown): ChannelStatus {
  const hint = error instanceof HoldfastError && error.hint !== undefined ? `. ${error.hint}` : "";
  return { state: "failed", text: `${errorMessage(error).replace(/\.$/, "")}${hint}` };
}

export async function openChannel(
  name: ChannelName,
  accountId: string,
  options: OpenChannelsOptions,
): Promise<Channel> {
  const open = { telegram: openTelegram, discord: openDiscord, whatsapp: openWhatsApp }[name];
  return await open(accountId, options);
}

async function openTelegram(accountId: string, options: OpenChannelsOptions): Promise<Channel> {
  const settings = options.config.channels.telegram[accountId] ?? {};
  const token = await readToken("telegram", accountId, settings, options.env);
  const { createTelegramChannel } = await import("../channels/telegram/channel.ts");
  const { webhookUrl: url, apiRoot } = settings;
  // Derived from the token, so that it is the same at every start. The token cannot be derived from it.
  const secretToken = nodeCrypto().createHmac("sha256", token).update("holdfast webhook").digest("base64url");
  return createTelegramChannel({
    ...(await commonOptions("telegram", accountId, settings, options)),
    token,
    apiRoot,
    mode: url === undefined ? "polling" : "webhook",
    webhook: url === undefined ? undefined : { url, secretToken },
  });
}

async function openDiscord(accountId: string, options: OpenChannelsOptions): Promise<Channel> {
  const settings = options.config.channels.discord[accountId] ?? {};
  const token = await readToken("discord", accountId, settings, options.env);
  const { createDiscordChannel } = await import("../channels/discord/channel.ts");
  return createDiscordChannel({
    ...(await commonOptions("discord", accountId, settings, options)),
    token,
    documents: await openDocuments(options, channelLayout(options.home, "discord", accountId).root),
    api: settings.apiRoot === undefined ? undefined : { rest: settings.apiRoot },
  });
}

async function openWhatsApp(accountId: string, options: OpenChannelsOptions): Promise<Channel> {
  const settings = options.config.channels.whatsapp[accountId] ?? {};
  const { createWhatsAppChannel } = await import("../channels/whatsapp/channel.ts");
  return createWhatsAppChannel({
    ...(await commonOptions("whatsapp", accountId, settings, options)),
    keys: await openDocuments(options, channelLayout(options.home, "whatsapp", accountId).authFolder),
    makeSocket: options.makeWhatsAppSocket as MakeSocket | undefined,
  });
}

async function commonOptions(
  channel: ChannelName,
  accountId: string,
  settings: ChannelAccountConfig,
  options: OpenChannelsOptions,
): Promise<AccountOptions> {
  const { home, clock, logger } = options;
  const layout = channelLayout(home, channel, accountId);
  const isShared = options.config.store.kind === "postgres";
  const { createPairingStore } = await import("../channels/access.ts");
  const store = createPairingStore({
    documents: await openDocuments(options, channelsFolder(home)),
    channel,
    accountId,
    clock,
  });
  return {
    accountId,
    clock,
    logger,
    // The database has them too.
    mediaFolder: isShared ? join(mediaCopiesFolder(home), channel, accountId) : layout.mediaFolder,
    allowFrom: settings.allowFrom,
    pairing: { store, offers: settings.pairing !== false },
  };
}

/** From the account's token file, else from an environment variable. */
async function readToken(
  name: "telegram" | "discord",
  accountId: string,
  { tokenFile, tokenEnv }: TokenConfig,
  env: Environment,
): Promise<string> {
  if (tokenFile !== undefined) {
    const content = await readFileIfPresent(tokenFile).catch((error: unknown) => {
      throw fileError(error, "read", tokenFile);
    });
    const token = content?.toString("utf8").trim() ?? "";
    if (token !== "") return token;
    const message =
      content === undefined
        ? `The token file of ${name} account "${accountId}" does not exist: ${tokenFile}`
        : `The token file of ${name} account "${accountId}" has no token`;
    throw new HoldfastError("usage", "token-missing", message, {
      hint: `Put the token, and nothing else, into ${tokenFile}.`,
      data: { path: tokenFile },
    });
  }
  const variable = tokenEnv ?? `${name.toUpperCase()}_BOT_TOKEN`;
  const token = env[variable]?.trim() ?? "";
  if (token !== "") return token;
  throw new HoldfastError("usage", "token-missing", `There is no token for ${name} account "${accountId}"`, {
    hint: `Set ${variable} for the gateway, or name a file: holdfast config set channels.${name}.${accountId}.tokenFile <path>`,
    data: { variable },
  });
}
