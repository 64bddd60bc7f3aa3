/** A WhatsApp channel on a stand-in of the socket, with everything that it admits and reports. */
import { expect } from "vitest";
import { silentLogger } from "../../../src/base/log.ts";
import type { Channel } from "../../../src/channels/channel.ts";
import { soon } from "../channel-checks.ts";
import { type RememberingHost, createRememberingHost } from "../remembering-host.ts";
import { type TemporaryFolder, temporaryFolder } from "../temp-folder.ts";
import { createTestClock } from "../test-clock.ts";
import { type FakeWhatsApp, createFakeWhatsApp } from "./fake-whatsapp.ts";
import { type WhatsAppChannelOptions, createWhatsAppChannel } from "../../../src/channels/whatsapp/channel.ts";

export const ada = "15551111@s.whatsapp.net";
export const eve = "15552222@s.whatsapp.net";
export const family = "12036300@g.us";

export interface WhatsAppStage extends Pick<RememberingHost, "admitted" | "statuses" | "failures">, AsyncDisposable {
  folder: TemporaryFolder;
  whatsapp: FakeWhatsApp;
  create(options?: Partial<WhatsAppChannelOptions>): { channel: Channel; start: () => Promise<void> };
  /** Connected. */
  start(options?: Partial<WhatsAppChannelOptions>): Promise<Channel>;
}

export async function openWhatsAppStage(): Promise<WhatsAppStage> {
  const folder = await temporaryFolder();
  const whatsapp = await createFakeWhatsApp();
  const channels: Channel[] = [];
  const host = createRememberingHost();
  const stage: WhatsAppStage = {
    admitted: host.admitted,
    statuses: host.statuses,
    failures: host.failures,
    folder,
    whatsapp,
    create: (options = {}) => {
      const channel = createWhatsAppChannel({
        accountId: "default",
        authFolder: folder.join("auth"),
        mediaFolder: folder.join("media"),
        allowFrom: ["+15551111"],
        makeSocket: (config) => whatsapp.makeSocket(config),
        clock: createTestClock(),
        logger: silentLogger,
        ...options,
      });
      channels.push(channel);
      return { channel, start: async () => await channel.start(host) };
    },
    start: async (options) => {
      const before = whatsapp.made;
      const { channel, start } = stage.create(options);
      const started = start();
      await expect.poll(() => whatsapp.made, soon).toBe(before + 1);
      whatsapp.open();
      await started;
      return channel;
    },
    [Symbol.asyncDispose]: async () => {
      for (const channel of channels) await channel.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
  return stage;
}

export function target(to: string): { channel: string; accountId: string; to: string } {
  return { channel: "whatsapp", accountId: "default", to };
}
