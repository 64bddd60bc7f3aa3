import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { HEADER, messageLine, writeLines } from "../../test/support/transcripts.ts";
import { readWindowCost } from "./window-cost.ts";

function answerLine(id: string, usage: unknown): Record<string, unknown> {
  const message = { role: "assistant", content: [{ type: "text", text: "answer" }], usage, timestamp: 1 };
  return { ...messageLine(id, null, ""), message };
}

it("adds up what answers say they cost, and takes nothing else for a price", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("t.jsonl");
  await writeLines(path, [
    HEADER,
    messageLine("00000001", null, "question"),
    answerLine("00000002", { cost: { total: 0.25 } }),
    answerLine("00000003", { cost: { total: -1 } }),
    answerLine("00000004", { cost: { total: "9" } }),
    answerLine("00000005", {}),
    answerLine("00000006", undefined),
    answerLine("00000007", { cost: { total: 0.5 } }),
    "{torn",
  ]);
  expect(await readWindowCost(path)).toEqual({ usd: 0.75, complete: true });
});

it("counts the newest part of a long transcript and says so", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("t.jsonl");
  const answers = Array.from({ length: 100 }, (_, index) =>
    answerLine(String(index).padStart(8, "0"), { cost: { total: 1 } }),
  );
  await writeLines(path, [HEADER, ...answers]);
  const counted = await readWindowCost(path, 2000);
  expect(counted?.complete).toBe(false);
  expect(counted?.usd).toBeGreaterThan(2);
  expect(counted?.usd).toBeLessThan(20);
});

it("knows nothing of a transcript that is missing or empty", async () => {
  await using folder = await temporaryFolder();
  expect(await readWindowCost(folder.join("none.jsonl"))).toBeUndefined();
  expect(await readWindowCost(folder.path)).toBeUndefined();
  await writeFile(folder.join("empty.jsonl"), "");
  expect(await readWindowCost(folder.join("empty.jsonl"))).toEqual({ usd: 0, complete: true });
});
