/**
 * Learns the judge's weights from the labelled conversations in test/fixtures/handoff/conversations and writes
 * data/handoff-weights.json. Run it after a change of signals, cues, digests or the sentence scorer:
 *
 *   npx node scripts/train-handoff.ts [--dry-run] [--show] [<file.jsonl>…]
 *
 * Prints how each author's conversations are judged by weights learned from the other authors.
 */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dataFile } from "../src/base/package.ts";
import { judge } from "../src/handoff/judge/judge.ts";
import { digestConversation, PROJECT, readConversations } from "./handoff-conversations.ts";
import { addQuality, describe, emptyQuality } from "./handoff-quality.ts";
import { type Digested, learnWeights } from "./handoff-training.ts";

const FOLDER = fileURLToPath(new URL("../test/fixtures/handoff/conversations", import.meta.url));
/** Kept aside: nothing is learned from it. */
const EXAM = "exam.jsonl";

const args = process.argv.slice(2);
const flags = new Set(args.filter((arg) => arg.startsWith("--")));
const named = args.filter((arg) => !arg.startsWith("--"));
const files =
  named.length > 0
    ? named
    : (await readdir(FOLDER))
        .filter((name) => name.endsWith(".jsonl") && name !== EXAM)
        .map((name) => join(FOLDER, name));
const folder = await mkdtemp(join(tmpdir(), "handoff-training-"));
try {
  const digested = await digestAll(files);
  const all = emptyQuality();
  for (const author of new Set(digested.map(authorOf))) {
    if (author === "earlier") continue;
    const weights = learnWeights(digested.filter((one) => authorOf(one) !== author));
    const own = emptyQuality();
    for (const { conversation, carried } of digested.filter((one) => authorOf(one) === author)) {
      const items = judge(carried, { project: PROJECT, weights });
      addQuality(own, conversation, items);
      const report = addQuality(all, conversation, items);
      if (flags.has("--show")) say(report);
    }
    say([`author ${author}`, ...describe(own).map((line) => `  ${line}`)]);
  }
  say([
    "each author judged by the others",
    ...describe(all).map((line) => `  ${line}`),
    ...all.forbidden.map((line) => `  forbidden: ${line}`),
    ...all.repeated.map((line) => `  repeated: ${line}`),
  ]);
  if (!flags.has("--dry-run")) {
    await writeFile(dataFile("handoff-weights.json"), `${JSON.stringify(learnWeights(digested), undefined, 2)}\n`);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function digestAll(paths: readonly string[]): Promise<Digested[]> {
  const conversations = (await Promise.all(paths.map(readConversations))).flat();
  return await Promise.all(
    conversations.map(async (conversation) => ({
      conversation,
      carried: await digestConversation(conversation, folder),
    })),
  );
}

function authorOf({ conversation }: Digested): string {
  return conversation.id.split("-")[0] ?? "";
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}
