/**
 * Whole hand-offs against what a careful reader would hand over. Conversations in `exam.jsonl` taught nothing; the
 * others taught the weights, so their figures promise nothing for new ones.
 */
import { expect, test } from "vitest";
import { digestConversation, PROJECT, readConversations } from "../../../scripts/handoff-conversations.ts";
import {
  addQuality,
  describe,
  emptyQuality,
  precisionOf,
  type Quality,
  recallOf,
} from "../../../scripts/handoff-quality.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { judge } from "./judge.ts";
import { SECTIONS } from "./score.ts";

const FOLDER = new URL("../../../test/fixtures/handoff/conversations/", import.meta.url);
const EXAM = new URL("exam.jsonl", FOLDER);

test("conversations that taught the weights", async () => {
  const quality = await measure(["a", "b", "c"].map((name) => new URL(`${name}.jsonl`, FOLDER)));
  print("taught", quality);
  for (const section of SECTIONS) {
    expect(precisionOf(quality.sections[section]), `${section} precision`).toBeGreaterThanOrEqual(0.55);
    expect(recallOf(quality.sections[section]), `${section} recall`).toBeGreaterThanOrEqual(0.5);
  }
  expect(quality.repeated.length).toBeLessThanOrEqual(8);
  expect(quality.forbidden.length).toBeLessThanOrEqual(20);
});

test("conversations that taught nothing", async () => {
  const quality = await measure([EXAM]);
  print("unseen", quality);
  for (const section of SECTIONS) {
    expect(precisionOf(quality.sections[section]), `${section} precision`).toBeGreaterThanOrEqual(0.5);
    expect(recallOf(quality.sections[section]), `${section} recall`).toBeGreaterThanOrEqual(0.4);
  }
});

async function measure(files: readonly URL[]): Promise<Quality> {
  await using folder = await temporaryFolder();
  const quality = emptyQuality();
  for (const file of files) {
    for (const conversation of await readConversations(file)) {
      const carried = await digestConversation(conversation, folder.path);
      addQuality(quality, conversation, judge(carried, { project: PROJECT }));
    }
  }
  return quality;
}

function print(title: string, quality: Quality): void {
  process.stdout.write(
    describe(quality)
      .map((line) => `${title.padEnd(8)}${line}\n`)
      .join(""),
  );
}
