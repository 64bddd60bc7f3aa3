/**
 * Builds the gateway: everything that answers messages, and the server in front of it. It listens before
 * channels are connected, and closes in the opposite order: no new turns, running ones end and their
 * answers are sent, then the channels and the clients are let go.
 */
import type { Clock } from "./base/clock.ts";
import { type Logger, createLogger } from "./base/log.ts";
import { webFolder } from "./base/package.ts";
import type { Channel, ChannelStatus } from "./channels/channel.ts";
import { type OpenTurnsOptions, openTurns } from "./compose-turns.ts";
import type { HoldfastConfig } from "./config/config.ts";
import type { Environment } from "./config/layout.ts";
import type { Gateway, GatewayOptions } from "./gateway/start-gateway.ts";

export interface OpenGatewayOptions
  extends Pick<OpenTurnsOptions, "makeWhatsAppSocket">, Pick<GatewayOptions, "onlyOne"> {
  home: string;
  config: HoldfastConfig;
  /** Left out: as configured. 0: any free one. */
  port?: number;
  /** False: no channel besides the gateway's own page. */
  channels: boolean;
  /** Channels that are not configured but given, beside the gateway's own page. */
  besides?: readonly Channel[];
  onChannelStatus?: (channel: string, accountId: string, status: ChannelStatus) => void;
  env?: Environment;
  clock?: Clock;
  logger?: Logger;
}

export interface OpenedGateway extends Pick<Gateway, "url" | "port" | "token"> {
  /** Opens the page and signs in. */
  tokenLink: string;
  close(): Promise<void>;
}

export async function openGateway(options: OpenGatewayOptions): Promise<OpenedGateway> {
  const { port, onlyOne = false, onChannelStatus, besides = [], ...common } = options;
  const logger = options.logger ?? createLogger({ level: options.config.log.level });
  const [{ startGateway }, { createWebChannel }] = await Promise.all([
    import("./gateway/start-gateway.ts"),
    import("./channels/web/web-channel.ts"),
  ]);
  const turns = await openTurns({ ...common, logger, besides: [createWebChannel(), ...besides], execution: "thread" });
  turns.pipeline.events.subscribe((event) => {
    if (event.type === "channel.status") onChannelStatus?.(event.channel, event.accountId, event.status);
  });
  let gateway: Gateway;
  try {
    gateway = await startGateway({
      parts: turns,
      onlyOne,
      ...(port === undefined ? {} : { port }),
      webRoot: webFolder(),
    });
  } catch (error) {
    // Why it cannot start is the news; what then cannot be closed either must not hide it.
    await turns.close().catch((failure: unknown) => logger.warn("not everything was closed", { error: failure }));
    throw error;
  }
  const started = turns.start().catch((error: unknown) => logger.error("the gateway could not go on", { error }));
  return {
    url: gateway.url,
    port: gateway.port,
    token: gateway.token,
    tokenLink: `${gateway.url}/#token=${gateway.token}`,
    close: async () => {
      // A channel may still be connecting; stopping the channels ends that too.
      const ended = turns.close();
      await gateway.close({ until: ended });
      await ended;
      await started;
    },
  };
}
