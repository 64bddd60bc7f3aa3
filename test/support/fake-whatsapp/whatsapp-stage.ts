/** A WhatsApp channel on a stand-in of the socket, with everything that it admits and reports. */
import { expect } from "vitest";
import { silentLogger } from "../../../src/base/log.ts";
import type { Channel, ChannelStatus, InboundMessage } from "../../../src/channels/channel.ts";
import {
  type WhatsAppChannelOptions,
  createWhatsAppChannel,
} from "../../../src/channels/whatsapp/create-whatsapp-channel.ts";
import { soon } from "../channel-checks.ts";
import { type TemporaryFolder, temporaryFolder } from "../temp-folder.ts";
import { createTestClock } from "../test-clock.ts";
import { type FakeWhatsApp, createFakeWhatsApp } from "./fake-whatsapp.ts";

export const ada = "15551111@s.whatsapp.net";
export const eve = "15552222@s.whatsapp.net";
export const family = "12036300@g.us";

export interface WhatsAppStage extends AsyncDisposable {
  folder: TemporaryFolder;
  whatsapp: FakeWhatsApp;
  admitted: InboundMessage[];
  statuses: ChannelStatus[];
  /** Thrown by the next admissions. */
  failures: Error[];
  create(options?: Partial<WhatsAppChannelOptions>): { channel: Channel; start: () => Promise<void> };
  /** Connected. */
  start(options?: Partial<WhatsAppChannelOptions>): Promise<Channel>;
}

export async function openWhatsAppStage(): Promise<WhatsAppStage> {
  const folder = await temporaryFolder();
  const whatsapp = await createFakeWhatsApp();
  const channels: Channel[] = [];
  const stage: WhatsAppStage = {
    folder,
    whatsapp,
    admitted: [],
    statuses: [],
    failures: [],
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
      return {
        channel,
        start: async () =>
          await channel.start({
            admit: async (message) => {
              const failure = stage.failures.shift();
              if (failure !== undefined) throw failure;
              stage.admitted.push(message);
            },
            report: (status) => void stage.statuses.push(status),
          }),
      };
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
