import { describe, expect, test } from "vitest";
import vectors from "../../test/fixtures/vectors/transcript.json" with { type: "json" };
import {
  type MirroredDelivery,
  createDeliveryMirrorMessage,
  deliveredText,
  resolveMirroredTranscriptText,
} from "./messages.ts";

describe("resolveMirroredTranscriptText", () => {
  test.each(vectors.filter(({ fn }) => fn === "resolveMirroredTranscriptText"))(
    "vector $args",
    ({ args, expected }) => {
      expect(resolveMirroredTranscriptText(args[0] as MirroredDelivery)).toBe(expected);
    },
  );

  test.each([
    [{ mediaUrls: ["/tmp/a.png", "https://x.test/b.jpg"] }, "a.png, b.jpg"],
    [{ mediaUrls: ["https://x.test/"] }, "media"],
    [{ mediaUrls: [".."] }, "media"],
    [{}, null],
    [{ text: "  " }, null],
  ])("%j → %j", (delivery, expected) => {
    expect(resolveMirroredTranscriptText(delivery)).toBe(expected);
  });
});

test.each([
  [{ text: " The report ", mediaUrls: ["https://x.test/a.pdf", "b.png"] }, "The report\na.pdf, b.png"],
  [{ text: "The report" }, "The report"],
  [{ text: "The report", mediaUrls: [" "] }, "The report"],
  [{ mediaUrls: ["b.png"] }, "b.png"],
  [{ text: " " }, null],
])("the delivery %j is mirrored as %j", (delivery, expected) => {
  expect(deliveredText(delivery)).toBe(expected);
});

test("marks the message as a mirrored delivery", () => {
  expect(createDeliveryMirrorMessage("sent", 5)).toMatchObject({
    role: "assistant",
    provider: "openclaw",
    model: "delivery-mirror",
    api: "openai-responses",
    usage: { totalTokens: 0, cost: { total: 0 } },
    stopReason: "stop",
    content: [{ type: "text", text: "sent" }],
    timestamp: 5,
  });
});
