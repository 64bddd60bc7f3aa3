/**
 * Learns the judge's weights from the labelled conversations in test/fixtures/handoff/conversations and writes
 * data/handoff-weights.json and the sections of data/pattern-weights.tsv. Run it after a change of signals, cues, digests or the sentence scorer:
 *
 *   npx node scripts/train-handoff.ts [--dry-run] [--show] [--sweep] [<file.jsonl>…]
 *
 * Prints how each author's conversations are judged by weights learned from the other authors. With `--sweep` also for
 * other thresholds of each section.
 */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dataFile } from "../src/base/package.ts";
import { judge } from "../src/handoff/judge/judge.ts";
import { WEIGHED } from "../src/handoff/judge/score.ts";
import { digestWithFeatures, PROJECT, readConversations } from "./handoff-conversations.ts";
import { addQuality, describe, emptyQuality, type Quality } from "./handoff-quality.ts";
import {
  type Digested,
  type Learned,
  learnWeights,
  prepare,
  type Prepared,
  setWords,
  THRESHOLDS,
} from "./handoff-training.ts";
import { writeSectionColumns } from "./pattern-weights.ts";

const FOLDER = fileURLToPath(new URL("../test/fixtures/handoff/conversations", import.meta.url));
/** Around each threshold. */
const STEPS = [-0.9, -0.6, -0.3, 0.3, 0.6, 0.9];

const args = process.argv.slice(2);
const flags = new Set(args.filter((arg) => arg.startsWith("--")));
const named = args.filter((arg) => !arg.startsWith("--"));
const files =
  named.length > 0
    ? named
    : (await readdir(FOLDER)).filter((name) => name.endsWith(".jsonl")).map((name) => join(FOLDER, name));
const folder = await mkdtemp(join(tmpdir(), "handoff-training-"));
try {
  const prepared = (await digestAll(files)).map(prepare);
  const authors = Array.from(new Set(prepared.map(authorOf))).filter((author) => author !== "earlier");
  const learned = new Map(
    authors.map((author) => [author, learnWeights(prepared.filter((one) => authorOf(one) !== author))]),
  );
  for (const author of authors) {
    const quality = judgeAll(
      prepared.filter((one) => authorOf(one) === author),
      learned,
    );
    say([`author ${author}`, ...describe(quality).map((line) => `  ${line}`)]);
  }
  const all = judgeAll(prepared, learned, flags.has("--show"));
  say([
    "each author judged by the others",
    ...describe(all).map((line) => `  ${line}`),
    ...(flags.has("--show") ? all.forbidden.map((line) => `  forbidden: ${line}`) : []),
    ...(flags.has("--show") ? all.repeated.map((line) => `  repeated: ${line}`) : []),
  ]);
  if (flags.has("--sweep")) sweep(prepared, learned);
  if (!flags.has("--dry-run")) {
    const { weights, words } = learnWeights(prepared);
    await writeFile(dataFile("handoff-weights.json"), `${JSON.stringify(weights, undefined, 2)}\n`);
    await writeSectionColumns(words);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function digestAll(paths: readonly string[]): Promise<Digested[]> {
  const conversations = (await Promise.all(paths.map(readConversations))).flat();
  return await Promise.all(
    conversations.map(async (conversation) => ({
      conversation,
      ...(await digestWithFeatures(conversation, folder)),
    })),
  );
}

/** Each conversation by the weights that were learned without its author. */
function judgeAll(prepared: readonly Prepared[], learned: ReadonlyMap<string, Learned>, isShown = false): Quality {
  const quality = emptyQuality();
  for (const one of prepared) {
    const known = learned.get(authorOf(one));
    if (known === undefined) continue;
    setWords(one, known.words);
    const { weights } = known;
    const report = addQuality(quality, one.conversation, judge(one.carried, { project: PROJECT, weights }));
    if (isShown) say(report);
  }
  return quality;
}

function sweep(prepared: readonly Prepared[], learned: ReadonlyMap<string, Learned>): void {
  for (const section of WEIGHED) {
    for (const step of STEPS) {
      const threshold = Math.round((THRESHOLDS[section] + step) * 10) / 10;
      const moved = new Map(
        Array.from(learned, ([author, { weights, words }]) => [
          author,
          { words, weights: { ...weights, [section]: { ...weights[section], threshold } } },
        ]),
      );
      const lines = describe(judgeAll(prepared, moved));
      const figures = lines.find((line) => line.startsWith(section === "open" ? "in-progress" : section));
      say([`${section} at ${threshold}: ${figures}; ${lines.at(-1)}`]);
    }
  }
}

function authorOf({ conversation }: Digested): string {
  return conversation.id.split("-")[0] ?? "";
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}
