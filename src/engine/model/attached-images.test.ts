/** Images from people, as each provider accepts them, and images that are not accepted. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { startFakeModelStream, says } from "../../../test/support/fake-model-stream.ts";
import { attempt, collect, engineAt, person, textOf, PIXEL } from "../../../test/support/model-turns.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { Attachment, TranscriptMessage } from "../../transcript/entries.ts";
import { loadAttachedImages } from "./to-prompt.ts";

const DATA = PIXEL.toString("base64");
const REFUSED = { status: 400, body: '{"error":{"type":"invalid_request_error","message":"no images, please"}}' };

function withFiles(...attachments: Attachment[]): TranscriptMessage {
  return { role: "user", content: "look", attachments, timestamp: 1 };
}

function sized(megabytes: number): Buffer {
  return Buffer.concat([PIXEL, Buffer.alloc(megabytes * 1024 * 1024)]);
}

async function sent(folder: TemporaryFolder, name: string, bytes: Buffer): Promise<Attachment> {
  await writeFile(folder.join(name), bytes);
  return { path: folder.join(name), mimeType: "image/jpeg" };
}

describe("a picture", () => {
  it.each([
    ["anthropic/claude-haiku-4-5", { source: { type: "base64", media_type: "image/png", data: DATA } }],
    ["openai/gpt-5", { type: "input_image", image_url: `data:image/png;base64,${DATA}` }],
    ["google/gemini-2.5-pro", { inlineData: { mimeType: "image/png", data: DATA } }],
    ["local/llava", { type: "image_url", image_url: { url: `data:image/png;base64,${DATA}` } }],
  ])("is shown to %s", async (model, part) => {
    await using folder = await temporaryFolder();
    await using server = await startFakeModelStream(says("seen"));
    const context = [withFiles(await sent(folder, "a.jpg", PIXEL))];
    expect(textOf(await collect(engineAt(server), { model, context }))).toBe("seen");
    // As a separate part of the body, whatever surrounds it.
    const inner = JSON.stringify(part).slice(1, -1);
    expect(JSON.stringify(server.requests[0]?.body)).toContain(inner);
  });

  it("is dropped if the model rejects it, with one notice", async () => {
    await using folder = await temporaryFolder();
    const asked = withFiles(await sent(folder, "a.jpg", PIXEL));
    for (const [context, notices] of [
      [[asked], 1],
      [[asked, person("and now?")], 0],
    ] as const) {
      await using server = await startFakeModelStream(REFUSED, says("blind"));
      const events = await collect(engineAt(server), { context });
      expect(textOf(events)).toBe("blind");
      expect(events.filter(({ type }) => type === "notice")).toHaveLength(notices);
      const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
      expect([first?.includes(DATA), second?.includes(DATA)]).toEqual([true, false]);
      expect(second).toContain("an image that cannot be shown");
    }
  });

  it("is not blamed if the request also fails without it", async () => {
    await using folder = await temporaryFolder();
    await using server = await startFakeModelStream(REFUSED);
    const { events, error } = await attempt(engineAt(server), {
      context: [withFiles(await sent(folder, "a.jpg", PIXEL))],
    });
    expect(error).toMatchObject({ code: "model-request-invalid" });
    expect(events).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  it("causes no retry if the prompt has none", async () => {
    await using server = await startFakeModelStream(REFUSED, says("never"));
    const { error } = await attempt(engineAt(server), {});
    expect(error).toMatchObject({ code: "model-request-invalid" });
    expect(server.requests).toHaveLength(1);
  });

  it("is estimated at a fixed size if the server does not count tokens", async () => {
    await using folder = await temporaryFolder();
    const large = sized(1);
    await using server = await startFakeModelStream(says("done", { usage: { input: 0, output: 0, cacheRead: 0 } }));
    const context = [withFiles(await sent(folder, "a.jpg", large))];
    const events = await collect(engineAt(server), { model: "local/llava", context });
    const usage = events.findLast((event) => event.type === "usage")?.usage;
    expect(usage?.input).toBeGreaterThan(1500);
    expect(usage?.input).toBeLessThan(2000);
  });
});

describe("loading images", () => {
  it("takes the type from the bytes, not the name", async () => {
    await using folder = await temporaryFolder();
    const files = {
      "a.png": PIXEL,
      "b.png": Buffer.from("\xff\xd8\xff\xe0 jpeg", "latin1"),
      "c.jpg": Buffer.from("GIF89a"),
      "d.jpg": Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"),
      "e.jpg": Buffer.from("<html>no picture</html>"),
      "f.jpg": Buffer.alloc(0),
    };
    const attachments: Attachment[] = [];
    for (const [name, bytes] of Object.entries(files)) attachments.push(await sent(folder, name, bytes));
    const images = await loadAttachedImages([withFiles(...attachments, { path: folder.join("missing.png") })]);
    const types = Object.keys(files).map((name) => images.get(folder.join(name))?.mediaType);
    expect(types).toEqual(["image/png", "image/jpeg", "image/gif", "image/webp", undefined, undefined]);
  });

  it("takes the newest images that fit", async () => {
    await using folder = await temporaryFolder();
    const large = [await sent(folder, "huge", sized(4))];
    for (let index = 0; index < 5; index++) large.push(await sent(folder, `large${index}`, sized(3)));
    const kept = await loadAttachedImages(large.map((attachment) => withFiles(attachment)));
    expect([...kept.keys()]).toEqual(["large4", "large3", "large2"].map((name) => folder.join(name)));

    const small: Attachment[] = [];
    for (let index = 0; index < 25; index++) small.push(await sent(folder, `small${index}`, PIXEL));
    const newest = await loadAttachedImages([withFiles(...small)]);
    expect([newest.size, newest.has(folder.join("small24")), newest.has(folder.join("small4"))]).toEqual([
      20,
      true,
      false,
    ]);
  });

  it("skips images of summarized messages", async () => {
    await using folder = await temporaryFolder();
    const attachments = [await sent(folder, "old.jpg", PIXEL)];
    const summed: TranscriptMessage = {
      role: "compactionSummary",
      summary: "s",
      tokensBefore: 1,
      attachments,
      timestamp: 1,
    };
    expect((await loadAttachedImages([summed])).size).toBe(0);
  });

  it("skips other files", async () => {
    await using folder = await temporaryFolder();
    const { path } = await sent(folder, "song.mp3", PIXEL);
    expect((await loadAttachedImages([withFiles({ path, mimeType: "audio/mpeg" })])).size).toBe(0);
  });
});
