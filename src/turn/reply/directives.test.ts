/** Distinguishes text from directives, beyond the recorded answers. */
import { describe, expect, it } from "vitest";
import { parseReplyDirectives, parseInlineDirectives } from "./directives.ts";
import { isSilentReplyText, stripHeartbeatToken } from "./tokens.ts";

describe("tags", () => {
  it.each([
    ["a [[reply_to_current]] b", "a b"],
    ["x[[reply_to:1]]y", "x y"],
    ["done [[reply_to:1]].", "done."],
    ["[[reply_to:1]] [[audio_as_voice]] hi", "hi"],
    ["[[reply_to_current]]\n\n    indented", "    indented"],
    ["a:\n\n  two  spaces\n[[reply_to:1]]", "a:\n\n  two  spaces"],
  ])("leave %j as %j", (text, expected) => {
    expect(parseInlineDirectives(text).text).toBe(expected);
  });

  it.each([
    "`[[reply_to:1]]` is a tag",
    "```\n[[reply_to:1]]\n```",
    "[[reply_to:  ]]",
    "[[reply_to]]",
    "[[wiki link]]",
  ])("are not recognised in %j", (text) => {
    expect(parseInlineDirectives(text)).toMatchObject({ text, hasReplyTag: false });
  });

  it("the last id wins, and an id takes precedence over the current message", () => {
    const parsed = parseInlineDirectives("[[reply_to:1]] [[reply_to:2]] [[reply_to_current]] x", {
      currentMessageId: "9",
    });
    expect(parsed).toMatchObject({ replyToId: "2", replyToExplicitId: "2", replyToCurrent: true });
  });

  it("stay on request", () => {
    const options = { stripAudioTag: false };
    expect(parseInlineDirectives("[[audio_as_voice]] x", options)).toMatchObject({
      text: "[[audio_as_voice]] x",
      audioAsVoice: true,
    });
  });
});

describe("MEDIA lines", () => {
  it.each([
    ["MEDIA: https://a.test/x.png\ncaption", "caption", ["https://a.test/x.png"]],
    ["MEDIA:out/chart.png", "", ["out/chart.png"]],
    ["see\n\nMEDIA: ./a b.png\n\nthere", "see\n\nthere", ["./a b.png"]],
    ["MEDIA: `my plot.png`", "", ["my plot.png"]],
    ["MEDIA: a.png https://b.test/c.png a.png", "", ["a.png", "https://b.test/c.png"]],
    ["one\r\nMEDIA: ./a.png\r\ntwo", "one\r\ntwo", ["./a.png"]],
    ["MEDIA: https://a.test/x.png the chart of today", "the chart of today", ["https://a.test/x.png"]],
    ["MEDIA: ./a.png ./b.png two charts\nmore", "two charts\nmore", ["./a.png", "./b.png"]],
    ["MEDIA: 'my plot.png' as promised", "as promised", ["my plot.png"]],
  ])("attach what is in %j", (text, left, media) => {
    expect(parseReplyDirectives(text)).toMatchObject({ text: left, mediaUrl: media[0], mediaUrls: media });
  });

  it.each([
    "MEDIA: /etc/passwd",
    "MEDIA: ../secret.png",
    "MEDIA: a/../../b.png",
    "MEDIA: ~/x.png",
    "MEDIA: file:///etc/passwd",
    "MEDIA: data:image/png;base64,AAAA",
    "MEDIA: C:\\x.png",
    "MEDIA: ok.png /etc/passwd",
    "MEDIA: see below",
    "Media: chart.png",
    "the line MEDIA: ./a.png",
    "```\nMEDIA: ./a.png\n```",
    "MEDIA:",
  ])("%j stays text", (text) => {
    const parsed = parseReplyDirectives(text);
    expect(parsed.text).toBe(text);
    expect(parsed.mediaUrls).toBeUndefined();
  });

  it.each([
    ["MEDIA: ./a.ogg\n[[audio_as_voice]] NO_REPLY", "./a.ogg"],
    ["[[audio_as_voice]] MEDIA: ./a.ogg NO_REPLY", "./a.ogg"],
    ["MEDIA:a.ogg NO_REPLY [[audio_as_voice]]", "a.ogg"],
    ["NO_REPLY MEDIA:./a.ogg [[audio_as_voice]]", "./a.ogg"],
    ["[[audio_as_voice]] NO_REPLY MEDIA: https://a.test/x.ogg", "https://a.test/x.ogg"],
    ["MEDIA:https://a.test/x.ogg NO_REPLY\n[[audio_as_voice]]", "https://a.test/x.ogg"],
  ])("are attached to the silent answer %j too", (text, ref) => {
    const parsed = parseReplyDirectives(text);
    expect(parsed).toMatchObject({ text: "", isSilent: true, mediaUrls: [ref], audioAsVoice: true });
  });

  it.each([
    ["[[audio_as_voice]] MEDIA:./a.ogg", { text: "", audioAsVoice: true }],
    ["MEDIA:./a.ogg [[audio_as_voice]]", { text: "", audioAsVoice: true }],
    ["[[reply_to:7]] MEDIA: ./a.ogg listen\nto this", { text: "listen\nto this", replyToId: "7" }],
  ])("may have tags beside them: %j", (text, expected) => {
    expect(parseReplyDirectives(text)).toMatchObject({ ...expected, isSilent: false, mediaUrls: ["./a.ogg"] });
  });
});

describe("silence", () => {
  it("is not recognised inside a word or before more text", () => {
    for (const text of [
      "NO_REPLYING",
      "NO_REPLYé",
      "use NO_REPLY 你好",
      "the word NO_REPLY is a token",
      "",
      undefined,
    ]) {
      expect(isSilentReplyText(text)).toBe(false);
    }
    expect(isSilentReplyText("NO_REPLY", "")).toBe(false);
  });
});

describe("HEARTBEAT_OK", () => {
  it.each([
    ["HEARTBEAT_OK", ""],
    [" **HEARTBEAT_OK**. ", ""],
    ["HEARTBEAT_OK HEARTBEAT_OK", ""],
    ["HEARTBEAT_OK\nThe backup failed.", "The backup failed."],
    ["The backup failed.\n<b>HEARTBEAT_OK</b>", "The backup failed."],
    ["HEARTBEAT_OK 👍", "👍"],
    ["HEARTBEAT_OKAY", "HEARTBEAT_OKAY"],
    ["say HEARTBEAT_OK to it", "say HEARTBEAT_OK to it"],
    ["  nothing  ", "  nothing  "],
  ])("%j becomes %j", (text, expected) => {
    expect(stripHeartbeatToken(text)).toBe(expected);
  });
});

it("takes linear time for hostile text", () => {
  const hostile = ["[[", "[[reply_to:", "[[ ", "HEARTBEAT_OK ", "NO_REPLY ", "MEDIA:", "MEDIA: a.b\n", "```\n", '"'];
  // Quadratic time would take minutes.
  for (const piece of hostile) {
    const text = piece.repeat(50_000);
    expect(parseReplyDirectives(stripHeartbeatToken(text)).text.length).toBeLessThanOrEqual(text.length);
  }
});
