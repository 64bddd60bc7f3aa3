import { describe, expect, it, vi } from "vitest";
import { SERVER_ERROR, UNAUTHORIZED, rateLimited } from "../../../test/support/fake-telegram/fake-telegram.ts";
import { createTelegramHome } from "../../../test/support/fake-telegram/telegram-home.ts";
import { ADA, BOB, message } from "../../../test/support/fake-telegram/updates.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { systemClock } from "../../base/clock.ts";
import type { InboundMessage } from "../channel.ts";
import { createPairingStore } from "../access.ts";
import { createDocumentFiles } from "../../store/document-files.ts";

const bodies = (admitted: readonly InboundMessage[]): unknown[] => admitted.map(({ ctx }) => ctx.Body);

async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 10_000, interval: 10 });
}

describe("polling", () => {
  it("confirms messages only after admission", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    let release: (() => void) | undefined;
    host.before = async () => await new Promise<void>((resolve) => (release = resolve));
    await home.open().start(host);
    const update = telegram.say("hello");
    await eventually(() => expect(release).toBeDefined());
    // No request confirms the update during admission.
    expect(telegram.updates.pending).toEqual([update]);
    expect(telegram.updates.offset).toBe(0);
    release?.();
    await eventually(() => expect(telegram.updates.offset).toBe(update.update_id + 1));
    expect(host.admitted).toMatchObject([
      {
        address: { channel: "telegram", accountId: "default", chatId: "1001", messageId: expect.any(String) },
        ctx: { Body: "hello", From: "telegram:1001", CommandAuthorized: true },
      },
    ]);
    expect(host.statuses.at(-1)).toEqual({
      state: "connected",
      text: "Telegram account default is connected as @holdfast_bot",
    });
  });

  it("retries a failed update, keeps the order of its chat and does not block others", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    let refusals = 2;
    host.before = ({ ctx }) => {
      if (ctx.Body === "one" && refusals-- > 0) throw new Error("disk full");
    };
    const first = telegram.say("one");
    telegram.say("two");
    const last = telegram.say("other", { from: BOB });
    await home.open().start(host);
    await eventually(() => expect(telegram.updates.offset).toBe(last.update_id + 1));
    expect(bodies(host.admitted)).toEqual(["other", "one", "two"]);
    expect(host.statuses.map(({ state }) => state)).toEqual([
      "starting",
      "connected",
      "retrying",
      "retrying",
      "connected",
    ]);
    expect(host.statuses[2]?.text).toContain("disk full");
    const offsets = telegram.calls
      .filter(({ method }) => method === "getUpdates")
      .map(({ params }) => params["offset"]);
    expect(offsets.slice(0, 3)).toEqual([0, first.update_id, first.update_id]);
  });

  it("a press of a button keeps the order of its chat and does not block others", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    const channel = home.open();
    await channel.start(host);
    const target = { channel: "telegram", accountId: "default", to: String(ADA.id) };
    await channel.send({ target, text: "Which?", idempotencyKey: "a" });
    await channel.send({ target: { ...target, to: String(BOB.id) }, text: "Which?", idempotencyKey: "b" });
    const [toAda, toBob] = telegram.sent;
    const isRefused = { now: true };
    host.before = ({ ctx }) => {
      if (isRefused.now && ctx.SenderId === String(ADA.id)) throw new Error("disk full");
    };
    telegram.press(toAda as never, "/one");
    telegram.press(toBob as never, "/two", BOB);
    telegram.say("and then");
    await eventually(() => expect(bodies(host.admitted)).toEqual(["/two"]));
    isRefused.now = false;
    await eventually(() => expect(bodies(host.admitted)).toEqual(["/two", "/one", "and then"]));
  });

  it("leaves unfinished updates of a killed process to the next one", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    const first = home.open();
    // Its admissions never end.
    let reached = false;
    await first.start({
      admit: async () => {
        reached = true;
        throw new Error("killed");
      },
      report: () => undefined,
    });
    const update = telegram.say("important");
    await eventually(() => expect(reached).toBe(true));
    await first.stop();
    expect(telegram.updates.pending).toEqual([update]);
    await home.open().start(host);
    await eventually(() => expect(telegram.updates.pending).toEqual([]));
    expect(bodies(host.admitted)).toEqual(["important"]);
  });

  it("gives duplicates one address, and sorts updates", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    const updates = ["a", "b", "c"].map((text) => telegram.say(text));
    telegram.updates.repeat(updates.toReversed());
    await home.open().start(host);
    await eventually(() => expect(telegram.updates.pending).toEqual([]));
    expect(bodies(host.admitted)).toEqual(["a", "b", "c"]);
    telegram.updates.repeat(updates.slice(0, 1));
    await eventually(() => expect(host.admitted).toHaveLength(4));
    expect(host.admitted[3]?.address).toEqual(host.admitted[0]?.address);
  });

  it("waits in stop for pending admissions and confirms them", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    let release: (() => void) | undefined;
    host.before = async () => await new Promise<void>((resolve) => (release = resolve));
    const channel = home.open();
    await channel.start(host);
    telegram.say("last words");
    await eventually(() => expect(release).toBeDefined());
    let hasStopped = false;
    const stopped = channel.stop().then(() => (hasStopped = true));
    await Promise.resolve();
    expect(hasStopped).toBe(false);
    release?.();
    await stopped;
    expect(bodies(host.admitted)).toEqual(["last words"]);
    expect(telegram.updates.pending).toEqual([]);
    expect(host.statuses.at(-1)?.state).toBe("stopped");
  });

  it("survives hang-ups, server errors and rate limits, and reports them", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    telegram.fail("getUpdates", "hang-up", SERVER_ERROR, rateLimited(3));
    await home.open().start(host);
    telegram.say("still here");
    await eventually(() => expect(bodies(host.admitted)).toEqual(["still here"]));
    const retries = host.statuses.filter(({ state }) => state === "retrying").map(({ text }) => text);
    expect(retries).toHaveLength(3);
    expect(retries[0]).toContain("no answer from Telegram");
    expect(retries[2]).toContain("retry after 3");
  });

  it("reports that another program polls with the same token, and continues", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    await home.open().start(host);
    await telegram.waitFor(({ method }) => method === "getUpdates");
    const second = home.open({ accountId: "second" });
    await second.start(host);
    await eventually(() => expect(host.statuses.some(({ text }) => text.includes("Another program"))).toBe(true));
    telegram.say("who gets it?");
    await eventually(() => expect(bodies(host.admitted)).toContain("who gets it?"));
  });

  it("reports a webhook set by another program", async () => {
    await using home = await createTelegramHome();
    home.telegram.fail("getUpdates", {
      error_code: 409,
      description: "Conflict: can't use getUpdates method while webhook is active",
    });
    await home.open().start(home.host);
    await eventually(() => expect(home.host.statuses.at(-1)).toMatchObject({ state: "connected" }));
    await eventually(() => expect(home.host.statuses.some(({ text }) => text.includes("webhook"))).toBe(true));
  });

  it("removes an old webhook", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    await home.open({ mode: "webhook", webhook: { url: "https://example.org/hook", secretToken: "s" } }).start(host);
    expect(telegram.webhook).toEqual({ url: "https://example.org/hook", secretToken: "s" });
    await home.open().start(host);
    telegram.say("hello");
    await eventually(() => expect(bodies(host.admitted)).toEqual(["hello"]));
  });
});

describe("starting", () => {
  it.each(["987654321:AAF-another-token-with-thirty-five-c", "no token at all", ""])(
    "refuses the token %j with a way out",
    async (token) => {
      await using home = await createTelegramHome();
      const error: unknown = await home
        .open({ token })
        .start(home.host)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ kind: "usage", code: "telegram-token-refused" });
      expect(error).toHaveProperty("hint", expect.stringContaining("@BotFather"));
      expect(JSON.stringify(error)).not.toContain("another-token");
    },
  );

  it("does not fail while Telegram is unreachable, and connects later", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    telegram.fail("getMe", "hang-up", SERVER_ERROR);
    telegram.say("early bird");
    await home.open().start(host);
    expect(host.statuses.map(({ state }) => state)).toEqual(["starting", "retrying"]);
    await eventually(() => expect(bodies(host.admitted)).toEqual(["early bird"]));
  });

  it("stops when the token is revoked", async () => {
    await using home = await createTelegramHome();
    home.telegram.fail("getUpdates", UNAUTHORIZED);
    await home.open().start(home.host);
    await eventually(() => expect(home.host.statuses.at(-1)).toMatchObject({ state: "failed" }));
    expect(home.host.statuses.at(-1)?.text).toContain("@BotFather");
  });

  it("refuses a webhook without an address, and a second start", async () => {
    await using home = await createTelegramHome();
    await expect(home.open({ mode: "webhook" }).start(home.host)).rejects.toMatchObject({
      code: "telegram-webhook-missing",
    });
    const channel = home.open();
    await channel.start(home.host);
    await expect(channel.start(home.host)).rejects.toMatchObject({ code: "channel-started" });
  });

  it("stops while connecting", async () => {
    await using home = await createTelegramHome();
    await home.telegram[Symbol.asyncDispose]();
    const channel = home.open({ clock: systemClock });
    await channel.start(home.host);
    await channel.stop();
    expect(home.host.statuses.map(({ state }) => state)).toEqual(["starting", "retrying", "stopped"]);
    expect(home.host.statuses[1]?.text).toContain("ECONNREFUSED");
  });
});

describe("access", () => {
  it("ignores strangers, other bots and service messages, and confirms them", async () => {
    await using home = await createTelegramHome();
    const { telegram, host } = home;
    await home.open({ allowFrom: ["@adal"] }).start(host);
    telegram.say("stranger", { from: BOB });
    telegram.say("machine", { from: { ...ADA, is_bot: true } });
    telegram.deliver(message({ new_chat_members: [BOB] }));
    telegram.updates.add({ edited_message: { ...message({ text: "edited" }), edit_date: 1 } } as never);
    telegram.say("friend");
    await eventually(() => expect(telegram.updates.pending).toEqual([]));
    expect(bodies(host.admitted)).toEqual(["friend"]);
    expect(telegram.sent).toEqual([]);
  });

  it("offers a stranger one code, and admits them once approved", async () => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    const { telegram, host } = home;
    const store = createPairingStore({
      documents: createDocumentFiles(folder.path),
      channel: "telegram",
      accountId: "default",
      clock: systemClock,
    });
    await home.open({ allowFrom: [], pairing: { store, offers: true } }).start(host);
    telegram.say("let me in");
    telegram.say("please");
    await eventually(() => expect(telegram.updates.pending).toEqual([]));
    const [request] = await store.pending();
    expect(request).toMatchObject({ id: "1001", username: "AdaL", name: "Ada Lovelace" });
    expect(telegram.sent.map(({ params }) => params["chat_id"])).toEqual([1001]);
    expect(telegram.sent[0]?.params["text"]).toContain(request?.code);
    await store.approve(request?.code ?? "");
    telegram.say("thanks");
    await eventually(() => expect(bodies(host.admitted)).toEqual(["thanks"]));
  });
});
