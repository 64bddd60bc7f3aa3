/** `holdfast sessions export`: a conversation as Markdown, JSON lines or JSON, secrets redacted. */
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { localTime } from "../../base/clock.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { replaceFile, temporaryPath } from "../../base/files.ts";
import { encodeLine } from "../../base/jsonl.ts";
import { redactText, redactValue } from "../../base/redact.ts";
import { locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import { findSession } from "../../session/find-session.ts";
import { entryToJson } from "../../transcript/codec.ts";
import { materializeFork } from "../../transcript/fork.ts";
import { readTranscript } from "../../transcript/reader.ts";
import { isFlushEntry } from "../../transcript/turn-mark.ts";
import { writeNewFile } from "../../transcript/rewrite.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { talk } from "../output.ts";
import { describeEntry } from "../transcript-view.ts";

const FORMATS = ["md", "jsonl", "json"] as const;
type Format = (typeof FORMATS)[number];

export interface ExportOptions extends AgentOptions {
  json?: boolean;
  format?: string;
  output?: string;
  noRedact?: boolean;
}

export async function exportSession(reference: string, options: ExportOptions): Promise<void> {
  const format = parseFormat(options.format ?? (options.json === true ? "json" : "md"));
  await withAgent(options, async (agent) => {
    const { key, entry, window } = await findSession(agent, reference);
    const path = window === undefined ? transcriptPath(agent, entry) : await locateWindowTranscript(agent, window);
    // A fork refers to its parent; what is exported has to stand alone.
    const whole = temporaryPath(path);
    try {
      await materializeFork(path, whole);
      await writeOut(RENDERERS[format](whole, { key, redact: options.noRedact !== true }), options.output);
    } finally {
      await rm(whole, { force: true });
    }
  });
}

function parseFormat(raw: string): Format {
  const format = FORMATS.find((known) => known === raw);
  if (format !== undefined) return format;
  throw new HoldfastError("usage", "invalid-option", `--format takes ${FORMATS.join(", ")}, not "${raw}"`);
}

async function writeOut(pieces: AsyncIterable<string>, output: string | undefined): Promise<void> {
  if (output === undefined) {
    await pipeline(pieces, process.stdout, { end: false });
    return;
  }
  const target = resolve(output);
  const temporary = temporaryPath(target);
  try {
    await writeNewFile(temporary, async (write) => {
      for await (const piece of pieces) await write(piece);
    });
    await replaceFile(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(error, "write", target);
  }
  talk(`Written to ${output}`);
}

interface RenderOptions {
  key: string;
  redact: boolean;
}

/** Piece by piece: a transcript may be larger than what fits into memory, or into one string. */
type Render = (path: string, options: RenderOptions) => AsyncIterable<string>;

const RENDERERS: Record<Format, Render> = { md: renderMarkdown, jsonl: renderLines, json: renderJson };

/** For people to read; the other formats hold every entry as it is. */
async function* renderMarkdown(path: string, { key, redact }: RenderOptions): AsyncGenerator<string> {
  yield `# ${key}\n`;
  for await (const item of readTranscript(path)) {
    const spoken = item.kind === "entry" && !isFlushEntry(item.entry) ? describeEntry(item.entry) : undefined;
    if (item.kind === "header" || spoken === undefined) continue;
    const text = redact ? redactText(spoken.text) : spoken.text;
    yield `\n## ${spoken.speaker} · ${localTime(Date.parse(item.entry.timestamp))}\n\n${text}\n`;
  }
}

async function* renderLines(path: string, { redact }: RenderOptions): AsyncGenerator<string> {
  for await (const item of readTranscript(path)) {
    const line = item.kind === "header" ? item.header : entryToJson(item.entry);
    yield encodeLine(redact ? redactValue(line) : line);
  }
}

async function* renderJson(path: string, { key, redact }: RenderOptions): AsyncGenerator<string> {
  yield `{\n  "key": ${JSON.stringify(key)},\n  "entries": [`;
  let separator = "\n";
  for await (const item of readTranscript(path)) {
    if (item.kind === "header") continue;
    const entry = entryToJson(item.entry);
    yield `${separator}    ${JSON.stringify(redact ? redactValue(entry) : entry)}`;
    separator = ",\n";
  }
  yield "\n  ]\n}\n";
}
