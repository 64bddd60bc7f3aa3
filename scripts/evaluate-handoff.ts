/**
 * Measures hand-offs on labelled conversations: each becomes a transcript, is captured with the shipped weights, and
 * its lines are compared with what a careful reader would hand over.
 *
 *   npx node scripts/evaluate-handoff.ts [--show] <file.jsonl>…
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge } from "../src/handoff/judge/judge.ts";
import { digestConversation, PROJECT, readConversations } from "./handoff-conversations.ts";
import { addQuality, describe, emptyQuality } from "./handoff-quality.ts";

const args = process.argv.slice(2);
const isShown = args.includes("--show");
const folder = await mkdtemp(join(tmpdir(), "handoff-evaluation-"));
try {
  const quality = emptyQuality();
  for (const file of args.filter((arg) => !arg.startsWith("--"))) {
    for (const conversation of await readConversations(file)) {
      const carried = await digestConversation(conversation, folder);
      const report = addQuality(quality, conversation, judge(carried, { project: PROJECT }));
      if (isShown) say(report);
    }
  }
  say(describe(quality));
  if (isShown)
    say([
      ...quality.forbidden.map((line) => `forbidden: ${line}`),
      ...quality.repeated.map((line) => `repeated: ${line}`),
    ]);
} finally {
  await rm(folder, { recursive: true });
}

function say(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
