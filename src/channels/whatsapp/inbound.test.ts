/** Messages from WhatsApp until admission. */
import { readFile, readdir, stat } from "node:fs/promises";
import type { WAContextInfo, WAMessageContent } from "baileys";
import { describe, expect, it } from "vitest";
import { keyOptions, soon, texts } from "../../../test/support/channel-host.ts";
import { ada, eve, family, createWhatsAppHome } from "../../../test/support/fake-whatsapp.ts";
import { createTestClock } from "../../../test/support/time.ts";
import { HoldfastError } from "../../base/errors.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import { createPairingStore } from "../access.ts";
import { createDocumentFiles } from "../../store/document-files.ts";

describe("messages from WhatsApp", () => {
  it("admits a direct message", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    home.whatsapp.receive(home.whatsapp.message({ from: ada, id: "M1", text: "hello" }));
    await expect.poll(() => home.admitted.length, soon).toBe(1);
    const [message] = home.admitted;
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

  it("admits a group message with subject, sender, mention and quote", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    const { whatsapp } = home;
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
    say({ stanzaId: "Q3", participant: eve, quotedMessage: { imageMessage: { mimetype: "image/png" } } });
    await expect.poll(() => home.admitted.length, soon).toBe(4);
    const [mention, reply, other, picture] = home.admitted.map(({ ctx }) => ctx);
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
      ReplyToIsOwn: true,
    });
    expect(picture).toMatchObject({ ReplyToBody: "<media:image>", ReplyToIsOwn: false });
    expect(other).toMatchObject({ WasMentioned: false, ReplyToId: "Q2", ReplyToBody: "a picture" });
    expect(home.admitted[0]?.address.chatId).toBe(family);
    expect(resolveInboundSessionKey(mention ?? {}, keyOptions)).toBe(`agent:main:whatsapp:group:${family}`);
    whatsapp.rename(family, "The Family");
    say({});
    await expect.poll(() => home.admitted.at(-1)?.ctx.GroupSubject, soon).toBe("The Family");
    expect(whatsapp.metadataRequests).toEqual([family]);
  });

  it("identifies a person by phone number from every form of address", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    const { whatsapp } = home;
    whatsapp.phones.set("555@lid", "15551111:0@s.whatsapp.net");
    whatsapp.receive(whatsapp.message({ from: "444@lid", alt: ada, text: "one" }));
    whatsapp.receive(whatsapp.message({ from: "555@lid", text: "two" }));
    await expect.poll(() => home.admitted.length, soon).toBe(2);
    expect(home.admitted.map(({ ctx }) => ctx.SenderE164)).toEqual(["+15551111", "+15551111"]);
    expect(new Set(home.admitted.map(({ address }) => address.chatId))).toEqual(new Set([ada]));
  });

  it.each<[string, WAMessageContent, string]>([
    ["an ephemeral message", { ephemeralMessage: { message: { conversation: "gone soon" } } }, "gone soon"],
    ["an extended text", { extendedTextMessage: { text: "https://example.com" } }, "https://example.com"],
    ["a location", { locationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4 } }, "<location:52.5,13.4>"],
    ["a pressed button", { buttonsResponseMessage: { selectedDisplayText: "Yes" } }, "Yes"],
  ])("reads %s", async (_, content, expected) => {
    await using home = await createWhatsAppHome();
    await home.start();
    home.whatsapp.receive(home.whatsapp.message({ from: ada, content }));
    await expect.poll(() => texts(home), soon).toEqual([expected]);
  });

  it("marks a contact card as untrusted", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    const contactMessage = { displayName: "Bob", vcard: "BEGIN:VCARD" };
    home.whatsapp.receive(home.whatsapp.message({ from: ada, content: { contactMessage } }));
    await expect.poll(() => home.admitted[0]?.ctx.UntrustedContext, soon).toEqual(["Contact Bob:\nBEGIN:VCARD"]);
  });

  it("stores files within limits, and admits the message without failed ones", async () => {
    await using home = await createWhatsAppHome();
    await home.start({
      maxMediaBytes: 100,
      downloadMedia: async ({ key }) => {
        if (key.id === "GONE") throw new Error("410");
        return chunks(key.id === "LIAR" ? 500 : 5);
      },
    });
    const send = (id: string, fileLength: number, caption?: string): void =>
      home.whatsapp.receive(
        home.whatsapp.message({
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
    await expect.poll(() => home.admitted.length, soon).toBe(5);
    const [fine, bare, ...missing] = home.admitted.map(({ ctx }) => ctx);
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
    expect(await readdir(home.folder.join("media"))).toHaveLength(2);
  });

  it("ignores itself, strangers, statuses, reactions and history", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    const { whatsapp } = home;
    whatsapp.receive(whatsapp.message({ from: ada, text: "from my phone", fromMe: true }), "append");
    whatsapp.receive(whatsapp.message({ from: eve, text: "stranger" }));
    whatsapp.receive(whatsapp.message({ from: "status@broadcast", text: "status" }));
    whatsapp.receive(whatsapp.message({ from: "1@newsletter", text: "news" }));
    whatsapp.receive(whatsapp.message({ from: ada, content: { reactionMessage: { text: "👍", key: { id: "1" } } } }));
    whatsapp.receive(whatsapp.message({ from: ada, content: { protocolMessage: { type: 0 } } }));
    whatsapp.sendHistory([whatsapp.message({ from: ada, text: "years ago" })]);
    whatsapp.receive(whatsapp.message({ from: ada, text: "while you were away" }), "append");
    whatsapp.receive(whatsapp.message({ from: ada, text: "now" }));
    await expect.poll(() => texts(home), soon).toEqual(["while you were away", "now"]);
    expect(whatsapp.config.shouldSyncHistoryMessage?.({})).toBe(false);
  });

  it("admits all members of an allowed group, without commands", async () => {
    await using home = await createWhatsAppHome();
    await home.start({ allowFrom: [`whatsapp:group:${family}`] });
    home.whatsapp.receive(home.whatsapp.message({ from: eve, group: family, text: "hi" }));
    await expect.poll(() => home.admitted[0]?.ctx.CommandAuthorized, soon).toBe(false);
  });

  it("offers a stranger a pairing code, and admits them once approved", async () => {
    await using home = await createWhatsAppHome();
    const { whatsapp } = home;
    const store = createPairingStore({
      documents: createDocumentFiles(home.folder.join("pairing")),
      channel: "whatsapp",
      accountId: "default",
      clock: createTestClock(),
    });
    await home.start({ pairing: { store, offers: true } });
    whatsapp.receive(whatsapp.message({ from: eve, text: "may I?" }));
    await expect.poll(() => whatsapp.sent.length, soon).toBe(1);
    expect(whatsapp.sent[0]?.jid).toBe(eve);
    const [request] = await store.pending();
    expect(request?.id).toBe("+15552222");
    await store.approve(request?.code ?? "");
    whatsapp.receive(whatsapp.message({ from: eve, text: "and now?" }));
    await expect.poll(() => texts(home), soon).toEqual(["and now?"]);
  });

  it("retries until a message is stored, and keeps later ones in order", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    home.failures.push(new HoldfastError("unavailable", "disk-full", "The disk is full."), new Error("still full"));
    for (const text of ["one", "two"]) home.whatsapp.receive(home.whatsapp.message({ from: ada, text }));
    await expect.poll(() => texts(home), soon).toEqual(["one", "two"]);
    expect(home.statuses.some(({ state, text }) => state === "retrying" && text.includes("disk is full"))).toBe(true);
    expect(home.statuses.at(-1)?.state).toBe("connected");
  });

  it("loses no acknowledged message when the connection breaks", async () => {
    await using home = await createWhatsAppHome();
    await home.start();
    home.whatsapp.startBuffering();
    home.whatsapp.receive(home.whatsapp.message({ from: ada, text: "confirmed" }), "append");
    home.whatsapp.close(428);
    await expect.poll(() => texts(home), soon).toEqual(["confirmed"]);
  });

  it("waits in stop until received messages are stored", async () => {
    await using home = await createWhatsAppHome();
    const admitting = Promise.withResolvers<void>();
    const { channel } = home.create();
    const kept: string[] = [];
    const started = channel.start({
      admit: async ({ ctx }) => {
        await admitting.promise;
        kept.push(ctx.Body ?? "");
      },
      report: () => undefined,
    });
    await expect.poll(() => home.whatsapp.made, soon).toBe(1);
    home.whatsapp.open();
    await started;
    home.whatsapp.receive(home.whatsapp.message({ from: ada, text: "one" }));
    home.whatsapp.receive(home.whatsapp.message({ from: ada, text: "two" }));
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
