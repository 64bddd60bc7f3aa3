import { setTimeout as delay } from "node:timers/promises";
import type { Update } from "grammy/types";
import { describe, expect, it } from "vitest";
import { type TelegramHome, createTelegramHome } from "../../../test/support/fake-telegram/telegram-home.ts";
import { message } from "../../../test/support/fake-telegram/updates.ts";
import type { TelegramChannel } from "./channel.ts";

const webhook = { url: "https://agent.example.org/telegram", secretToken: "correct-horse" };

async function startWebhook(home: TelegramHome): Promise<TelegramChannel> {
  const channel = home.open({ mode: "webhook", webhook });
  await channel.start(home.host);
  return channel;
}

function requestFor(text: string): { secretToken: string; body: string } {
  const update: Update = { update_id: 1, message: message({ text }) as NonNullable<Update["message"]> };
  return { secretToken: webhook.secretToken, body: JSON.stringify(update) };
}

describe("the webhook", () => {
  it("is announced to Telegram with its secret and answers 200 only after admission", async () => {
    await using home = await createTelegramHome();
    const channel = await startWebhook(home);
    expect(home.telegram.webhook).toEqual(webhook);
    const admission = Promise.withResolvers<void>();
    home.host.before = async () => await admission.promise;
    const answer = channel.handleWebhook(requestFor("hello"));
    expect(await Promise.race([answer, delay(50, "no answer yet")])).toBe("no answer yet");
    admission.resolve();
    expect(await answer).toEqual({ status: 200 });
    expect(home.host.admitted[0]?.ctx.Body).toBe("hello");
  });

  it.each([undefined, "", "correct-hors", "correct-horsE", "correct-horse "])(
    "refuses the secret %j before anything else",
    async (secretToken) => {
      await using home = await createTelegramHome();
      const channel = await startWebhook(home);
      expect(await channel.handleWebhook({ ...requestFor("x"), secretToken })).toEqual({ status: 401 });
      expect(home.host.admitted).toEqual([]);
    },
  );

  it("asks Telegram to resend a message that could not be stored", async () => {
    await using home = await createTelegramHome();
    const channel = await startWebhook(home);
    let refusals = 1;
    home.host.before = () => {
      if (refusals-- > 0) throw new Error("store is locked");
    };
    const request = requestFor("hello");
    expect(await channel.handleWebhook(request)).toEqual({ status: 503 });
    expect(await channel.handleWebhook(request)).toEqual({ status: 200 });
  });

  it.each(["", "{", "[]", "{}", '{"update_id":"1"}'])("refuses %j", async (body) => {
    await using home = await createTelegramHome();
    const channel = await startWebhook(home);
    expect(await channel.handleWebhook({ ...requestFor("x"), body })).toEqual({ status: 400 });
  });

  it("confirms ignored updates, and accepts nothing when stopped", async () => {
    await using home = await createTelegramHome();
    const channel = await startWebhook(home);
    const edited = JSON.stringify({ update_id: 3, edited_message: message({ text: "x" }) });
    expect(await channel.handleWebhook({ ...requestFor(""), body: edited })).toEqual({ status: 200 });
    await channel.stop();
    expect(await channel.handleWebhook(requestFor("late"))).toEqual({ status: 503 });
    expect(home.host.admitted).toEqual([]);
  });

  it("accepts nothing while polling", async () => {
    await using home = await createTelegramHome();
    const channel = home.open();
    await channel.start(home.host);
    expect(await channel.handleWebhook({ ...requestFor("x"), secretToken: "" })).toEqual({ status: 503 });
  });

  it("explains which addresses Telegram accepts", async () => {
    await using home = await createTelegramHome();
    home.telegram.fail("setWebhook", {
      error_code: 400,
      description: "Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
    });
    await expect(home.open({ mode: "webhook", webhook }).start(home.host)).rejects.toMatchObject({
      kind: "usage",
      code: "telegram-webhook-refused",
      message: expect.stringContaining("An HTTPS URL must be provided"),
    });
  });
});
