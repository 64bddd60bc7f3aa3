/**
 * Builds the channels that the configuration names. A library of a platform is loaded when an account of
 * it is started, and an account that cannot be built or started is a report of its own: the others run.
 */
import { nodeCrypto } from "./base/builtin.ts";
import type { Clock } from "./base/clock.ts";
import { HoldfastError, errorMessage, fileError } from "./base/errors.ts";
import { readFileIfPresent } from "./base/files.ts";
import type { Logger } from "./base/log.ts";
import type { AccessOptions } from "./channels/access.ts";
import type { Channel, ChannelStatus } from "./channels/channel.ts";
import type { MakeSocket } from "./channels/whatsapp/socket.ts";
import { type ChannelName, configuredAccounts } from "./config/channel-accounts.ts";
import type { ChannelAccountConfig, HoldfastConfig, TokenConfig } from "./config/config.ts";
import { type Environment, channelLayout, channelsFolder } from "./config/layout.ts";
import type { ChannelAccount, ChannelPool } from "./turn/pools.ts";

export interface OpenChannelsOptions {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  clock: Clock;
  logger: Logger;
  /** Channels that are always there, such as the gateway's own page. */
  besides?: readonly Channel[];
  onStatus?: (channel: string, accountId: string, status: ChannelStatus) => void;
  /** Rejects when there is no such agent: nobody should be answered by it then. Left out: there is. */
  requireAgent?: (agentId: string) => Promise<void>;
  /** How WhatsApp is reached. Left out: through Baileys' own socket. */
  makeWhatsAppSocket?: MakeSocket;
}

export function createChannelPool(options: OpenChannelsOptions): ChannelPool {
  const { config, logger } = options;
  const accounts: RunningAccount[] = (options.besides ?? []).map((channel) =>
    createAccount(channel, {}, config.defaultAgent),
  );
  const failed: { channel: string; accountId: string; status: ChannelStatus }[] = [];
  /** What is still being opened then is not started any more: nobody would stop it. */
  let isStopped = false;

  const report = (account: RunningAccount, status: ChannelStatus): void => {
    account.status = status;
    options.onStatus?.(account.channel.name, account.channel.accountId, status);
  };

  return {
    accounts: () => accounts,
    failures: () => failed,
    find: (channel, accountId) => {
      const matching = accounts.filter((account) => account.channel.name === channel);
      if (accountId !== undefined) return matching.find((account) => account.channel.accountId === accountId);
      return matching.length === 1 ? matching[0] : matching.find(({ channel: { accountId: id } }) => id === "default");
    },
    start: async (host) => {
      for (const { name, accountId, settings } of configuredAccounts(config)) {
        if (isStopped) return;
        try {
          await options.requireAgent?.(settings.agent ?? config.defaultAgent);
          const channel = await openChannel(name, accountId, options);
          accounts.push(createAccount(channel, settings, config.defaultAgent));
        } catch (error) {
          const status = failedStatus(error);
          failed.push({ channel: name, accountId, status });
          options.onStatus?.(name, accountId, status);
          logger.info("a channel could not be opened", { channel: name, accountId, error });
        }
      }
      await Promise.all(
        accounts.map(async (account) => {
          if (isStopped) return;
          const inner = host(account);
          try {
            await account.channel.start({
              admit: async (message) => await inner.admit(message),
              report: (status) => {
                report(account, status);
                inner.report(status);
              },
            });
          } catch (error) {
            if (error instanceof HoldfastError && error.kind === "interrupted") return;
            report(account, failedStatus(error));
            const { name, accountId } = account.channel;
            logger.info("a channel could not be started", { channel: name, accountId, error });
          }
        }),
      );
    },
    stop: async () => {
      isStopped = true;
      await Promise.allSettled(accounts.map(async ({ channel }) => await channel.stop()));
    },
  };
}

type RunningAccount = { -readonly [Field in keyof ChannelAccount]: ChannelAccount[Field] };

function createAccount(channel: Channel, settings: ChannelAccountConfig, defaultAgent: string): RunningAccount {
  return {
    channel,
    agentId: settings.agent ?? defaultAgent,
    replyTo: settings.replyTo ?? "off",
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
  return await OPENERS[name](accountId, options);
}

const OPENERS: Record<ChannelName, (accountId: string, options: OpenChannelsOptions) => Promise<Channel>> = {
  telegram: openTelegram,
  discord: openDiscord,
  whatsapp: openWhatsApp,
};

async function openTelegram(accountId: string, options: OpenChannelsOptions): Promise<Channel> {
  const settings = options.config.channels.telegram[accountId] ?? {};
  const question = { usual: "TELEGRAM_BOT_TOKEN", name: "telegram", accountId, env: options.env } as const;
  const token = await readToken(settings, question);
  const { createTelegramChannel } = await import("./channels/telegram/telegram-channel.ts");
  const { webhookUrl, apiRoot } = settings;
  return createTelegramChannel({
    ...(await commonOptions("telegram", accountId, settings, options)),
    token,
    apiRoot,
    mode: webhookUrl === undefined ? "polling" : "webhook",
    webhook: webhookUrl === undefined ? undefined : { url: webhookUrl, secretToken: webhookSecret(token) },
  });
}

async function openDiscord(accountId: string, options: OpenChannelsOptions): Promise<Channel> {
  const settings = options.config.channels.discord[accountId] ?? {};
  const question = { usual: "DISCORD_BOT_TOKEN", name: "discord", accountId, env: options.env } as const;
  const token = await readToken(settings, question);
  const { createDiscordChannel } = await import("./channels/discord/create-discord-channel.ts");
  return createDiscordChannel({
    ...(await commonOptions("discord", accountId, settings, options)),
    token,
    cursorFile: channelLayout(options.home, "discord", accountId).cursorFile,
    api: settings.apiRoot === undefined ? undefined : { rest: settings.apiRoot },
  });
}

async function openWhatsApp(accountId: string, options: OpenChannelsOptions): Promise<Channel> {
  const settings = options.config.channels.whatsapp[accountId] ?? {};
  const { createWhatsAppChannel } = await import("./channels/whatsapp/create-whatsapp-channel.ts");
  return createWhatsAppChannel({
    ...(await commonOptions("whatsapp", accountId, settings, options)),
    authFolder: channelLayout(options.home, "whatsapp", accountId).authFolder,
    makeSocket: options.makeWhatsAppSocket,
  });
}

async function commonOptions(
  channel: ChannelName,
  accountId: string,
  settings: ChannelAccountConfig,
  { home, clock, logger }: OpenChannelsOptions,
): Promise<AccessOptions & { accountId: string; clock: Clock; logger: Logger; mediaFolder: string }> {
  const { createPairingStore } = await import("./channels/pairing-store.ts");
  const store = createPairingStore({ folder: channelsFolder(home), channel, accountId, clock });
  return {
    accountId,
    clock,
    logger,
    mediaFolder: channelLayout(home, channel, accountId).mediaFolder,
    allowFrom: settings.allowFrom,
    pairing: { store, offers: settings.pairing !== false },
  };
}

interface TokenQuestion {
  usual: string;
  name: ChannelName;
  accountId: string;
  env: Environment;
}

async function readToken({ tokenFile, tokenEnv }: TokenConfig, question: TokenQuestion): Promise<string> {
  const { usual, name, accountId, env } = question;
  const variable = tokenEnv ?? usual;
  if (tokenFile !== undefined) {
    const token = (await readTokenFile(tokenFile))?.trim() ?? "";
    if (token !== "") return token;
    throw new HoldfastError("usage", "token-missing", `The token file of ${name} account "${accountId}" has no token`, {
      hint: `Put the token, and nothing else, into ${tokenFile}.`,
      data: { path: tokenFile },
    });
  }
  const token = env[variable]?.trim() ?? "";
  if (token !== "") return token;
  throw new HoldfastError("usage", "token-missing", `There is no token for ${name} account "${accountId}"`, {
    hint: `Set ${variable} for the gateway, or name a file: holdfast config set channels.${name}.${accountId}.tokenFile <path>`,
    data: { variable },
  });
}

async function readTokenFile(path: string): Promise<string | undefined> {
  try {
    return (await readFileIfPresent(path))?.toString("utf8");
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** The same at every start, known to whoever knows the token, and no way back to it. */
function webhookSecret(token: string): string {
  return nodeCrypto().createHmac("sha256", token).update("holdfast webhook").digest("base64url");
}
