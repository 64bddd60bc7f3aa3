import { describe, expect, test } from "vitest";
import { decodeEntry, entryToJson, parseLine } from "./codec.ts";

function parse(bytes: string | Uint8Array) {
  const buffer = Buffer.from(bytes);
  return parseLine({ bytes: buffer, offset: 0, end: buffer.length + 1, terminated: true, oversized: false });
}

describe("parseLine", () => {
  test.each([
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
    ["invalid UTF-8", Buffer.from("7b22e282227d", "hex")],
    ["invalid JSON", '{"type":'],
    ["NUL bytes instead of text", "\0\0\0"],
    ["not a JSON object", "[1]"],
    ["not a JSON object", "null"],
    ["blank line", "  \r"],
    ["header without a session id", '{"type":"session","version":3}'],
    ["header with an unreadable version", '{"type":"session","id":"a","version":"3"}'],
  ])("reports %s", (reason, bytes) => {
    expect(parse(bytes)).toEqual({ kind: "problem", reason });
  });

  test("reports an oversized line", () => {
    const line = { bytes: Buffer.alloc(0), offset: 10, end: 1010, terminated: true, oversized: true };
    expect(parseLine(line)).toEqual({ kind: "problem", reason: "line of 1000 bytes is too long to be read" });
  });

  test("keeps unknown header fields and reads a missing version as 1", () => {
    expect(parse('{"type":"session","id":"a","future":[1]}')).toMatchObject({
      kind: "header",
      header: { id: "a", version: 1, cwd: "", future: [1] },
    });
  });
});

describe("decodeEntry", () => {
  const place = { id: "00000001", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

  test("keeps unknown fields, __proto__ included", () => {
    const record = JSON.parse(
      `{"type":"session_info","name":"n","x":{"y":1},"__proto__":{"polluted":true},"id":"1","parentId":null,"timestamp":"t"}`,
    ) as Record<string, unknown>;
    const { entry } = decodeEntry(record);
    expect(entry && JSON.stringify(entryToJson(entry))).toContain('"__proto__":{"polluted":true}');
    expect(entry).toMatchObject({ name: "n", x: { y: 1 } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("keeps an entry of an unknown type unchanged, without a problem", () => {
    const record = { type: "hologram", light: 7, ...place };
    const decoded = decodeEntry(record);
    expect(decoded).toEqual({ entry: { type: "other", ...place, original: record } });
    expect(decoded.entry && entryToJson(decoded.entry)).toEqual(record);
  });

  test.each([
    [{ type: "message", ...place }],
    [{ type: "message", ...place, message: { role: "user" } }],
    [{ type: "message", ...place, message: { role: "user", content: [null] } }],
    [{ type: "message", ...place, message: { role: "user", content: [{ type: "text", text: 5 }] } }],
    [{ type: "compaction", ...place, summary: 5 }],
    [{ type: "model_change", ...place }],
  ])("keeps the position of an entry with invalid fields: %j", (record) => {
    const { entry, reason } = decodeEntry(record);
    expect(reason).toContain("missing or unreadable fields");
    expect(entry).toEqual({ type: "other", ...place, original: record });
  });

  test.each([[{ id: "1" }], [{ type: "message", id: 5 }], [{ type: "message", id: "" }]])("refuses %j", (record) => {
    expect(decodeEntry(record).entry).toBeUndefined();
  });

  test("reports an entry without a readable time", () => {
    expect(decodeEntry({ type: "session_info", id: "1", parentId: null }).reason).toBe("entry without a readable time");
  });
});
