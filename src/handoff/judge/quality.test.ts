/**
 * Whole hand-offs against what a careful reader would hand over. All of these conversations taught the weights, so
 * the figures promise less for new ones: `scripts/train-handoff.ts --dry-run` judges each author by the others.
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
import { type Section, SECTIONS } from "../patterns/note.ts";

const FOLDER = new URL("../../../test/fixtures/handoff/conversations/", import.meta.url);

/** Close to today's figures: a change that makes hand-offs worse should be noticed. */
const LEAST: Readonly<Record<Section, { precision: number; recall: number }>> = {
  "in-progress": { precision: 0.75, recall: 0.68 },
  blocker: { precision: 0.83, recall: 0.61 },
  decision: { precision: 0.85, recall: 0.41 },
  accomplishment: { precision: 0.9, recall: 0.68 },
  "next-step": { precision: 0.94, recall: 0.72 },
};

test("conversations that taught the weights", async () => {
  const names = ["a", "b", "c", "p", "q", "r"];
  const quality = await measure(names.map((name) => new URL(`${name}.jsonl`, FOLDER)));
  print("taught", quality);
  for (const section of SECTIONS) {
    const { precision, recall } = LEAST[section];
    expect(precisionOf(quality.sections[section]), `${section} precision`).toBeGreaterThanOrEqual(precision);
    expect(recallOf(quality.sections[section]), `${section} recall`).toBeGreaterThanOrEqual(recall);
  }
  expect(quality.repeated.length).toBeLessThanOrEqual(17);
  expect(quality.forbidden.length).toBeLessThanOrEqual(14);
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
