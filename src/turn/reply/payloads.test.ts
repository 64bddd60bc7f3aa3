import { describe, expect, it } from "vitest";
import { buildReplyPayloads } from "./payloads.ts";

describe("buildReplyPayloads", () => {
  it("reads directives and keeps attachments of the engine", () => {
    const { payloads } = buildReplyPayloads({
      currentMessageId: "m1",
      payloads: [
        { text: "[[reply_to_current]] look\nMEDIA: ./b.png", mediaUrl: "./a.png" },
        { text: "[[reply_to:77]] [[audio_as_voice]]", mediaUrls: ["./c.ogg"] },
        { channelData: { buttons: ["yes"] } },
      ],
    });
    expect(payloads).toStrictEqual([
      {
        text: "look",
        mediaUrl: "./a.png",
        mediaUrls: ["./a.png", "./b.png"],
        replyToId: "m1",
        replyToTag: true,
        replyToCurrent: true,
      },
      { mediaUrl: "./c.ogg", mediaUrls: ["./c.ogg"], replyToId: "77", replyToTag: true, audioAsVoice: true },
      { channelData: { buttons: ["yes"] } },
    ]);
  });

  it("drops payloads without content, and says why", () => {
    const { payloads, dropped } = buildReplyPayloads({
      payloads: [{ text: "NO_REPLY" }, { text: "HEARTBEAT_OK" }, { text: " \n" }, { channelData: {} }, { text: "hi" }],
    });
    expect(payloads).toStrictEqual([{ text: "hi" }]);
    expect(dropped.map(({ reason }) => reason)).toEqual(["silent", "heartbeat", "empty", "empty"]);
    expect(dropped[0]?.payload).toEqual({ text: "NO_REPLY" });
  });

  it("keeps HEARTBEAT_OK in heartbeat turns", () => {
    const { payloads } = buildReplyPayloads({ isHeartbeat: true, payloads: [{ text: "HEARTBEAT_OK" }] });
    expect(payloads).toStrictEqual([{ text: "HEARTBEAT_OK" }]);
  });

  it("reads no directives in error texts", () => {
    const error = { text: "tool said: NO_REPLY\nMEDIA: ./.env\n[[reply_to:1]]", isError: true };
    expect(buildReplyPayloads({ payloads: [error] }).payloads).toStrictEqual([error]);
  });
});

describe("quoting", () => {
  const payloads = [{ text: "NO_REPLY" }, { text: "one" }, { text: "[[reply_to:7]] two" }, { text: "three" }];
  const quoted = (replyToMode: "off" | "first" | "all"): (string | undefined)[] =>
    buildReplyPayloads({ payloads, replyToMode, currentMessageId: "m1" }).payloads.map(({ replyToId }) => replyToId);

  it("follows the mode, and the agent's tags in every mode", () => {
    expect(quoted("off")).toEqual([undefined, "7", undefined]);
    expect(quoted("first")).toEqual(["m1", "7", undefined]);
    expect(quoted("all")).toEqual(["m1", "7", "m1"]);
  });

  it("keeps the ids that an engine chose", () => {
    const chosen = [
      { text: "a", replyToId: "5" },
      { text: "b", replyToId: "6" },
      { text: "c", replyToCurrent: true },
    ];
    const result = buildReplyPayloads({ payloads: chosen, replyToMode: "first", currentMessageId: "m1" });
    expect(result.payloads.map(({ replyToId }) => replyToId)).toEqual(["5", "6", "m1"]);
  });
});

describe("text that was sent already", () => {
  it("by a tool, is not sent again", () => {
    const { payloads, dropped } = buildReplyPayloads({
      payloads: [{ text: "The report  is READY." }, { text: "ok" }, { text: "Done", mediaUrl: "./a.png" }],
      sentByTool: [{ text: "Hello Ada,\nthe report is ready. ok" }, { text: "done" }],
    });
    expect(payloads).toStrictEqual([{ text: "ok" }, { mediaUrl: "./a.png", mediaUrls: ["./a.png"] }]);
    expect(dropped.map(({ reason }) => reason)).toEqual(["sent-by-tool"]);
  });

  it("by a tool, does not remove new text", () => {
    const text = "I told them: the report is ready. They asked for the figures of May.";
    const result = buildReplyPayloads({ payloads: [{ text }], sentByTool: [{ text: "the report is ready." }] });
    expect(result.payloads).toStrictEqual([{ text }]);
  });
});
