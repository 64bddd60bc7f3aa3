/** The fake keeps Telegram's rules, seen through the real client library. */
import { Api, InputFile } from "grammy/web";
import { describe, expect, it } from "vitest";
import { type FakeTelegram, rateLimited, startFakeTelegram } from "./fake-telegram.ts";

function clientOf(telegram: FakeTelegram): Api {
  return new Api(telegram.token, { apiRoot: telegram.url });
}

const idsOf = (updates: readonly { update_id: number }[]): number[] => updates.map(({ update_id: id }) => id);

describe("the fake Telegram", () => {
  it("keeps updates until a higher offset is requested", async () => {
    await using telegram = await startFakeTelegram();
    const api = clientOf(telegram);
    const [first, second] = [telegram.say("a"), telegram.say("b")];
    expect(await api.getUpdates()).toEqual([first, second]);
    expect(await api.getUpdates({ limit: 1 })).toEqual([first]);
    expect(await api.getUpdates({ offset: second.update_id })).toEqual([second]);
    expect(await api.getUpdates({ offset: 0 })).toEqual([second]);
    expect(await api.getUpdates({ offset: second.update_id + 1 })).toEqual([]);
  });

  it("answers a long poll when something arrives", async () => {
    await using telegram = await startFakeTelegram();
    const polled = clientOf(telegram).getUpdates({ timeout: 20 });
    await telegram.waitFor(({ method }) => method === "getUpdates");
    const update = telegram.say("late");
    expect(await polled).toEqual([update]);
  });

  it("serves one poller at a time", async () => {
    await using telegram = await startFakeTelegram();
    const api = clientOf(telegram);
    const first = api.getUpdates({ timeout: 20 }).catch((error: unknown) => error);
    await telegram.waitFor(({ method }) => method === "getUpdates");
    expect(await api.getUpdates({ timeout: 0 })).toEqual([]);
    expect(await first).toMatchObject({ error_code: 409 });
  });

  it("repeats and reorders updates on demand, even confirmed ones", async () => {
    await using telegram = await startFakeTelegram();
    const api = clientOf(telegram);
    const [first, second] = [telegram.say("a"), telegram.say("b")];
    const offset = second.update_id + 1;
    await api.getUpdates({ offset });
    telegram.updates.repeat([second, first, second]);
    expect(idsOf(await api.getUpdates({ offset }))).toEqual(idsOf([second, first, second]));
    expect(await api.getUpdates({ offset })).toEqual([]);
  });

  it("accepts files, and fails as planned, with or without an effect", async () => {
    await using telegram = await startFakeTelegram();
    const api = clientOf(telegram);
    await api.sendDocument(5, new InputFile(Buffer.from("bytes"), "a.txt"), { caption: "here" });
    expect(telegram.sent[0]).toMatchObject({ method: "sendDocument", params: { chat_id: 5, caption: "here" } });
    expect(telegram.sent[0]?.files["document"]).toEqual({ name: "a.txt", bytes: Buffer.from("bytes") });

    telegram.fail("sendMessage", rateLimited(3), "hang-up", "hang-up-after");
    await expect(api.sendMessage(5, "x")).rejects.toMatchObject({ error_code: 429, parameters: { retry_after: 3 } });
    await expect(api.sendMessage(5, "lost")).rejects.toThrow("Network request");
    await expect(api.sendMessage(5, "arrived")).rejects.toThrow("Network request");
    expect(telegram.sent.map(({ params }) => params["text"])).toEqual([undefined, "arrived"]);
  });

  it("refuses another token", async () => {
    await using telegram = await startFakeTelegram();
    await expect(new Api("1:wrong", { apiRoot: telegram.url }).getMe()).rejects.toMatchObject({ error_code: 401 });
  });
});
