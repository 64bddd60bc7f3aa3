import { readFile, readdir, stat } from "node:fs/promises";
import type { Message } from "grammy/types";
import { describe, expect, it, vi } from "vitest";
import { type TelegramHome, createTelegramHome } from "../../../test/support/fake-telegram/telegram-home.ts";
import { type MessageParts, message } from "../../../test/support/fake-telegram/updates.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { MessageContext } from "../../keys/message-context.ts";

const unique = { file_unique_id: "u" };

async function receive(home: TelegramHome, mediaFolder: string, sent: Message): Promise<MessageContext> {
  await home.open({ mediaFolder, maxMediaBytes: 1000 }).start(home.host);
  home.telegram.deliver(sent);
  await vi.waitFor(() => expect(home.telegram.updates.pending).toEqual([]), { timeout: 10_000, interval: 10 });
  return home.host.admitted[0]?.ctx ?? {};
}

async function names(folder: TemporaryFolder): Promise<string[]> {
  return await readdir(folder.join("media")).catch(() => []);
}

describe("files that people send", () => {
  it.each<[string, MessageParts, string, string]>([
    ["photo", { photo: [small("s"), small("f")] }, ".jpg", "image/jpeg"],
    ["voice", { voice: { file_id: "f", ...unique, duration: 1 } }, ".ogg", "audio/ogg"],
    [
      "audio",
      { audio: { file_id: "f", ...unique, duration: 1, mime_type: "audio/mp4", file_name: "a.M4A" } },
      ".m4a",
      "audio/mp4",
    ],
    ["video", { video: { file_id: "f", ...unique, duration: 1, width: 1, height: 1 } }, ".mp4", "video/mp4"],
    [
      "document",
      { document: { file_id: "f", ...unique, file_name: "../../x.pdf", mime_type: "application/pdf" } },
      ".pdf",
      "application/pdf",
    ],
    [
      "nameless document",
      { document: { file_id: "f", ...unique, file_name: "x.a/b\u0000", mime_type: "no type" } },
      ".bin",
      "application/octet-stream",
    ],
  ])("stores a %s privately, under a name made of ids", async (_kind, parts, extension, type) => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    home.telegram.addFile("f", Buffer.from("content"), "photos/file 1.jpg");
    const sent = message(parts);
    const ctx = await receive(home, folder.join("media"), sent);
    expect(ctx).toMatchObject({ MediaTypes: [type] });
    const [path = ""] = ctx.MediaPaths ?? [];
    expect(path).toMatch(new RegExp(`^${folder.join("media")}/[0-9a-f]{32}\\${extension}$`));
    expect(await readFile(path, "utf8")).toBe("content");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.stringify([ctx, home.log])).not.toContain(home.telegram.token);
  });

  it("retries a failed download", async () => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    home.telegram.addFile("f", Buffer.from("content"));
    home.telegram.fail("getFile", { error_code: 500, description: "Internal Server Error" });
    home.telegram.fail("file", "hang-up");
    const ctx = await receive(home, folder.join("media"), message({ photo: [small("f")] }));
    expect(ctx.MediaPaths).toHaveLength(1);
    expect(await names(folder)).toHaveLength(1);
  });

  it.each<[string, (home: TelegramHome) => void, Partial<{ file_size: number }>, string]>([
    ["says it is too large", () => undefined, { file_size: 1001 }, "larger than"],
    [
      "is larger than it says",
      (home) => home.telegram.addFile("f", Buffer.alloc(5000)),
      { file_size: 10 },
      "could not be fetched",
    ],
    ["is gone", () => undefined, {}, "could not be fetched"],
    [
      "never arrives",
      (home) => {
        home.telegram.addFile("f", Buffer.from("content"));
        home.telegram.fail("file", "hang-up", "hang-up", "hang-up");
      },
      {},
      "could not be fetched",
    ],
  ])("admits the message even if the file %s", async (_name, prepare, parts, note) => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    prepare(home);
    const sent = message({ caption: "look", photo: [{ ...small("f"), ...parts }] });
    const ctx = await receive(home, folder.join("media"), sent);
    expect(ctx.Body).toBe("look");
    expect(ctx.UntrustedContext?.[0]).toContain(note);
    expect(ctx).not.toHaveProperty("MediaPaths");
    expect(await names(folder)).toEqual([]);
    expect(JSON.stringify(home.log)).not.toContain(home.telegram.token.split(":")[1]);
  });
});

function small(fileId: string) {
  return { file_id: fileId, ...unique, width: 1, height: 1 };
}
