/** A Discord channel on a fake Discord, with everything that it admits and reports. */
import { silentLogger } from "../../../src/base/log.ts";
import type { Channel } from "../../../src/channels/channel.ts";
import { type DiscordChannelOptions, createDiscordChannel } from "../../../src/channels/discord/channel.ts";
import { type RememberingHost, createRememberingHost } from "../channel-host.ts";
import { type TemporaryFolder, temporaryFolder } from "../temp-folder.ts";
import { createTestClock } from "../time.ts";
import { type FakeDiscord, startFakeDiscord } from "./fake-discord.ts";
import { fakeUser } from "./objects.ts";
import { createDocumentFiles } from "../../../src/store/document-files.ts";

export const ada = fakeUser("1300000000000000001", "ada", { global_name: "Ada L." });
export const eve = fakeUser("1300000000000000002", "eve");

export interface DiscordHome extends Pick<RememberingHost, "admitted" | "statuses" | "failures">, AsyncDisposable {
  folder: TemporaryFolder;
  discord: FakeDiscord;
  channel(options?: Partial<DiscordChannelOptions>): Channel;
  start(options?: Partial<DiscordChannelOptions>): Promise<Channel>;
}

export async function createDiscordHome(): Promise<DiscordHome> {
  const folder = await temporaryFolder();
  const discord = await startFakeDiscord();
  const channels: Channel[] = [];
  const clock = createTestClock();
  const host = createRememberingHost();
  const home: DiscordHome = {
    admitted: host.admitted,
    statuses: host.statuses,
    failures: host.failures,
    folder,
    discord,
    channel: (options = {}) => {
      const channel = createDiscordChannel({
        accountId: "default",
        token: discord.token,
        allowFrom: [ada.id],
        documents: createDocumentFiles(folder.join("discord")),
        mediaFolder: folder.join("media"),
        api: { rest: discord.url },
        allowsAddress: () => true,
        clock,
        logger: silentLogger,
        ...options,
      });
      channels.push(channel);
      return channel;
    },
    start: async (options) => {
      const channel = home.channel(options);
      await channel.start(host);
      return channel;
    },
    [Symbol.asyncDispose]: async () => {
      for (const channel of channels) await channel.stop();
      await discord[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
  return home;
}

export function target(
  to: string,
  threadId?: string,
): { channel: string; accountId: string; to: string; threadId?: string } {
  return { channel: "discord", accountId: "default", to, ...(threadId === undefined ? {} : { threadId }) };
}
