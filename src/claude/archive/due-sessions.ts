/** Which sessions Claude Code is about to delete, each with all files that belong to it. */
import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { listFolder } from "../native/layout.ts";
import { type NativeTranscript, listSubagents, listTranscripts } from "../native/transcripts.ts";

export interface DueSession extends NativeTranscript {
  files: SourceFile[];
}

export interface SourceFile {
  path: string;
  /** Below the project folder. */
  name: string;
  sizeBytes: number;
  modifiedAt: number;
}

/** A session is due when one of its files is: an old subagent's may go before the transcript. */
export async function findDue(claudeHome: string, threshold: number): Promise<{ sessions: number; due: DueSession[] }> {
  const due: DueSession[] = [];
  let sessions = 0;
  for await (const transcript of listTranscripts(claudeHome)) {
    sessions += 1;
    const files = await sourceFiles(transcript);
    if (files.some(({ modifiedAt }) => modifiedAt <= threshold)) due.push({ ...transcript, files });
  }
  return { sessions, due };
}

async function sourceFiles({ path, sessionId }: NativeTranscript): Promise<SourceFile[]> {
  const subagents = await listSubagents(path);
  const names = subagents.flatMap((subagent) => {
    const name = `${sessionId}/subagents/${basename(subagent.path, ".jsonl")}`;
    return [`${name}.jsonl`, `${name}.meta.json`];
  });
  // Long output of tools, to which the transcript only points.
  const results = (await listFolder(join(dirname(path), sessionId, "tool-results"))).filter((entry) => entry.isFile());
  const resultNames = results.map((entry) => `${sessionId}/tool-results/${entry.name}`).sort();
  const files: SourceFile[] = [];
  for (const name of [`${sessionId}.jsonl`, ...names, ...resultNames]) {
    const file = join(dirname(path), name);
    const stats: Stats | undefined = await lstat(file).catch(() => undefined);
    if (stats?.isFile() === true) files.push({ path: file, name, sizeBytes: stats.size, modifiedAt: stats.mtimeMs });
  }
  return files;
}
