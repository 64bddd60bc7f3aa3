/** Two gateways on one home with the same Telegram account answer everything once. */
import { mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Message } from "grammy/types";
import { expect, it } from "vitest";
import { startGatewayChild } from "../crash/gateway-rounds.ts";
import { hastyClock } from "../support/fake-telegram/telegram-home.ts";
import { ADA, BOB, message } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { until } from "../support/time.ts";
import { createRandom } from "../../src/selftest/operations.ts";

const CHATS = [2001, 2002, 2003];

/** Numbered, some of each person, in the order in which they were written. */
function letters(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => {
    const id = CHATS[index % CHATS.length] ?? 0;
    return message({ text: `letter ${index}.`, from: { id, is_bot: false, first_name: `P${id}` } });
  });
}

async function answeredOnce(home: ChatHome, sent: readonly Message[]): Promise<void> {
  const answers = (): string[] => CHATS.flatMap((chat) => home.texts(chat));
  const countOf = (text: string): number => answers().filter((answer) => answer.endsWith(text)).length;
  await until(
    () => sent.every(({ text = "" }) => countOf(text) > 0),
    () => `answers to all; there was ${answers().join()}`,
  );
  // A duplicate would arrive right after the first.
  await until(async () => (await (await home.agent()).store.outbox.due(Date.now() + 1e9, 10)).length === 0, "all sent");
  for (const { text = "" } of sent) expect({ text, times: countOf(text) }).toEqual({ text, times: 1 });
  for (const chat of CHATS) {
    const lines = await home.transcript(`agent:main:telegram:dm:${chat}`);
    const own = sent.filter(({ from }) => from?.id === chat);
    expect(lines).toHaveLength(own.length * 2);
    expect(new Set(lines.filter((line) => line.startsWith("user"))).size).toBe(own.length);
  }
}

it("duplicate and reordered updates at both webhooks become one turn each", async () => {
  const webhookUrl = "https://agent.example.org/webhooks/telegram/default";
  await using home = await createChatHome({ account: { webhookUrl } });
  const gateways = [home.gateway, await home.start()];
  const secret = home.telegram.webhook?.secretToken ?? "";
  const sent = letters(24);
  const random = createRandom(4, "webhooks");
  const updates = sent.map((body, index) => ({ update_id: index + 1, message: body }));
  const calls = [...gateways, ...gateways].flatMap(({ url }) =>
    updates.map((update) => ({ url, update, at: random.whole(0, 1e6) })),
  );
  const statuses = await Promise.all(
    calls
      .toSorted((a, b) => a.at - b.at)
      .map(async ({ url, update }) => {
        const headers = { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret };
        const body = JSON.stringify(update);
        return (await fetch(`${url}/webhooks/telegram/default`, { method: "POST", headers, body })).status;
      }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  await answeredOnce(home, sent);
});

it("one of two gateways polls an account, and the other takes over when it stops", async () => {
  await using home = await createChatHome({ gateway: { clock: hastyClock } });
  const first = home.gateway;
  await home.start({ connected: false });
  await until(() => home.statuses.at(-1) === "telegram stopped", "the second gateway to wait");
  const text = `another gateway is connected (${hostname()}, process ${process.pid})`;
  expect(await home.rpc("channels.status", {})).toMatchObject({
    channels: expect.arrayContaining([
      expect.objectContaining({ channel: "telegram", status: { state: "stopped", text } }),
    ]) as unknown,
  });
  const { telegram } = home;
  const sent = letters(24);
  for (const [index, letter] of sent.entries()) {
    const update = telegram.deliver(letter);
    telegram.updates.repeat([update]);
    if (index === 12) await first.close();
  }
  await answeredOnce(home, sent);
  expect(home.statuses).not.toContain("telegram retrying");
  for (const chat of CHATS) {
    const order = home.texts(chat).map((text) => Number(/letter (\d+)\./.exec(text)?.[1]));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
});

it("one process continues when the other is killed, and accepts commands for its turns", async () => {
  await using home = await createChatHome({ started: false, gateway: { clock: hastyClock } });
  const { telegram } = home;
  await mkdir(home.home, { mode: 0o700 });
  const account = { apiRoot: telegram.url, allowFrom: ["*"] };
  await writeFile(join(home.home, "config.json"), JSON.stringify({ channels: { telegram: { default: account } } }));
  const { child, ended } = await startGatewayChild({ home: home.home }, telegram);
  telegram.say("hang");
  telegram.say("sleep:30000\nunfinished", { from: BOB });
  const isBegun = async (id: number): Promise<boolean> =>
    (await home.transcript(`agent:main:telegram:dm:${id}`).catch(() => [])).length === 1;
  await until(async () => (await isBegun(ADA.id)) && (await isBegun(BOB.id)), "both turns");

  await home.start({ connected: false });
  const sessionKey = `agent:main:telegram:dm:${ADA.id}`;
  expect(await home.rpc("agent", { message: "/stop", sessionKey })).toMatchObject({
    result: { payloads: [{ text: "Stopped." }] },
  });
  child.kill("SIGKILL");
  await ended;
  await home.hears(BOB.id, "unfinished");
  expect(home.texts(BOB.id)).toHaveLength(1);
  expect(await home.transcript(`agent:main:telegram:dm:${BOB.id}`)).toHaveLength(2);
});
