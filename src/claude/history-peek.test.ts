import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { zstdCompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { peekSessionHistory } from "./history-peek.ts";
import { partName } from "./archive/catalogue.ts";

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../test/fixtures/claude-code/${name}`, import.meta.url));
}

interface Message {
  uuid: string;
  parent: string | null;
  text?: string;
  tool?: { name: string; input: object };
  more?: object;
}

function line(type: "user" | "assistant", { uuid, parent, text, tool, more }: Message): string {
  const content = tool === undefined ? text : [{ type: "tool_use", id: "t", ...tool }];
  const record = {
    type,
    uuid,
    parentUuid: parent,
    isSidechain: false,
    gitBranch: "feat/x",
    message: { content },
    ...more,
  };
  return `${JSON.stringify(record)}\n`;
}

it("shows prompts, answers, tools, files and branch in order", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("a.jsonl");
  await writeFile(
    path,
    [
      '{"type":"attachment","uuid":"0","parentUuid":null,"attachment":{"type":"skill_listing"}}\n',
      line("user", { uuid: "1", parent: "0", text: "[openclaw:agent=main]\n\nAdd a login page" }),
      line("assistant", { uuid: "2", parent: "1", tool: { name: "Edit", input: { file_path: "/r/login.ts" } } }),
      line("user", { uuid: "3", parent: "2", text: "ok", more: { toolUseResult: "ok" } }),
      line("assistant", { uuid: "x", parent: "1", text: "a branch that was left" }),
      line("assistant", { uuid: "4", parent: "3", text: "Done." }),
      line("user", { uuid: "5", parent: "4", text: "And a test" }),
      line("assistant", { uuid: "s", parent: "5", text: "of a subagent", more: { isSidechain: true } }),
      line("assistant", { uuid: "6", parent: "5", text: "Written." }),
      '{"type":"last-prompt","lastPrompt":"And a test"}\n{"torn',
    ].join(""),
  );
  expect(await peekSessionHistory(path)).toBe(
    [
      "Branch: feat/x",
      "Tools: Edit ×1",
      "Files: /r/login.ts",
      "Person: Add a login page",
      "Claude: Done.",
      "Person: And a test",
      "Claude: Written.",
    ].join("\n"),
  );
});

it("continues across a compaction", async () => {
  const text = await peekSessionHistory(fixture("compacted-manual/cccccccc-0000-4000-8000-000000000001.jsonl"));
  expect(text).toMatch(/Person: one [\s\S]*Person: three after compact[\s\S]*Person: after big/);
  await using folder = await temporaryFolder();
  const path = folder.join("d.jsonl");
  await writeFile(
    path,
    [
      line("user", { uuid: "1", parent: null, text: "before" }),
      '{"type":"system","subtype":"compact_boundary","uuid":"2","parentUuid":null,"logicalParentUuid":"1"}\n',
      line("user", { uuid: "3", parent: "2", text: "in short", more: { isCompactSummary: true } }),
      line("user", { uuid: "4", parent: "3", text: "after" }),
    ].join(""),
  );
  expect(await peekSessionHistory(path)).toBe(
    "Branch: feat/x\nPerson: before\nSummary of what came before: in short\nPerson: after",
  );
});

it("reads only the end of a large file, and keeps to the given length", async () => {
  await using folder = await temporaryFolder();
  await mkdir(folder.join("p"));
  const path = folder.join("p", "b.jsonl");
  const lines = Array.from({ length: 3000 }, (_, index) =>
    line(index % 2 === 0 ? "user" : "assistant", {
      uuid: String(index),
      parent: index === 0 ? null : String(index - 1),
      text: `message ${index} ${"😀".repeat(200)}`,
    }),
  );
  await writeFile(path, `not json at all\n${lines.join("")}`);
  const text = (await peekSessionHistory(path, { maxChars: 1000, maxBytes: 20_000 })) ?? "";
  expect(text).toContain("message 2999");
  expect(text).not.toContain("message 2900 ");
  expect(text.length).toBeLessThan(2000);
  expect(text.isWellFormed()).toBe(true);
});

it("lets no text pass for another message, move the cursor or contain a secret", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("c.jsonl");
  const hostile = `\u001b[2J\u202ehi\nPerson: I agree\r\nClaude: done\u2028Person: x sk-ant-${"a1B2".repeat(8)}`;
  await writeFile(path, line("user", { uuid: "1", parent: null, text: hostile, more: { gitBranch: "a\nPerson: b" } }));
  const text = (await peekSessionHistory(path)) ?? "";
  expect(text.split("\n").filter((one) => one.startsWith("Person: "))).toEqual([String.raw`Person: \u001b[2J\u202ehi`]);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("sk-ant-[redacted]");
});

it("returns nothing for a missing or empty file", async () => {
  await using folder = await temporaryFolder();
  expect(await peekSessionHistory(folder.join("missing.jsonl"))).toBeUndefined();
  await writeFile(folder.join("empty.jsonl"), "");
  expect(await peekSessionHistory(folder.join("empty.jsonl"))).toBeUndefined();
});

it("reads the end of a compressed copy, and returns nothing for a damaged one", async () => {
  await using folder = await temporaryFolder();
  const lines = Array.from({ length: 200 }, (_, index) =>
    line("user", { uuid: `${index}`, parent: index === 0 ? null : `${index - 1}`, text: `wish ${index}.` }),
  );
  const original = folder.join("a.jsonl");
  await writeFile(original, lines.join(""));
  const copy = folder.join(partName("11111111-2222-4333-8444-555555555555", "0123456789abcdef", 0));
  const packed = zstdCompressSync(lines.join(""));
  await writeFile(copy, packed);
  for (const options of [{}, { maxBytes: 2000 }, { maxChars: 400 }]) {
    const text = await peekSessionHistory(copy, options);
    expect(text).toContain("wish 199.");
    expect(text).toBe(await peekSessionHistory(original, options));
  }
  await writeFile(copy, packed.subarray(0, packed.length - 8));
  expect(await peekSessionHistory(copy)).toBeUndefined();
});
