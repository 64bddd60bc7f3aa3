import { appendFile, open, truncate, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { hashTranscript, transcriptFits } from "./read-transcript.ts";

const HEADER = '{"type":"session","id":"a"}\n';

async function hashOf(path: string, offset: number): Promise<string> {
  await using handle = await open(path, "r");
  return await hashTranscript(handle, offset);
}

describe.each(["session", "native"] as const)("the hash of a %s transcript", (kind) => {
  test.each([100, 200_000])("matches while the read part is unchanged (%i bytes)", async (length) => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    const text = `${HEADER}${"x".repeat(length)}\n`;
    const offset = text.length;
    await writeFile(path, text);
    const known = { offset, hash: await hashOf(path, offset) };
    expect(await transcriptFits(path, known, kind)).toBe(true);

    await appendFile(path, "more\n");
    expect(await transcriptFits(path, known, kind)).toBe(true);

    await writeFile(path, `${text.slice(0, -10)}${"y".repeat(9)}\n`);
    expect(await transcriptFits(path, known, kind)).toBe(false);

    await writeFile(path, text.replace('"a"', '"b"'));
    expect(await transcriptFits(path, known, kind)).toBe(false);

    await writeFile(path, text);
    expect(await transcriptFits(path, { ...known, offset: offset - 1 }, kind)).toBe(false);
    await truncate(path, offset - 1);
    expect(await transcriptFits(path, known, kind)).toBe(false);
  });

  test("does not match a missing file", async () => {
    await using folder = await temporaryFolder();
    expect(await transcriptFits(folder.join("none.jsonl"), { offset: 0, hash: "" }, kind)).toBe(false);
  });
});
