import { expect, test } from "vitest";
import { createLineSplitter } from "../../../base/jsonl.ts";
import { messagesOf } from "./connection.ts";

function read(content: Uint8Array | string, maxLineBytes?: number): string[] {
  const lines = createLineSplitter({ maxLineBytes });
  return [...lines.push(Buffer.from(content)), ...lines.end()]
    .flatMap(messagesOf)
    .map((message) => (message.type === "damaged" ? message.reason : message.type));
}

test("ignores carriage returns and empty lines", () => {
  expect(read('\r\n\n{"type":"x"}\r\n \n')).toEqual(["unknown"]);
});

test("reads a whole last line without a newline and reports half a line", () => {
  expect(read('{"type":"x"}')).toEqual(["unknown"]);
  expect(read('{"type":"x"}\n{"ty')).toEqual(["unknown", "the output ended in the middle of a line"]);
});

test("drops an oversized line and reports it", () => {
  expect(read(`${"x".repeat(16)}\n{"a":1}\n`, 10)).toEqual(["a line of 17 bytes was dropped", "unknown"]);
});

test("replaces and reports bytes that are not UTF-8", () => {
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}\n')]);
  expect(read(bytes)).toEqual(["bytes that are not UTF-8 were replaced", "unknown"]);
});
