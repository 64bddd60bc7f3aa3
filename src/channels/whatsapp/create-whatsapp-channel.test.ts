import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import type { WAContextInfo, WAMessageContent } from "baileys";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import { type FakeWhatsApp, boom, createFakeWhatsApp } from "../../../test/support/fake-whatsapp/fake-whatsapp.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/test-clock.ts";
import type { Channel, ChannelStatus, InboundMessage } from "../channel.ts";
import { createPairingStore } from "../pairing-store.ts";
import { type WhatsAppChannelOptions, createWhatsAppChannel } from "./create-whatsapp-channel.ts";

const ada = "15551111@s.whatsapp.net";
const eve = "15552222@s.whatsapp.net";
const family = "12036300@g.us";

interface Stage extends AsyncDisposable {
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

async function setStage(): Promise<Stage> {
  const folder = await temporaryFolder();
  const whatsapp = await createFakeWhatsApp();
  const channels: Channel[] = [];
  const stage: Stage = {
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

const soon = { timeout: 10_000, interval: 10 };

function target(to: string): { channel: string; accountId: string; to: string } {
  return { channel: "whatsapp", accountId: "default", to };
}

async function failure(promise: Promise<unknown>): Promise<HoldfastError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  return error as HoldfastError;
}

function texts({ admitted }: Stage): (string | undefined)[] {
  return admitted.map(({ ctx }) => ctx.Body);
}

/** Waits until it is told to stop. */
async function neverButAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
}

const keyOptions = {
  agentId: "main",
  session: { scope: "per-sender" as const, dmScope: "per-channel-peer" as const },
};

describe("messages from WhatsApp", () => {
  it("takes in a direct message", async () => {
    await using stage = await setStage();
    await stage.start();
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, id: "M1", text: "hello" }));
    await expect.poll(() => stage.admitted.length, soon).toBe(1);
    const [message] = stage.admitted;
    expect(message?.address).toEqual({ channel: "whatsapp", accountId: "default", chatId: ada, messageId: "M1" });
    expect(message?.ctx).toMatchObject({
      Body: "hello",
      MessageSid: "M1",
      Timestamp: 1_794_744_000_000,
      From: "whatsapp:+15551111",
      To: "+15550000",
      OriginatingTo: "+15551111",
      ChatType: "direct",
      SenderE164: "+15551111",
      SenderName: "Ada",
      BotId: "15550000",
      CommandAuthorized: true,
    });
    expect(resolveInboundSessionKey(message?.ctx ?? {}, keyOptions)).toBe("agent:main:whatsapp:dm:+15551111");
  });

  it("takes in a group with its subject, who said it, who was meant and what was quoted", async () => {
    await using stage = await setStage();
    await stage.start();
    const { whatsapp } = stage;
    whatsapp.subjects.set(family, "Family");
    const say = (contextInfo: WAContextInfo): void =>
      whatsapp.receive(
        whatsapp.message({
          from: "15551111:3@s.whatsapp.net",
          group: family,
          content: { extendedTextMessage: { text: "you?", contextInfo } },
        }),
      );
    say({ mentionedJid: ["900@lid"] });
    say({ stanzaId: "Q1", participant: "15550000@s.whatsapp.net", quotedMessage: { conversation: "I said" } });
    say({ stanzaId: "Q2", participant: eve, quotedMessage: { imageMessage: { caption: "a picture" } } });
    await expect.poll(() => stage.admitted.length, soon).toBe(3);
    const [mention, reply, other] = stage.admitted.map(({ ctx }) => ctx);
    expect(mention).toMatchObject({
      From: family,
      OriginatingTo: family,
      ChatType: "group",
      GroupSubject: "Family",
      SenderE164: "+15551111",
      WasMentioned: true,
    });
    expect(reply).toMatchObject({
      WasMentioned: true,
      ReplyToId: "Q1",
      ReplyToBody: "I said",
      ReplyToSender: "+15550000",
    });
    expect(other).toMatchObject({ WasMentioned: false, ReplyToId: "Q2", ReplyToBody: "a picture" });
    expect(stage.admitted[0]?.address.chatId).toBe(family);
    expect(resolveInboundSessionKey(mention ?? {}, keyOptions)).toBe(`agent:main:whatsapp:group:${family}`);
    whatsapp.rename(family, "The Family");
    say({});
    await expect.poll(() => stage.admitted.at(-1)?.ctx.GroupSubject, soon).toBe("The Family");
    expect(whatsapp.metadataRequests).toEqual([family]);
  });

  it("knows a person by the phone number, however WhatsApp names them", async () => {
    await using stage = await setStage();
    await stage.start();
    const { whatsapp } = stage;
    whatsapp.phones.set("555@lid", "15551111:0@s.whatsapp.net");
    whatsapp.receive(whatsapp.message({ from: "444@lid", alt: ada, text: "one" }));
    whatsapp.receive(whatsapp.message({ from: "555@lid", text: "two" }));
    await expect.poll(() => stage.admitted.length, soon).toBe(2);
    expect(stage.admitted.map(({ ctx }) => ctx.SenderE164)).toEqual(["+15551111", "+15551111"]);
    expect(new Set(stage.admitted.map(({ address }) => address.chatId))).toEqual(new Set([ada]));
  });

  it.each<[string, WAMessageContent, string]>([
    ["an ephemeral message", { ephemeralMessage: { message: { conversation: "gone soon" } } }, "gone soon"],
    ["an extended text", { extendedTextMessage: { text: "https://example.com" } }, "https://example.com"],
    ["a location", { locationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4 } }, "<location:52.5,13.4>"],
    ["a pressed button", { buttonsResponseMessage: { selectedDisplayText: "Yes" } }, "Yes"],
  ])("reads %s", async (_, content, expected) => {
    await using stage = await setStage();
    await stage.start();
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, content }));
    await expect.poll(() => texts(stage), soon).toEqual([expected]);
  });

  it("takes a contact card for data", async () => {
    await using stage = await setStage();
    await stage.start();
    const contactMessage = { displayName: "Bob", vcard: "BEGIN:VCARD" };
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, content: { contactMessage } }));
    await expect.poll(() => stage.admitted[0]?.ctx.UntrustedContext, soon).toEqual(["Contact Bob:\nBEGIN:VCARD"]);
  });

  it("keeps files within limits, and admits the message without those it cannot have", async () => {
    await using stage = await setStage();
    await stage.start({
      maxMediaBytes: 100,
      downloadMedia: async ({ key }) => {
        if (key.id === "GONE") throw new Error("410");
        return chunks(key.id === "LIAR" ? 500 : 5);
      },
    });
    const send = (id: string, fileLength: number, caption?: string): void =>
      stage.whatsapp.receive(
        stage.whatsapp.message({
          from: ada,
          id,
          content: {
            imageMessage: { mimetype: "image/jpeg", fileLength, ...(caption === undefined ? {} : { caption }) },
          },
        }),
      );
    send("FINE", 5, "look");
    send("BARE", 5);
    send("BIG", 101);
    send("LIAR", 5);
    send("GONE", 5);
    await expect.poll(() => stage.admitted.length, soon).toBe(5);
    const [fine, bare, ...missing] = stage.admitted.map(({ ctx }) => ctx);
    expect([fine?.Body, bare?.Body]).toEqual(["look", "<media:image>"]);
    expect(fine?.MediaTypes).toEqual(["image/jpeg"]);
    const [path = ""] = fine?.MediaPaths ?? [];
    expect(path).toMatch(/\.jpg$/);
    expect(await readFile(path, "utf8")).toBe("xxxxx");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const ctx of missing) {
      expect(ctx.MediaPaths).toBeUndefined();
      expect(ctx.UntrustedContext).toEqual([expect.stringContaining("could not be fetched")]);
    }
    expect(await readdir(stage.folder.join("media"))).toHaveLength(2);
  });

  it("hears neither itself nor strangers, statuses, reactions or history", async () => {
    await using stage = await setStage();
    await stage.start();
    const { whatsapp } = stage;
    whatsapp.receive(whatsapp.message({ from: ada, text: "from my phone", fromMe: true }), "append");
    whatsapp.receive(whatsapp.message({ from: eve, text: "stranger" }));
    whatsapp.receive(whatsapp.message({ from: "status@broadcast", text: "status" }));
    whatsapp.receive(whatsapp.message({ from: "1@newsletter", text: "news" }));
    whatsapp.receive(whatsapp.message({ from: ada, content: { reactionMessage: { text: "👍", key: { id: "1" } } } }));
    whatsapp.receive(whatsapp.message({ from: ada, content: { protocolMessage: { type: 0 } } }));
    whatsapp.sendHistory([whatsapp.message({ from: ada, text: "years ago" })]);
    whatsapp.receive(whatsapp.message({ from: ada, text: "while you were away" }), "append");
    whatsapp.receive(whatsapp.message({ from: ada, text: "now" }));
    await expect.poll(() => texts(stage), soon).toEqual(["while you were away", "now"]);
    expect(whatsapp.config.shouldSyncHistoryMessage?.({})).toBe(false);
  });

  it("lets everybody of an allowed group in, without the right to command", async () => {
    await using stage = await setStage();
    await stage.start({ allowFrom: [`whatsapp:group:${family}`] });
    stage.whatsapp.receive(stage.whatsapp.message({ from: eve, group: family, text: "hi" }));
    await expect.poll(() => stage.admitted[0]?.ctx.CommandAuthorized, soon).toBe(false);
  });

  it("offers a stranger a pairing code, and lets them in once they are approved", async () => {
    await using stage = await setStage();
    const { whatsapp } = stage;
    const store = createPairingStore({
      folder: stage.folder.join("pairing"),
      channel: "whatsapp",
      accountId: "default",
      clock: createTestClock(),
    });
    await stage.start({ pairing: { store, offers: true } });
    whatsapp.receive(whatsapp.message({ from: eve, text: "may I?" }));
    await expect.poll(() => whatsapp.sent.length, soon).toBe(1);
    expect(whatsapp.sent[0]?.jid).toBe(eve);
    const [request] = await store.pending();
    expect(request?.id).toBe("+15552222");
    await store.approve(request?.code ?? "");
    whatsapp.receive(whatsapp.message({ from: eve, text: "and now?" }));
    await expect.poll(() => texts(stage), soon).toEqual(["and now?"]);
  });

  it("tries again until a message can be kept, and keeps those behind it in order", async () => {
    await using stage = await setStage();
    await stage.start();
    stage.failures.push(new HoldfastError("unavailable", "disk-full", "The disk is full."), new Error("still full"));
    for (const text of ["one", "two"]) stage.whatsapp.receive(stage.whatsapp.message({ from: ada, text }));
    await expect.poll(() => texts(stage), soon).toEqual(["one", "two"]);
    expect(stage.statuses.some(({ state, text }) => state === "retrying" && text.includes("disk is full"))).toBe(true);
    expect(stage.statuses.at(-1)?.state).toBe("connected");
  });

  it("loses nothing that Baileys has confirmed and still collects when the connection breaks", async () => {
    await using stage = await setStage();
    await stage.start();
    stage.whatsapp.startBuffering();
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, text: "confirmed" }), "append");
    stage.whatsapp.close(428);
    await expect.poll(() => texts(stage), soon).toEqual(["confirmed"]);
  });

  it("ends a stop only when what has arrived is kept", async () => {
    await using stage = await setStage();
    const admitting = Promise.withResolvers<void>();
    const { channel } = stage.create();
    const kept: string[] = [];
    const started = channel.start({
      admit: async ({ ctx }) => {
        await admitting.promise;
        kept.push(ctx.Body ?? "");
      },
      report: () => undefined,
    });
    await expect.poll(() => stage.whatsapp.made, soon).toBe(1);
    stage.whatsapp.open();
    await started;
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, text: "one" }));
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, text: "two" }));
    let isStopped = false;
    const stopped = channel.stop().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    admitting.resolve();
    await stopped;
    expect(kept).toEqual(["one", "two"]);
  });
});

async function* chunks(bytes: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < bytes; index++) yield Buffer.from("x");
}

describe("the connection to WhatsApp", () => {
  it("shows a code to scan, keeps the keys in a private folder and comes back with them", async () => {
    await using stage = await setStage();
    const { channel, start } = stage.create();
    const started = start();
    await expect.poll(() => stage.whatsapp.made, soon).toBe(1);
    stage.whatsapp.showCode("2@abc");
    expect(stage.statuses.at(-1)).toMatchObject({ state: "starting", loginCode: "2@abc" });
    stage.whatsapp.pair();
    await expect.poll(() => stage.whatsapp.made, soon).toBe(2);
    stage.whatsapp.open();
    await started;
    expect(stage.statuses.at(-1)).toEqual({ state: "connected", text: "WhatsApp: connected as Agent." });
    expect(stage.statuses.some(({ state }) => state === "retrying")).toBe(false);
    const identity = stage.whatsapp.config.auth.creds.noiseKey;
    await channel.stop();

    const folder = stage.folder.join("auth");
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(stage.folder.join("auth", "creds.json"))).mode & 0o777).toBe(0o600);
    await stage.start();
    expect(stage.whatsapp.config.auth.creds.me?.name).toBe("Agent");
    expect(Buffer.from(stage.whatsapp.config.auth.creds.noiseKey.private)).toEqual(Buffer.from(identity.private));
  });

  it("comes back with growing pauses, and says so", async () => {
    await using stage = await setStage();
    const pauses: number[] = [];
    const clock = createTestClock();
    await stage.start({
      clock: {
        now: () => clock.now(),
        sleep: async (ms) => {
          pauses.push(ms);
        },
      },
    });
    for (const [index, status] of [428, 408, 503, 500].entries()) {
      stage.whatsapp.close(status);
      await expect.poll(() => stage.whatsapp.made, soon).toBe(index + 2);
    }
    expect(stage.statuses.at(-1)?.state).toBe("retrying");
    expect(pauses).toHaveLength(4);
    expect(pauses.toSorted((one, other) => one - other)).toEqual(pauses);
    stage.whatsapp.open();
    expect(stage.statuses.at(-1)?.state).toBe("connected");
    stage.whatsapp.receive(stage.whatsapp.message({ from: ada, text: "back?" }));
    await expect.poll(() => texts(stage), soon).toEqual(["back?"]);
    stage.whatsapp.close(428);
    await expect.poll(() => pauses.length, soon).toBe(5);
    expect(pauses.at(-1)).toBeLessThanOrEqual(1000);
  });

  it("forgets a device that was logged out, so that the next start shows a code", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    const before = stage.whatsapp.config.auth.creds.noiseKey;
    await stage.whatsapp.config.auth.keys.set({ "pre-key": { "1": before } });
    stage.whatsapp.close(401);
    await expect.poll(() => stage.statuses.at(-1)?.state, soon).toBe("failed");
    expect(stage.statuses.at(-1)?.text).toContain("holdfast channels login");
    expect(await readdir(stage.folder.join("auth"))).toEqual([]);
    expect((await failure(channel.send({ target: target(ada), idempotencyKey: "1", text: "x" }))).code).toBe(
      "channel-not-connected",
    );
    await channel.stop();
    await stage.start();
    expect(stage.whatsapp.config.auth.creds.noiseKey).not.toEqual(before);
  });

  it.each<[number, string]>([
    [401, "whatsapp-logged-out"],
    [403, "whatsapp-forbidden"],
    [405, "whatsapp-outdated"],
    [411, "whatsapp-multi-device"],
    [440, "whatsapp-replaced"],
  ])("fails at start for %i and does not come back", async (status, code) => {
    await using stage = await setStage();
    const started = failure(stage.create().start());
    await expect.poll(() => stage.whatsapp.made, soon).toBe(1);
    stage.whatsapp.close(status);
    const error = await started;
    expect(error.code).toBe(code);
    expect(error.hint).toBeDefined();
    expect(stage.statuses.at(-1)?.state).toBe("failed");
    expect(stage.whatsapp.made).toBe(1);
  });

  it("can be stopped while it waits for the code to be scanned, and while it pauses", async () => {
    await using stage = await setStage();
    const waiting = stage.create();
    const first = failure(waiting.start());
    await expect.poll(() => stage.whatsapp.made, soon).toBe(1);
    await waiting.channel.stop();
    expect((await first).kind).toBe("interrupted");

    const pausing = stage.create({ clock: { now: () => 0, sleep: neverButAborted } });
    const second = failure(pausing.start());
    await expect.poll(() => stage.whatsapp.made, soon).toBe(2);
    stage.whatsapp.close(503);
    await expect.poll(() => stage.statuses.at(-1)?.state, soon).toBe("retrying");
    await pausing.channel.stop();
    expect((await second).kind).toBe("interrupted");
  });

  it("keeps every key, whatever its name, and takes a damaged file for an error", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    const { keys } = stage.whatsapp.config.auth;
    const id = "../../evil/1555:2";
    await keys.set({ session: { [id]: Buffer.from("ratchet"), "1": Buffer.from("x") }, "lid-mapping": { "7": "8" } });
    await keys.set({ session: { "1": null } });
    expect(Buffer.from((await keys.get("session", [id]))[id] ?? []).toString()).toBe("ratchet");
    expect(await keys.get("session", ["1"])).toEqual({});
    expect(await keys.get("lid-mapping", ["7"])).toEqual({ "7": "8" });
    const names = await readdir(stage.folder.join("auth"));
    expect(names.toSorted()).toEqual(["lid-mapping-7.json", "session-..%2f..%2fevil%2f1555%3a2.json"]);
    await channel.stop();
    await writeFile(stage.folder.join("auth", "creds.json"), '{"noiseKey":');
    const error = await failure(stage.create().start());
    expect(error.code).toBe("whatsapp-keys-unreadable");
    expect(error.hint).toContain("backup");
    expect(stage.statuses.at(-1)?.state).toBe("failed");
  });
});

describe("messages to WhatsApp", () => {
  it("sends to numbers and groups, and gives one idempotency key one id", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    const { whatsapp } = stage;
    const first = await channel.send({ target: target("+1 (555) 11-11"), idempotencyKey: "1", text: "hello" });
    const second = await channel.send({ target: target(`whatsapp:group:${family}`), idempotencyKey: "1", text: "all" });
    expect(second).toEqual(first);
    expect(first.messageId).toMatch(/^3EB0[0-9A-F]{18}$/);
    expect(whatsapp.sent.map(({ jid }) => jid)).toEqual([ada, family]);
    expect(whatsapp.sent[0]?.message.message?.extendedTextMessage?.text).toBe("hello");
    expect(whatsapp.sent[0]?.message.key.id).toBe(first.messageId);
    expect(channel.capabilities.deduplicates).toBe(false);
    // What was sent can be sent again to a phone that could not read it.
    expect(await whatsapp.config.getMessage?.({ id: first.messageId })).toMatchObject({
      extendedTextMessage: { text: "all" },
    });
  });

  it("fetches no preview of an address in a text", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    await channel.send({ target: target(ada), idempotencyKey: "1", text: "see http://127.0.0.1/secret" });
    expect(stage.whatsapp.sent[0]?.content).toMatchObject({ linkPreview: null });
  });

  it("quotes what it answers, in the same chat and as long as it remembers it", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    const { whatsapp } = stage;
    whatsapp.receive(whatsapp.message({ from: ada, id: "Q1", text: "a question" }));
    await expect.poll(() => stage.admitted.length, soon).toBe(1);
    await channel.send({ target: target("+15551111"), idempotencyKey: "1", text: "an answer", replyToId: "Q1" });
    await channel.send({ target: target("+15551111"), idempotencyKey: "2", text: "to nothing", replyToId: "Q9" });
    await channel.send({ target: target(family), idempotencyKey: "3", text: "elsewhere", replyToId: "Q1" });
    const quoted = whatsapp.sent.map(({ message }) => message.message?.extendedTextMessage?.contextInfo?.stanzaId);
    expect(quoted).toEqual(["Q1", undefined, undefined]);
  });

  it("sends files as what they are, with the text on the first", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    const media = await Promise.all(
      ["photo.png", "clip.mp4", "paper.pdf"].map(async (name) => {
        const path = stage.folder.join(name);
        await writeFile(path, "bytes");
        return { kind: "file" as const, path };
      }),
    );
    await channel.send({ target: target(ada), idempotencyKey: "1", text: "see", media });
    const [photo, clip, paper] = stage.whatsapp.sent.map(({ message }) => message.message);
    expect(photo?.imageMessage).toMatchObject({ caption: "see", mimetype: "image/png" });
    expect(clip?.videoMessage?.mimetype).toBe("video/mp4");
    expect(paper?.documentMessage).toMatchObject({ fileName: "paper.pdf", mimetype: "application/pdf" });
    expect(new Set(stage.whatsapp.sent.map(({ message }) => message.key.id)).size).toBe(3);
  });

  it("sends a voice message, and its words before it", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    const path = stage.folder.join("voice.ogg");
    await writeFile(path, "OggS");
    const media = [{ kind: "file" as const, path }];
    await channel.send({ target: target(ada), idempotencyKey: "1", text: "listen", media, asVoice: true });
    await channel.send({ target: target(ada), idempotencyKey: "2", media });
    const [words, voice, sound] = stage.whatsapp.sent.map(({ message }) => message.message);
    expect(words?.extendedTextMessage?.text).toBe("listen");
    expect(voice?.audioMessage).toMatchObject({ ptt: true, mimetype: "audio/ogg; codecs=opus" });
    expect(sound?.audioMessage).toMatchObject({ ptt: false, mimetype: "audio/ogg" });
  });

  it("shows that it is typing", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    await channel.showTyping?.(target("+15551111"));
    expect(stage.whatsapp.presence).toEqual([{ type: "composing", jid: ada }]);
  });

  it.each<[number, string, string]>([
    [403, "forbidden", "whatsapp-forbidden"],
    [404, "not-found", "whatsapp-not-found"],
    [408, "timeout", "whatsapp-timeout"],
    [428, "unavailable", "whatsapp-unreachable"],
    [503, "unavailable", "whatsapp-unreachable"],
  ])("tells failure %i apart", async (status, kind, code) => {
    await using stage = await setStage();
    const channel = await stage.start();
    stage.whatsapp.failures.push(boom(status));
    const error = await failure(channel.send({ target: target(family), idempotencyKey: "1", text: "x" }));
    expect([error.kind, error.code]).toEqual([kind, code]);
    expect(error.hint).toBeDefined();
    expect(stage.whatsapp.sent).toEqual([]);
  });

  it("says when a number has no WhatsApp, when there is nothing to send and when an address is none", async () => {
    await using stage = await setStage();
    const channel = await stage.start();
    stage.whatsapp.absent.add(eve);
    const codes = await Promise.all(
      [
        { target: target(eve), idempotencyKey: "1", text: "x" },
        { target: target(ada), idempotencyKey: "2" },
        { target: target("the family"), idempotencyKey: "3", text: "x" },
        { target: target("status@broadcast"), idempotencyKey: "4", text: "x" },
      ].map(async (message) => (await failure(channel.send(message))).code),
    );
    expect(codes).toEqual(["whatsapp-not-found", "empty-message", "whatsapp-target", "whatsapp-target"]);
  });
});
