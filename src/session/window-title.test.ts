import { expect, it } from "vitest";
import { testAgent } from "../../test/support/test-agent.ts";
import { assistantDraft, userDraft } from "../../test/support/transcripts.ts";
import type { DraftEntry } from "../transcript/entries.ts";
import { openTranscriptLog } from "../transcript/log.ts";
import { initSessionState } from "./init.ts";
import { readWindowTitle } from "./window-title.ts";

async function titleOf(drafts: readonly DraftEntry[]): Promise<string | undefined> {
  await using fixture = await testAgent();
  const { agent, config } = fixture;
  const ctx = { SessionKey: "main", Body: "x" };
  const { sessionKey, transcriptPath } = await initSessionState({ agent, ctx, cfg: config });
  await using log = await openTranscriptLog({ path: transcriptPath });
  await log.append(drafts);
  const [window] = await agent.store.windows(sessionKey);
  return window === undefined ? "no window" : await readWindowTitle(agent, window);
}

it("is the first thing that a person said, shortened", async () => {
  expect(
    await titleOf([assistantDraft("welcome"), userDraft(" "), userDraft("plant\ntomatoes"), userDraft("no")]),
  ).toBe("plant tomatoes");
  expect((await titleOf([userDraft("word ".repeat(100))]))?.length).toBeLessThanOrEqual(60);
});

it("leaves out what the agent was told around it", async () => {
  const wrapped = "[Current message - respond to this]\n[Dec 4] Alice: water them";
  expect(await titleOf([userDraft(wrapped)])).toBe("water them");
  expect(
    await titleOf([{ ...userDraft("System: [now] x\n\nhello\n[from: Alice]"), said: "hello" } as DraftEntry]),
  ).toBe("hello");
});

it("passes over what the agent was told to save", async () => {
  const flush = { ...userDraft("write down what matters"), turnId: "flush:t1" } as DraftEntry;
  expect(await titleOf([flush, userDraft("plant tomatoes")])).toBe("plant tomatoes");
});

it("is missing where nobody spoke soon", async () => {
  expect(await titleOf([])).toBeUndefined();
  expect(await titleOf([...Array.from({ length: 40 }, () => assistantDraft("…")), userDraft("late")])).toBeUndefined();
});
