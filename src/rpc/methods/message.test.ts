/** `message.send`, over a real gateway on a real store. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../../test/support/gateway-home.ts";
import { caller, connect, KEY } from "../../../test/support/gateway-requests.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { withSessionLease } from "../../session/lease.ts";
import { createTelegramChannel } from "../../channels/telegram/channel.ts";

describe("message.send", () => {
  const MESSAGE = { channel: "telegram", to: "telegram:7", message: "the build is green", idempotencyKey: "m1" };

  it("fills outbox and transcript once, also when it is repeated", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const first = await call("message.send", MESSAGE);
    expect(first).toMatchObject({ ok: true, sessionKey: KEY, state: "pending", mirrored: true });
    expect(await call("message.send", MESSAGE)).toEqual(first);
    const { messages } = await call("chat.history", { sessionKey: KEY });
    expect(messages).toMatchObject([{ role: "assistant", model: "delivery-mirror" }]);
    const due = await home.agent.store.outbox.due(Date.now(), 10);
    expect(due).toMatchObject([{ key: KEY, target: { channel: "telegram", accountId: "default", to: "telegram:7" } }]);
  });

  it("completes the transcript if the first attempt died after the outbox", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await call("message.send", { ...MESSAGE, idempotencyKey: "m0" });
    const draft = {
      idempotencyKey: "message:m1",
      payload: {},
      target: { channel: "telegram", accountId: "default", to: "telegram:7" },
    };
    await home.agent.store.outbox.enqueue(KEY, [draft]);
    await call("message.send", MESSAGE);
    expect((await call("chat.history", { sessionKey: KEY })).messages).toHaveLength(2);
    expect(await home.agent.store.outbox.due(Date.now(), 10)).toHaveLength(2);
  });

  it("does not wait for a busy session, and informs the agent later", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await call("message.send", { ...MESSAGE, idempotencyKey: "m0" });
    await withSessionLease(home.agent, KEY, {}, async () => {
      const media = ["https://example.org/log.txt"];
      expect(await call("message.send", { ...MESSAGE, media })).toMatchObject({ ok: true, mirrored: false });
    });
    const { systemEvents } = (await home.parts.agents.open("main")).agent.store;
    const { events } = await systemEvents.drainSystemEvents(KEY, { id: "t1", epoch: 1 });
    expect(events.map(({ text }) => text)).toEqual([expect.stringContaining("the build is green\nlog.txt")]);
  });

  it("finds the existing session of a chat for every spelling", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const group = { channel: "telegram", message: "hi" };
    const made = await call("message.send", { ...group, to: "telegram:group:-100", idempotencyKey: "a" });
    expect(made.sessionKey).toBe("agent:main:telegram:group:-100");
    expect((await call("message.send", { ...group, to: "-100", idempotencyKey: "b" })).sessionKey).toBe(
      made.sessionKey,
    );
    const topic = await call("message.send", { ...group, to: "-100", threadId: 4, idempotencyKey: "c" });
    expect(topic.sessionKey).not.toBe(made.sessionKey);
  });

  it("attaches the owner's files, and refuses missing ones", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const path = join(home.home, "chart.png");
    await writeFile(path, "png");
    const media = { channel: "telegram", to: "telegram:7" };
    await call("message.send", { ...media, media: [path, "https://example.org/a.png"], idempotencyKey: "f1" });
    const [item] = await home.agent.store.outbox.due(Date.now(), 10);
    expect(item?.payload).toMatchObject({ mediaUrls: [path.slice(1), "https://example.org/a.png"] });
    expect((await call("chat.history", { sessionKey: KEY })).messages).toMatchObject([
      { content: [{ text: "chart.png, a.png" }] },
    ]);
    await call("message.send", { ...media, message: "Sales of May", media: [path], idempotencyKey: "f2" });
    expect((await call("chat.history", { sessionKey: KEY })).messages).toMatchObject([
      {},
      { content: [{ text: "Sales of May\nchart.png" }] },
    ]);
    for (const wrong of [join(home.home, "none.png"), "chart.png", "file:///etc/passwd", home.home]) {
      await expect(call("message.send", { ...media, media: [wrong], idempotencyKey: wrong })).rejects.toMatchObject({
        code: expect.stringMatching(/^media-/) as string,
      });
    }
    expect(await home.agent.store.outbox.due(Date.now(), 10)).toHaveLength(2);
  });

  it("attaches only files of the agent's workspace for a connection with write", async () => {
    await using home = await createGatewayHome();
    const { workspace } = home.agent;
    const secret = join(home.home, "gateway.token");
    await mkdir(join(workspace, "out"), { recursive: true });
    await mkdir(`${workspace}-2`);
    await writeFile(join(workspace, "out", "chart.png"), "png");
    await writeFile(join(`${workspace}-2`, "chart.png"), "png");
    await symlink(secret, join(workspace, "link.png"));
    await symlink(home.home, join(workspace, "home"));
    const writer = await connect(home, "write");
    const send = async (media: string): Promise<unknown> =>
      await writer.call("message.send", { ...MESSAGE, media: [media], idempotencyKey: media });

    for (const wrong of [
      secret,
      "/etc/passwd",
      join(`${workspace}-2`, "chart.png"),
      `${workspace}/../../../gateway.token`,
      `${workspace}/out/../../../../gateway.token`,
      join(workspace, "link.png"),
      join(workspace, "home", "gateway.token"),
      "../../../gateway.token",
      `file://${secret}`,
      `file://${workspace}/../../../gateway.token`,
      workspace,
    ]) {
      await expect(send(wrong), wrong).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:permission-missing|media-)/) as string,
      });
    }
    expect(await home.agent.store.outbox.due(Date.now(), 10)).toEqual([]);
    await send(join(workspace, "out", "chart.png"));
    const [item] = await home.agent.store.outbox.due(Date.now(), 10);
    expect(item?.payload).toMatchObject({ mediaUrls: ["out/chart.png"] });
    writer.close();
  });

  it("reaches a session of the page", async () => {
    await using home = await createGatewayHome();
    const sent = await caller(home).call("message.send", {
      channel: "web",
      to: "main",
      message: "hi",
      idempotencyKey: "w",
    });
    expect(sent).toMatchObject({ sessionKey: "agent:main:main", mirrored: true });
  });

  it("refuses an impossible chat, without creating a session", async () => {
    const telegram = createTelegramChannel({
      accountId: "default",
      token: "1:test",
      mediaFolder: "/dev/null/media",
      mode: "polling",
      allowFrom: ["*"],
      clock: systemClock,
      logger: silentLogger,
    });
    await using home = await createGatewayHome({ telegram });
    const { call } = caller(home);
    await expect(call("message.send", { ...MESSAGE, to: "abc def" })).rejects.toMatchObject({
      kind: "usage",
      code: "telegram-target-invalid",
      hint: expect.stringContaining("chat id") as string,
    });
    expect((await call("sessions.list", {})).total).toBe(0);
    expect(await home.agent.store.outbox.routes()).toEqual([]);
    expect(await call("message.send", MESSAGE)).toMatchObject({ state: "pending", mirrored: true });
  });

  it("refuses an unknown channel, an empty message, and a session with sending turned off", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await expect(call("message.send", { ...MESSAGE, channel: "telegran" })).rejects.toMatchObject({
      code: "channel-not-found",
      hint: "Did you mean telegram?",
    });
    await expect(call("message.send", { ...MESSAGE, message: " " })).rejects.toMatchObject({ kind: "usage" });
    await call("message.send", MESSAGE);
    await call("sessions.patch", { key: KEY, sendPolicy: "deny" });
    await expect(call("message.send", { ...MESSAGE, idempotencyKey: "m2" })).rejects.toMatchObject({
      code: "send-denied",
    });
  });
});
