/**
 * A real bot and a real model, only with credentials (CONTRIBUTING.md). The bot writes to the named chat, so these
 * tests never run on their own.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { openTurns } from "../../src/compose/turns.ts";
import { createTelegramChannel } from "../../src/channels/telegram/channel.ts";

const {
  HOLDFAST_LIVE_TELEGRAM_TOKEN: token,
  HOLDFAST_LIVE_TELEGRAM_CHAT: chat,
  HOLDFAST_LIVE_MODEL: model,
} = process.env;
const A_MINUTE_MS = 60_000;

describe.runIf(token !== undefined && chat !== undefined)(
  "a real bot (HOLDFAST_LIVE_TELEGRAM_TOKEN, HOLDFAST_LIVE_TELEGRAM_CHAT)",
  () => {
    it("connects and sends a message to the chat", { timeout: A_MINUTE_MS }, async () => {
      const common = { accountId: "live", mode: "polling", clock: systemClock, logger: silentLogger } as const;
      const channel = createTelegramChannel({
        ...common,
        token: token ?? "",
        allowFrom: ["*"],
        mediaFolder: "/dev/null/media",
      });
      const states: string[] = [];
      await channel.start({
        // Unanswered updates stay unconfirmed for the bot's owner.
        admit: async () => await Promise.reject(new Error("a test takes no messages")),
        report: ({ state }) => void states.push(state),
      });
      const target = { channel: "telegram", accountId: "live", to: `telegram:${chat}` };
      const sent = await channel.send({ target, idempotencyKey: "live", text: "Holdfast's live test was here." });
      await channel.stop();
      expect(states).toContain("connected");
      expect(sent.messageId).toMatch(/^\d+$/);
    });
  },
);

describe.runIf(model !== undefined)("a real model (HOLDFAST_LIVE_MODEL and the key of its provider)", () => {
  it("lists the files of the workspace with a tool and reports them", { timeout: 3 * A_MINUTE_MS }, async () => {
    await using folder = await temporaryFolder();
    const { workspace } = agentLayout(folder.path, "main");
    await mkdir(workspace, { recursive: true });
    await writeFile(join(workspace, "heron-sightings.txt"), "none yet");
    const config = { ...DEFAULT_CONFIG, agents: { main: { engine: "model" as const, model: model ?? "" } } };
    const turns = await openTurns({ home: folder.path, config, channels: false });
    try {
      const ctx = { Body: "Which files are in your workspace? Use your tool and name them.", CommandAuthorized: true };
      const address = { channel: "test", accountId: "default", chatId: "live", messageId: "1" };
      const { ended } = await turns.pipeline.admit({ address, ctx, receivedAt: Date.now(), deliver: false });
      expect(await ended).toMatchObject({
        outcome: "answered",
        text: expect.stringContaining("heron-sightings.txt") as string,
      });
    } finally {
      await turns.close();
    }
  });
});
