/** `holdfast sessions export`: a conversation as Markdown, JSON lines or JSON, secrets redacted. */
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { readFileIfPresent, temporaryPath, writeFileDurable } from "../../base/files.ts";
import { redactText, redactValue } from "../../base/redact.ts";
import { locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import { resolveSession } from "../../session/resolve.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { materializeFork } from "../../transcript/fork.ts";
import { readTranscript } from "../../transcript/reader.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { formatTime, talk } from "../output.ts";
import { describeEntry } from "../transcript-view.ts";

const FORMATS = ["md", "jsonl", "json"] as const;
type Format = (typeof FORMATS)[number];

export interface ExportOptions extends AgentOptions {
  format?: string;
  output?: string;
  noRedact?: boolean;
}

export async function exportSession(reference: string, options: ExportOptions): Promise<void> {
  const format = parseFormat(options.format ?? "md");
  const text = await withAgent(options, async (agent) => {
    const { key, entry, window } = await resolveSession(agent, reference);
    const path = window === undefined ? transcriptPath(agent, entry) : await locateWindowTranscript(agent, window);
    return await render(path, format, { key, redact: options.noRedact !== true });
  });
  if (options.output === undefined) {
    process.stdout.write(text);
  } else {
    await writeFileDurable(resolve(options.output), text);
    talk(`Written to ${options.output}`);
  }
}

function parseFormat(raw: string): Format {
  const format = FORMATS.find((known) => known === raw);
  if (format !== undefined) return format;
  throw new HoldfastError("usage", "invalid-option", `--format takes ${FORMATS.join(", ")}, not "${raw}"`);
}

async function render(path: string, format: Format, options: { key: string; redact: boolean }): Promise<string> {
  // A fork refers to its parent; what is exported has to stand alone.
  const whole = temporaryPath(path);
  try {
    await materializeFork(path, whole);
    if (format === "jsonl") return await renderLines(whole, options.redact);
    const entries = await readAll(whole);
    if (format === "md") return renderMarkdown(options.key, entries, options.redact);
    return `${JSON.stringify({ key: options.key, entries: options.redact ? redactValue(entries) : entries }, undefined, 2)}\n`;
  } finally {
    await rm(whole, { force: true });
  }
}

async function renderLines(path: string, redact: boolean): Promise<string> {
  const content = String(await readFileIfPresent(path));
  if (!redact) return content;
  const lines = content.split("\n").filter((line) => line !== "");
  return `${lines.map((line) => JSON.stringify(redactValue(JSON.parse(line)))).join("\n")}\n`;
}

async function readAll(path: string): Promise<TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for await (const item of readTranscript(path)) {
    if (item.kind === "entry") entries.push(item.entry);
  }
  return entries;
}

function renderMarkdown(key: string, entries: readonly TranscriptEntry[], redact: boolean): string {
  const parts = entries.flatMap((entry) => {
    const spoken = describeEntry(entry);
    if (spoken === undefined) return [];
    const text = redact ? redactText(spoken.text) : spoken.text;
    return [`## ${spoken.speaker} · ${formatTime(Date.parse(entry.timestamp))}\n\n${text}\n`];
  });
  return `# ${key}\n\n${parts.join("\n")}`;
}
