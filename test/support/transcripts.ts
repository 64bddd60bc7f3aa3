/** Writing and reading transcripts in tests. */
import { writeFile } from "node:fs/promises";
import type { DraftEntry, TranscriptEntry } from "../../src/transcript/entries.ts";
import { contentText } from "../../src/transcript/messages.ts";
import { readTranscript, type ReadReport } from "../../src/transcript/reader.ts";

export const HEADER = { type: "session", version: 3, id: "sid", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/ws" };

export function userDraft(text: string): DraftEntry {
  return { type: "message", message: { role: "user", content: [{ type: "text", text }], timestamp: 1 } };
}

export function assistantDraft(text: string): DraftEntry {
  return {
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "text", text }],
      api: "test",
      provider: "test",
      model: "model-1",
      usage: {
        input: 1,
        output: 1,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 2,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      },
      stopReason: "stop",
      timestamp: 2,
    },
  };
}

/** A user's message as a line of the file. */
export function messageLine(id: string, parentId: string | null, text: string): Record<string, unknown> {
  return {
    type: "message",
    id,
    parentId,
    timestamp: HEADER.timestamp,
    message: { role: "user", content: text, timestamp: 1 },
  };
}

/** Writes strings and bytes unchanged and everything else as JSON. */
export async function writeLines(path: string, lines: readonly unknown[]): Promise<void> {
  const parts = lines.map((line) => {
    if (line instanceof Uint8Array) return Buffer.concat([line, Buffer.from("\n")]);
    return Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  });
  await writeFile(path, Buffer.concat(parts));
}

export async function readAll(path: string): Promise<{ entries: TranscriptEntry[]; report: ReadReport }> {
  const reading = readTranscript(path);
  const entries: TranscriptEntry[] = [];
  for await (const item of reading) if (item.kind === "entry") entries.push(item.entry);
  return { entries, report: reading.report };
}

export function textOf(entry: TranscriptEntry | undefined): string {
  return entry?.type === "message" && "content" in entry.message ? contentText(entry.message.content) : "";
}
