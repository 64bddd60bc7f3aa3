import { mkdir, symlink, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { ChannelCapabilities } from "../../channels/channel.ts";
import { type OutboxPayload, draftReplies, replyTarget } from "./draft-replies.ts";
import type { ReplyPayload } from "./payloads.ts";

const capabilities: ChannelCapabilities = {
  textLimit: 20,
  media: true,
  replies: true,
};
const target = { channel: "telegram", accountId: "default", to: "telegram:1" };

async function draft(payloads: ReplyPayload[], workspace: string, more: Partial<ChannelCapabilities> = {}) {
  const drafts = await draftReplies({
    payloads,
    turnId: "t",
    target,
    workspace,
    capabilities: { ...capabilities, ...more },
  });
  return {
    keys: drafts.map(({ idempotencyKey }) => idempotencyKey),
    messages: drafts.map(({ payload }) => payload as OutboxPayload),
  };
}

it("numbers the pieces of all payloads and quotes with the first of each", async () => {
  await using folder = await temporaryFolder();
  const payloads = [{ text: "one two three four five six", replyToId: "7" }, { text: "end" }];
  const { keys, messages } = await draft(payloads, folder.path);
  expect(keys).toEqual(["t:0", "t:1", "t:2"]);
  expect(messages).toEqual([{ text: "one two three four", replyToId: "7" }, { text: "five six" }, { text: "end" }]);
  expect((await draft(payloads, folder.path)).keys).toEqual(keys);
  expect((await draft(payloads, folder.path, { replies: false })).messages[0]).toEqual({ text: "one two three four" });
});

it("attaches files of the workspace and reports others as refused", async () => {
  await using folder = await temporaryFolder();
  const workspace = folder.join("workspace");
  await mkdir(workspace);
  await writeFile(folder.join("workspace/a.ogg"), "x");
  await writeFile(folder.join("secret.txt"), "x");
  await symlink(folder.join("secret.txt"), folder.join("workspace/link.txt"));
  const wide = { textLimit: 500 };
  const { messages } = await draft(
    [{ text: "here", mediaUrls: ["a.ogg", "link.txt", "none.txt", "https://example.com/x.png"], audioAsVoice: true }],
    workspace,
    wide,
  );
  expect(messages).toMatchObject([
    { text: "here" },
    {
      text: expect.stringMatching(/"link\.txt" is not attached: .*\n.*no file "none\.txt"/),
      media: [{ kind: "file", path: expect.stringMatching(/a\.ogg$/) }, { kind: "url" }],
      asVoice: true,
    },
  ]);
  const alone = await draft([{ mediaUrls: ["a.ogg"] }], workspace, { ...wide, media: false });
  expect(alone.messages).toEqual([{ text: "a.ogg is in the agent's workspace; this channel cannot send files." }]);
});

it("answers in the chat of the message, completed by the entry", () => {
  const entry = { sessionId: "s", updatedAt: 1, lastChannel: "telegram", lastTo: "telegram:1", lastThreadId: 4 };
  const here = { Provider: "telegram", OriginatingTo: "telegram:1", ChatType: "direct" };
  expect(replyTarget(here, entry)).toEqual({ ...target, chatType: "direct", threadId: 4 });
  expect(replyTarget({ ...here, OriginatingTo: "telegram:2", AccountId: "work" }, entry)).toEqual({
    channel: "telegram",
    accountId: "work",
    to: "telegram:2",
    chatType: "direct",
  });
  expect(replyTarget({}, undefined)).toBeUndefined();
});
