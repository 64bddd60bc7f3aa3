/** What the agents' answers took, from their transcripts: tokens and, where known, dollars. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";
import { agentLayout } from "../../config/layout.ts";
import { readTranscript } from "../../transcript/reader.ts";

export interface UsageRow {
  agentId: string;
  /** `provider/model`. */
  model: string;
  answers: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  costUsd: number;
}

/** Most tokens first. A transcript that cannot be read is what `doctor` is for; the rest is counted. */
export async function readUsage(home: string, agentIds: readonly string[], since: number): Promise<UsageRow[]> {
  const rows = new Map<string, UsageRow>();
  for (const agentId of agentIds) {
    for (const path of await recentTranscripts(agentLayout(home, agentId).sessionsFolder, since)) {
      await addTranscript(rows, agentId, path, since);
    }
  }
  return [...rows.values()].toSorted((a, b) => b.input + b.output - (a.input + a.output));
}

async function recentTranscripts(folder: string, since: number): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
  const times = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0));
  return paths.filter((_, index) => (times[index] ?? 0) >= since);
}

async function addTranscript(rows: Map<string, UsageRow>, agentId: string, path: string, since: number): Promise<void> {
  for await (const item of readTranscript(path)) {
    if (!("entry" in item) || item.entry.type !== "message") continue;
    const { message } = item.entry;
    if (message.role !== "assistant" || message.usage === undefined || message.timestamp < since) continue;
    const { usage, provider, model = "unknown" } = message;
    const name = provider === undefined ? model : `${provider}/${model}`;
    const row = rows.get(`${agentId} ${name}`) ?? emptyRow(agentId, name);
    row.answers += 1;
    row.input += amount(usage.input);
    row.output += amount(usage.output);
    row.cacheRead += amount(usage.cacheRead);
    row.cacheWrite += amount(usage.cacheWrite);
    row.costUsd += isRecord(usage.cost) ? amount(usage.cost.total) : 0;
    rows.set(`${agentId} ${name}`, row);
  }
}

/** Other tools write transcripts too, and leave out what they do not know. */
function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function emptyRow(agentId: string, model: string): UsageRow {
  return { agentId, model, answers: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
}
