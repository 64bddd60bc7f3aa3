import { expect, it } from "vitest";
import { completePart, draftStreamed } from "./chat-blocks.ts";

it.each([
  ["A sentence. And a ha", "A sentence."],
  ["One line\nand half of the nex", "One line"],
  ["Version 1.2 is", ""],
  ["Look:\nMEDIA:./a picture. Of", "Look:"],
  ["Done. [[reply_to", "Done."],
  ["終わり。 次", "終わり。"],
  ["NO_RE", ""],
])("shows only complete lines and sentences of %j", (text, shown) => {
  expect(completePart(text)).toBe(shown);
});

const TARGET = { channel: "telegram", accountId: "default", to: "1" };
const CAPABILITIES = { media: true, replies: true, textLimit: 20 };

async function draft(texts: string[], streamed: Partial<Parameters<typeof draftStreamed>[1]>) {
  const payloads = texts.map((text) => ({ text }));
  const request = { payloads, turnId: "t", target: TARGET, capabilities: CAPABILITIES, workspace: "/" };
  const known = { target: TARGET, blocks: [], payloads: texts.length, isWhole: true, ...streamed };
  return (await draftStreamed(request, known)).map(({ payload }) => payload);
}

it("replaces blocks by the final text, sends what follows, and removes what is left over", async () => {
  const blocks = [
    { outboxId: 1, text: "The first part." },
    { outboxId: 2, text: "The sec" },
  ];
  const final = "The first part.\n\nThe second part.\n\nThe third part.";
  expect(await draft([final], { blocks })).toEqual([
    { text: "The second part.", replaces: 2 },
    { text: "The third part." },
  ]);
  expect(await draft(["Short."], { blocks })).toEqual([{ text: "Short.", replaces: 1 }, { replaces: 2 }]);
  expect(await draft(["It failed."], { blocks, payloads: 0, isWhole: false })).toEqual([{ text: "It failed." }]);
  // A later message of the turn came from another chat.
  const elsewhere = { ...TARGET, to: "2" };
  expect(await draft(["Short."], { blocks, target: elsewhere })).toEqual([{ text: "Short." }]);
});
