import { expect, it } from "vitest";
import { completePart } from "./chat-blocks.ts";

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
