/**
 * Discord through discord.js, loaded when the channel starts. Discord delivers each message once, without
 * acknowledgement, so every new session fetches missed messages, from the last admitted one on (inbound.ts,
 * cursors.ts). Two gaps remain: the first message of a private chat that began while the bot was offline
 * (bots cannot list private chats), and more than 500 missed messages per channel.
 */
import { HoldfastError, messageWithHint } from "../../base/errors.ts";
import { type AccountOptions, type Channel, type ChannelRun, notConnected, singleRun, pauseAfter } from "../channel.ts";
import { createReceivedFiles } from "../files.ts";
import { type ConnectionEvents, type DiscordConnection, connectDiscord } from "./connection.ts";
import type { Documents } from "../../store/documents.ts";
import { openCursors } from "./cursors.ts";
import { type Inbound, createInbound } from "./inbound.ts";
import { DISCORD_TEXT_LIMIT, createDiscordSender, parseTarget } from "./outbound.ts";

export interface DiscordChannelOptions extends AccountOptions {
  token: string;
  /** For the last message it has read in each Discord channel. */
  documents: Documents;
  /** Discord's REST API, which names the gateway. Default: the real one. */
  api?: { rest: string } | undefined;
  /** Hosts from which files to send may be fetched. Default: public ones. */
  allowsAddress?: ((address: string) => boolean) | undefined;
}

export function createDiscordChannel(options: DiscordChannelOptions): Channel {
  const { accountId, allowsAddress } = options;
  let connected: DiscordConnection | undefined;
  const rest = (): DiscordConnection["rest"] => {
    if (connected === undefined) throw notConnected("Discord");
    return connected.rest;
  };
  const sender = createDiscordSender({ rest, allowsAddress });
  const open = async (run: ChannelRun): Promise<void> => {
    const { documents, logger, token } = options;
    const { host, signal, closing } = run;
    if (token.trim() === "") {
      throw new HoldfastError("usage", "discord-token-missing", "The Discord bot has no token.", {
        hint: "Create a bot at https://discord.com/developers/applications and put its token into the configuration.",
      });
    }
    host.report({ state: "starting", text: "Discord: connecting." });
    const cursors = await openCursors(documents, logger);
    const files = createReceivedFiles(options);
    const inbound = createInbound({ ...options, host, cursors, files, send: sender.send, signal });
    closing.defer(cursors.flush);
    closing.defer(inbound.idle);
    closing.defer(async () => {
      const connection = connected;
      connected = undefined;
      await connection?.close();
    });
    await keepConnecting(options, run, inbound, (ready) => (connected = ready));
  };

  return {
    name: "discord",
    accountId,
    isExclusive: true,
    capabilities: { textLimit: DISCORD_TEXT_LIMIT, media: true, replies: true, buttons: true },
    ...singleRun("Discord", accountId, open),
    send: sender.send,
    checkTarget: (target) => void parseTarget(target),
    showTyping: sender.showTyping,
    edit: sender.edit,
    remove: sender.remove,
  };
}

async function keepConnecting(
  options: DiscordChannelOptions,
  { host, signal }: ChannelRun,
  inbound: Inbound,
  onReady: (connection: DiscordConnection) => void,
): Promise<void> {
  const { token, api, clock, logger } = options;
  let isInterrupted = false;
  const on: ConnectionEvents = {
    sessionBegins: inbound.hold,
    sessionReady: (connection) => {
      isInterrupted = false;
      onReady(connection);
      inbound.open(connection);
      host.report({ state: "connected", text: `Discord: connected as ${connection.bot.username}.` });
    },
    message: inbound.take,
    press: inbound.takePress,
    interrupted: () => {
      // discord.js retries twice a second; report it once.
      if (!isInterrupted) host.report({ state: "retrying", text: "Discord: connection lost, reconnecting." });
      isInterrupted = true;
    },
    resumed: (replayed) => {
      isInterrupted = false;
      host.report({ state: "connected", text: `Discord: connected again, ${replayed} missed events received.` });
    },
    lost: (error) => {
      logger.error("Discord refuses the connection", { error });
      host.report({ state: "failed", text: `Discord: ${messageWithHint(error)}` });
    },
  };
  for (let attempt = 0; ; attempt++) {
    try {
      return void (await connectDiscord({ token: token.trim(), api: api?.rest, logger, signal, on }));
    } catch (error) {
      if (!(error instanceof HoldfastError) || !["unavailable", "timeout"].includes(error.kind)) throw error;
      const pause = pauseAfter(error, attempt);
      logger.warn("cannot reach Discord", { error, retryInMs: pause });
      const text = `${error.message} Trying again in ${Math.ceil(pause / 1000)} s.`;
      host.report({ state: "retrying", text });
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}
