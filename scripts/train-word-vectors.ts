/**
 * Learns word vectors for search from documentation with permissive licences and writes data/word-vectors.bin:
 *
 *   node scripts/train-word-vectors.ts <folder> [--words 20000] [--dimensions 200] [--out file]
 *
 * `<folder>` has one folder per Debian package of data/README.md, unpacked with `dpkg -x`. The vectors are the first
 * singular vectors of the positive pointwise mutual information between words that are close to each other. The same
 * texts give the same file.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { vectorWords } from "../src/memory/word-vectors.ts";
import { type SparseMatrix, leadingVectors } from "./singular-vectors.ts";

const TARGET = fileURLToPath(new URL("../data/word-vectors.bin", import.meta.url));
/** Words on each side that count as close. */
const WINDOW = 8;
const CONTEXTS = 8000;
/** No package decides alone what a word means. */
const MAX_PACKAGE_WORDS = 2_500_000;
/** All vectors have this length; single numbers are rarely larger than half of it. */
const SCALE = 254;
/** Makes rare contexts count less. */
const SMOOTHING = 0.75;
const TEXT_FILE = /\.(?:html?|txt|rst|md|dict)(?:\.gz|\.dz)?$/;

/** Paragraphs that were read: pages repeat their frames. */
const seen = new Set<string>();

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    words: { type: "string", default: "20000" },
    dimensions: { type: "string", default: "200" },
    out: { type: "string", default: TARGET },
  },
});
main(positionals[0] ?? "", Number(values.words), Number(values.dimensions), values.out);

function main(folder: string, wordCount: number, dimensions: number, target: string): void {
  const paragraphs = readdirSync(folder).flatMap((name) => readPackage(join(folder, name)));
  const counts = new Map<string, number>();
  for (const paragraph of paragraphs) {
    for (const word of paragraph) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, wordCount)
    .map(([word]) => word);
  const matrix = informationMatrix(paragraphs, words);
  console.error(`${matrix.values.length.toLocaleString("en")} pairs`);
  const vectors = leadingVectors(matrix, dimensions);
  writeFileSync(target, Buffer.concat([Buffer.from(`${words.join(" ")}\n`), toBytes(vectors, dimensions)]));
}

/** Row by row, around the mean, so that what all words share does not count. */
function toBytes(vectors: Float32Array, dimensions: number): Buffer {
  const rows = Array.from({ length: vectors.length / dimensions }, (_, row) =>
    vectors.subarray(row * dimensions, (row + 1) * dimensions),
  );
  const mean = Array.from({ length: dimensions }, (_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
  return Buffer.concat(
    rows.map((row) => {
      const centred = row.map((value, at) => value - mean[at]);
      const length = Math.hypot(...centred) || 1;
      return Buffer.from(Int8Array.from(centred, (value) => clamp((value / length) * SCALE)).buffer);
    }),
  );
}

function clamp(value: number): number {
  return Math.max(-127, Math.min(127, Math.round(value)));
}

/** The words of each paragraph. */
function readPackage(folder: string): string[][] {
  const paragraphs: string[][] = [];
  let size = 0;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name));
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    for (const text of plainText(path).split(/\n\s*\n/)) {
      const words = vectorWords(text);
      const key = words.join(" ");
      if (words.length < 4 || seen.has(key)) continue;
      seen.add(key);
      paragraphs.push(words);
      size += words.length;
    }
    if (size > MAX_PACKAGE_WORDS) break;
  }
  console.error(`${folder}: ${size.toLocaleString("en")} words`);
  return paragraphs;
}

function plainText(path: string): string {
  const bytes = readFileSync(path);
  const text = (/\.[gd]z$/.test(path) ? gunzipSync(bytes) : bytes).toString("utf8");
  if (!/\.html?(?:\.gz)?$/.test(path)) return text.replace(/\n(?=\S)/g, path.includes(".dict") ? "\n\n" : "\n");
  return text
    .replace(/<(script|style|pre|svg|nav|footer)\b[\s\S]*?<\/\1>/gi, "\n\n")
    .replace(/<\/?(?:p|div|li|dd|dt|h\d|td|th|tr|table|section|ul|ol|dl|br)\b[^>]*>/gi, "\n\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&[a-z]+;|&#\d+;/g, " ");
}

function informationMatrix(paragraphs: readonly string[][], words: readonly string[]): SparseMatrix {
  const ids = new Map(words.map((word, id) => [word, id]));
  const contexts = Math.min(CONTEXTS, words.length);
  const counts = new Float32Array(words.length * contexts);
  for (const paragraph of paragraphs) {
    const known = paragraph.flatMap((word) => ids.get(word) ?? []);
    for (const [at, id] of known.entries()) {
      for (let other = Math.max(0, at - WINDOW); other < at; other += 1) {
        const near = known[other];
        if (near === id) continue;
        if (near < contexts) counts[id * contexts + near] += 1;
        if (id < contexts) counts[near * contexts + id] += 1;
      }
    }
  }
  const ofContext = new Float64Array(contexts);
  for (const [place, count] of counts.entries()) ofContext[place % contexts] += count;
  const smoothed = ofContext.map((count) => count ** SMOOTHING);
  const total = smoothed.reduce((sum, count) => sum + count, 0);
  const starts = [0];
  const columns: number[] = [];
  const information: number[] = [];
  for (let row = 0; row < words.length; row += 1) {
    const own = counts.subarray(row * contexts, (row + 1) * contexts);
    const ofWord = own.reduce((sum, count) => sum + count, 0);
    for (const [column, count] of own.entries()) {
      const value = count === 0 ? 0 : Math.log((count * total) / (ofWord * smoothed[column]));
      if (value <= 0) continue;
      columns.push(column);
      information.push(value);
    }
    starts.push(columns.length);
  }
  return {
    rows: words.length,
    width: contexts,
    starts: Int32Array.from(starts),
    columns: Int32Array.from(columns),
    values: Float32Array.from(information),
  };
}
