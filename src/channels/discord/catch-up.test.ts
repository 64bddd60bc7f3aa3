/** Messages missed while the bot was offline. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { failure, neverButAborted, soon, texts } from "../../../test/support/channel-host.ts";
import { ada, createDiscordHome } from "../../../test/support/fake-discord/discord-home.ts";
import { createDocumentFiles } from "../../store/document-files.ts";

describe("messages missed while offline", () => {
  it("are fetched from every channel with new ones, in order, without older ones", async () => {
    await using home = await createDiscordHome();
    const { discord } = home;
    const { general } = discord;
    discord.say(general.id, "before the bot came", { author: ada });
    const quiet = discord.addChannel("quiet");
    const chat = discord.openPrivateChat(ada);
    const first = await home.start();
    discord.say(general.id, "one", { author: ada });
    discord.say(chat.id, "private one", { author: ada });
    await expect.poll(() => home.admitted.length, soon).toBe(2);
    await first.stop();
    home.admitted.length = 0;

    for (let number = 2; number <= 250; number++) discord.say(general.id, String(number), { author: ada });
    discord.say(chat.id, "private two", { author: ada });
    const fresh = discord.addChannel("fresh");
    discord.say(fresh.id, "a new channel", { author: ada });
    const requestsBefore = discord.requests.length;
    await home.start();
    discord.say(general.id, "251", { author: ada });
    await expect.poll(() => home.admitted.length, soon).toBe(252);
    const inGeneral = home.admitted.filter(({ address }) => address.chatId === general.id);
    expect(inGeneral.map(({ ctx }) => ctx.Body)).toEqual(Array.from({ length: 250 }, (_, index) => String(index + 2)));
    expect(inGeneral[0]?.ctx).toMatchObject({ ChatType: "channel", GroupChannel: "#general" });
    expect(texts(home)).toContain("private two");
    expect(texts(home)).toContain("a new channel");
    expect(home.admitted.find(({ ctx }) => ctx.Body === "private two")?.ctx.ChatType).toBe("direct");
    const asked = discord.requests.slice(requestsBefore).map(({ route }) => route);
    expect(asked.filter((route) => route.includes(quiet.id))).toEqual([]);
  });

  it("are fetched again after a rate limit, but not from channels the bot can no longer read", async () => {
    await using home = await createDiscordHome();
    const { discord } = home;
    const other = discord.addChannel("other");
    await (await home.start()).stop();
    discord.say(discord.general.id, "hello", { author: ada });
    discord.say(other.id, "secret", { author: ada });
    discord.refuse(new RegExp(`GET /channels/${discord.general.id}/messages`), {
      status: 429,
      headers: { "retry-after": "2", "x-ratelimit-scope": "user" },
      body: { message: "You are being rate limited.", retry_after: 2, global: false },
    });
    discord.refuse(new RegExp(`GET /channels/${other.id}/messages`), {
      status: 403,
      body: { code: 50_001, message: "Missing Access" },
    });
    await home.start();
    await expect.poll(() => texts(home), soon).toEqual(["hello"]);
  });

  it("are limited, with a report", async () => {
    await using home = await createDiscordHome();
    const { discord } = home;
    await (await home.start()).stop();
    for (let number = 1; number <= 510; number++) discord.say(discord.general.id, String(number), { author: ada });
    await home.start();
    await expect.poll(() => home.statuses.map(({ text }) => text).join("\n"), soon).toContain("More than 500 messages");
    expect(home.admitted).toHaveLength(500);
  });

  it("are admitted at the next start if the store failed before the stop", async () => {
    await using home = await createDiscordHome();
    const { discord } = home;
    const hanging = home.channel({ clock: { now: () => 0, sleep: neverButAborted } });
    await hanging.start({
      admit: async () => {
        throw new Error("no room");
      },
      report: (status) => void home.statuses.push(status),
    });
    discord.say(discord.general.id, "keep me", { author: ada });
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("retrying");
    await hanging.stop();
    await home.start();
    await expect.poll(() => texts(home), soon).toEqual(["keep me"]);
  });

  it("are not skipped because of an unreadable cursor file: start fails", async () => {
    await using home = await createDiscordHome();
    const cursorFile = home.folder.join("cursors.json");
    await writeFile(cursorFile, "{");
    const error = await failure(home.start({ documents: createDocumentFiles(home.folder.path) }));
    expect(error.code).toBe("discord-cursors-unreadable");
    expect(error.hint).toContain("Move it away");
    expect(home.statuses.at(-1)?.state).toBe("failed");
  });
});
