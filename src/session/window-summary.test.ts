import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createAgentHome } from "../../test/support/agent-home.ts";
import { assistantDraft, userDraft, HEADER, messageLine, writeLines } from "../../test/support/transcripts.ts";
import type { DraftEntry } from "../transcript/entries.ts";
import { openTranscriptLog } from "../transcript/log.ts";
import { initSessionState } from "./init.ts";
import { deriveSessionTitle } from "./title.ts";
import { readWindowTitle, readWindowCost } from "./window-summary.ts";

async function titleOf(drafts: readonly DraftEntry[]): Promise<string | undefined> {
  await using fixture = await createAgentHome();
  const { agent, config } = fixture;
  const ctx = { SessionKey: "main", Body: "x" };
  const { sessionKey, transcriptPath } = await initSessionState({ agent, ctx, cfg: config });
  await using log = await openTranscriptLog({ path: transcriptPath });
  await log.append(drafts);
  const [window] = await agent.store.windows(sessionKey);
  return window === undefined ? "no window" : await readWindowTitle(agent, window);
}

it("is the person's first message, shortened", async () => {
  expect(
    await titleOf([assistantDraft("welcome"), userDraft(" "), userDraft("plant\ntomatoes"), userDraft("no")]),
  ).toBe("plant tomatoes");
  expect((await titleOf([userDraft("word ".repeat(100))]))?.length).toBeLessThanOrEqual(60);
});

it("leaves out context around the message", async () => {
  const wrapped = "[Current message - respond to this]\n[Dec 4] Alice: water them";
  expect(await titleOf([userDraft(wrapped)])).toBe("water them");
  expect(
    await titleOf([{ ...userDraft("System: [now] x\n\nhello\n[from: Alice]"), said: "hello" } as DraftEntry]),
  ).toBe("hello");
});

it("skips memory flushes", async () => {
  const flush = { ...userDraft("write down what matters"), turnId: "flush:t1" } as DraftEntry;
  expect(await titleOf([flush, userDraft("plant tomatoes")])).toBe("plant tomatoes");
});

it("is missing without an early message", async () => {
  expect(await titleOf([])).toBeUndefined();
  expect(await titleOf([...Array.from({ length: 40 }, () => assistantDraft("…")), userDraft("late")])).toBeUndefined();
});

it.each([
  [{ sessionId: "0f8c2a31-77aa", updatedAt: Date.UTC(2026, 10, 16, 23, 59) }, "0f8c2a31 (2026-11-16)"],
  [{ sessionId: "0f8c2a31-77aa", updatedAt: 0 }, "0f8c2a31"],
  [{ sessionId: "0f8c2a31-77aa", updatedAt: Number.MAX_VALUE }, "0f8c2a31"],
  [{ sessionId: "", updatedAt: 1 }, undefined],
  [{ sessionId: "s", updatedAt: 1, subject: "Garden" }, "Garden"],
])("of a session without a message is its id and its day: %j", (entry, title) => {
  expect(deriveSessionTitle(entry)).toBe(title);
});

function answerLine(id: string, usage: unknown): Record<string, unknown> {
  const message = { role: "assistant", content: [{ type: "text", text: "answer" }], usage, timestamp: 1 };
  return { ...messageLine(id, null, ""), message };
}

it("adds up the costs of answers, and nothing else", async () => {
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

it("is unknown for a missing or empty transcript", async () => {
  await using folder = await temporaryFolder();
  expect(await readWindowCost(folder.join("none.jsonl"))).toBeUndefined();
  expect(await readWindowCost(folder.path)).toBeUndefined();
  await writeFile(folder.join("empty.jsonl"), "");
  expect(await readWindowCost(folder.join("empty.jsonl"))).toEqual({ usd: 0, complete: true });
});
