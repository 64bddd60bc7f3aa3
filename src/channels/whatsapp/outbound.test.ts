/** Messages to WhatsApp. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { failure, soon } from "../../../test/support/channel-host.ts";
import { boom, ada, eve, family, createWhatsAppHome, target } from "../../../test/support/fake-whatsapp.ts";

describe("messages to WhatsApp", () => {
  it("sends to numbers and groups, and gives one idempotency key one id", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    const { whatsapp } = home;
    const first = await channel.send({ target: target("+1 (555) 11-11"), idempotencyKey: "1", text: "hello" });
    const second = await channel.send({ target: target(`whatsapp:group:${family}`), idempotencyKey: "1", text: "all" });
    expect(second).toEqual(first);
    expect(first.messageId).toMatch(/^3EB0[0-9A-F]{18}$/);
    expect(whatsapp.sent.map(({ jid }) => jid)).toEqual([ada, family]);
    expect(whatsapp.sent[0]?.message.message?.extendedTextMessage?.text).toBe("hello");
    expect(whatsapp.sent[0]?.message.key.id).toBe(first.messageId);
    // A sent message can be resent to a phone that could not read it.
    expect(await whatsapp.config.getMessage?.({ id: first.messageId })).toMatchObject({
      extendedTextMessage: { text: "all" },
    });
  });

  it("fetches no preview of a URL", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    await channel.send({ target: target(ada), idempotencyKey: "1", text: "see http://127.0.0.1/secret" });
    expect(home.whatsapp.sent[0]?.content).toMatchObject({ linkPreview: null });
  });

  it("quotes a remembered message of the same chat", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    const { whatsapp } = home;
    whatsapp.receive(whatsapp.message({ from: ada, id: "Q1", text: "a question" }));
    await expect.poll(() => home.admitted.length, soon).toBe(1);
    await channel.send({ target: target("+15551111"), idempotencyKey: "1", text: "an answer", replyToId: "Q1" });
    await channel.send({ target: target("+15551111"), idempotencyKey: "2", text: "to nothing", replyToId: "Q9" });
    await channel.send({ target: target(family), idempotencyKey: "3", text: "elsewhere", replyToId: "Q1" });
    const quoted = whatsapp.sent.map(({ message }) => message.message?.extendedTextMessage?.contextInfo?.stanzaId);
    expect(quoted).toEqual(["Q1", undefined, undefined]);
  });

  it("sends files by type, with the text on the first", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    const media = await Promise.all(
      ["photo.png", "clip.mp4", "paper.pdf"].map(async (name) => {
        const path = home.folder.join(name);
        await writeFile(path, "bytes");
        return { kind: "file" as const, path };
      }),
    );
    await channel.send({ target: target(ada), idempotencyKey: "1", text: "see", media });
    const [photo, clip, paper] = home.whatsapp.sent.map(({ message }) => message.message);
    expect(photo?.imageMessage).toMatchObject({ caption: "see", mimetype: "image/png" });
    expect(clip?.videoMessage?.mimetype).toBe("video/mp4");
    expect(paper?.documentMessage).toMatchObject({ fileName: "paper.pdf", mimetype: "application/pdf" });
    expect(new Set(home.whatsapp.sent.map(({ message }) => message.key.id)).size).toBe(3);
  });

  it("sends a voice message after its text", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    const path = home.folder.join("voice.ogg");
    await writeFile(path, "OggS");
    const media = [{ kind: "file" as const, path }];
    await channel.send({ target: target(ada), idempotencyKey: "1", text: "listen", media, asVoice: true });
    await channel.send({ target: target(ada), idempotencyKey: "2", media });
    const [words, voice, sound] = home.whatsapp.sent.map(({ message }) => message.message);
    expect(words?.extendedTextMessage?.text).toBe("listen");
    expect(voice?.audioMessage).toMatchObject({ ptt: true, mimetype: "audio/ogg; codecs=opus" });
    expect(sound?.audioMessage).toMatchObject({ ptt: false, mimetype: "audio/ogg" });
  });

  it("shows typing", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    await channel.showTyping?.(target("+15551111"));
    expect(home.whatsapp.presence).toEqual([{ type: "composing", jid: ada }]);
  });

  it.each<[number, string, string]>([
    [403, "forbidden", "whatsapp-forbidden"],
    [404, "not-found", "whatsapp-not-found"],
    [408, "timeout", "whatsapp-timeout"],
    [428, "unavailable", "whatsapp-unreachable"],
    [503, "unavailable", "whatsapp-unreachable"],
  ])("recognizes failure %i", async (status, kind, code) => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    home.whatsapp.failures.push(boom(status));
    const error = await failure(channel.send({ target: target(family), idempotencyKey: "1", text: "x" }));
    expect([error.kind, error.code]).toEqual([kind, code]);
    expect(error.hint).toBeDefined();
    expect(home.whatsapp.sent).toEqual([]);
  });

  it("reports an unknown number, an empty message and an invalid address", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    home.whatsapp.absent.add(eve);
    const codes = await Promise.all(
      [
        { target: target(eve), idempotencyKey: "1", text: "x" },
        { target: target(ada), idempotencyKey: "2" },
        { target: target("the family"), idempotencyKey: "3", text: "x" },
        { target: target("status@broadcast"), idempotencyKey: "4", text: "x" },
      ].map(async (message) => (await failure(channel.send(message))).code),
    );
    expect(codes).toEqual(["whatsapp-not-found", "empty-message", "whatsapp-target", "whatsapp-target"]);
    expect(() => channel.checkTarget?.(target("the family"))).toThrow("Not a WhatsApp address");
    expect(() => channel.checkTarget?.(target(eve))).not.toThrow();
  });
});
