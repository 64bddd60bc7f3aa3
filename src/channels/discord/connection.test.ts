/** Lost, refused and stopped connections to Discord. */
import { describe, expect, it } from "vitest";
import { failure, neverButAborted, soon, texts } from "../../../test/support/channel-host.ts";
import { ada, createDiscordHome, target } from "../../../test/support/fake-discord/discord-home.ts";
import type { DiscordChannelOptions } from "./channel.ts";

describe("the connection to Discord", () => {
  it("resumes and receives missed messages once", async () => {
    await using home = await createDiscordHome();
    await home.start();
    const { discord } = home;
    discord.gateway.refuseConnections(1);
    discord.gateway.disconnect(4000);
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("retrying");
    discord.say(discord.general.id, "meanwhile", { author: ada });
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("connected");
    await expect.poll(() => texts(home), soon).toEqual(["meanwhile"]);
    expect(discord.gateway.resumed).toBe(1);
    expect(home.statuses.at(-1)?.text).toMatch(/connected again, \d+ missed events/);
    expect(home.statuses.filter(({ state }) => state === "retrying")).toHaveLength(1);
  });

  it("fetches messages missed by a lost session before newer ones", async () => {
    await using home = await createDiscordHome();
    await home.start();
    const { discord } = home;
    discord.gateway.forgetSessions();
    discord.gateway.disconnect(4009);
    discord.say(discord.general.id, "lost by the gateway", { author: ada });
    await expect.poll(() => discord.gateway.identified, { timeout: 15_000, interval: 10 }).toBe(2);
    discord.say(discord.general.id, "live", { author: ada });
    await expect.poll(() => texts(home), soon).toEqual(["lost by the gateway", "live"]);
  });

  it.each<[string, number | undefined, Partial<DiscordChannelOptions>, string, string]>([
    ["a token that is empty", undefined, { token: " " }, "discord-token-missing", "developers/applications"],
    ["a token that REST refuses", undefined, { token: "wrong" }, "discord-token-invalid", "Reset Token"],
    ["a token that the gateway refuses", 4004, {}, "discord-token-invalid", "Reset Token"],
    ["a missing intent", 4014, {}, "discord-intent-missing", "Message Content Intent"],
    ["too many servers", 4011, {}, "discord-gateway-refused", "update Holdfast"],
  ])("fails at start for %s with a hint", async (_, closeCode, options, code, hint) => {
    await using home = await createDiscordHome();
    home.discord.refuseIdentify(closeCode);
    const error = await failure(home.start(options));
    expect(error.code).toBe(code);
    expect(error.hint).toContain(hint);
    expect(home.statuses.at(-1)?.state).toBe("failed");
    expect(home.statuses.at(-1)?.text).toContain(error.message);
    await expect.poll(() => home.discord.gateway.connections, soon).toBe(0);
  });

  it("keeps trying to start while Discord is down", async () => {
    await using home = await createDiscordHome();
    home.discord.refuse(/gateway\/bot/, { status: 503 });
    home.discord.refuse(/gateway\/bot/, { status: 502 });
    await home.start();
    expect(home.statuses.map(({ state }) => state)).toEqual(["starting", "retrying", "retrying", "connected"]);
  });

  it("reports a permanent refusal after connecting", async () => {
    await using home = await createDiscordHome();
    await home.start();
    home.discord.gateway.disconnect(4004);
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("failed");
    expect(home.statuses.at(-1)?.text).toContain("Reset Token");
  });

  it("does not reconnect when stopped during the pause", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    home.discord.gateway.disconnect(4000);
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("retrying");
    await channel.stop();
    // Longer than the library's own pause of half a second.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(home.discord.gateway.connections).toBe(0);
    expect(home.discord.gateway.resumed).toBe(0);
  });

  it("can be stopped while connecting, and started again", async () => {
    await using home = await createDiscordHome();
    for (let count = 0; count < 3; count++) home.discord.refuse(/gateway\/bot/, { status: 503 });
    const channel = home.channel({ clock: { now: () => 0, sleep: neverButAborted } });
    const started = failure(
      channel.start({ admit: async () => {}, report: (status) => void home.statuses.push(status) }),
    );
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("retrying");
    await channel.stop();
    expect((await started).kind).toBe("interrupted");
    const again = await home.start();
    await again.stop();
    expect(home.statuses.at(-1)?.state).toBe("stopped");
    await expect.poll(() => home.discord.gateway.connections, soon).toBe(0);
    expect((await failure(again.send({ target: target("channel:1"), idempotencyKey: "k", text: "x" }))).code).toBe(
      "channel-not-connected",
    );
  });
});
