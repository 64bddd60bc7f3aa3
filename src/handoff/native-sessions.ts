/**
 * Claude Code's sessions that have ended, from its transcripts alone: no hook needs to have run. Sessions in
 * which Holdfast's own agents talk with people are left out: what those leave is for these people only.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJson } from "../base/json-record.ts";
import { readLines } from "../base/jsonl.ts";
import { isHoldfastEntrypoint } from "../claude/attribution.ts";
import {
  listFolder,
  openNativeFile,
  projectFolderName,
  projectsFolder,
  listProjectTranscripts,
} from "../claude/native/layout.ts";
import { readRunningSessions } from "../claude/native/running.ts";
import type { CaptureTarget } from "./handoff.ts";

export type NativeTarget = Extract<CaptureTarget, { kind: "native" }>;

export interface EndedQuery {
  claudeHome: string;
  /** Only sessions that were started in one of these folders, or below it. Left out: everywhere. */
  folders?: readonly string[];
  /** Of those, only what began where this says so: names of folders tell too little. */
  isHere?: (cwd: string) => boolean | Promise<boolean>;
  /** Only those written to since (ms). */
  since: number;
  /** The newest so many. */
  limit: number;
  /** Not these sessions. */
  except?: readonly string[];
}

/** Newest first. */
export async function findEndedSessions(query: EndedQuery): Promise<NativeTarget[]> {
  const { claudeHome, since, limit, except = [], isHere } = query;
  const folders = await projectFolders(query);
  const lists = await Promise.all(folders.map(async (folder) => await listProjectTranscripts(folder).catch(() => [])));
  const running = await runningIds(claudeHome);
  const candidates = lists.flat().filter(({ sessionId }) => !except.includes(sessionId) && !running.has(sessionId));
  const dated = await Promise.all(
    candidates.map(async (transcript) => ({
      ...transcript,
      at: (await stat(transcript.path).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  );
  const newest = dated.filter(({ at }) => at >= since).sort((a, b) => b.at - a.at);
  const targets: NativeTarget[] = [];
  for (const { sessionId, path } of newest) {
    if (targets.length === limit) break;
    const head = await readHead(path);
    if (head === undefined || isHoldfastEntrypoint(head.entrypoint)) continue;
    if (isHere !== undefined && !(await isHere(head.cwd))) continue;
    targets.push({ kind: "native", sessionId, transcriptPath: path, cwd: head.cwd });
  }
  return targets;
}

/** Sessions that a living process has. */
export async function runningIds(claudeHome: string): Promise<ReadonlySet<string>> {
  const running = await readRunningSessions(claudeHome).catch(() => []);
  return new Set(running.map(({ sessionId }) => sessionId));
}

/** Names tell too little to be sure: `isHere` looks at where a session says it was. */
async function projectFolders({ claudeHome, folders }: EndedQuery): Promise<string[]> {
  const names = folders?.map(projectFolderName);
  const entries = await listFolder(projectsFolder(claudeHome)).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .filter(({ name }) => names === undefined || names.some((own) => name === own || name.startsWith(`${own}-`)))
    .map(({ name }) => join(projectsFolder(claudeHome), name));
}

const HEAD_BYTES = 256 * 1024;

async function readHead(path: string): Promise<{ cwd: string; entrypoint: string | undefined } | undefined> {
  try {
    await using handle = await openNativeFile(path);
    if (handle === undefined) return undefined;
    const end = Math.min((await handle.stat()).size, HEAD_BYTES);
    for await (const line of readLines(handle, { end })) {
      const record = line.terminated ? parseJson(line.bytes.toString("utf8")) : undefined;
      if (!isRecord(record) || typeof record["cwd"] !== "string" || record["cwd"] === "") continue;
      const { cwd, entrypoint } = record;
      return { cwd, entrypoint: typeof entrypoint === "string" ? entrypoint : undefined };
    }
  } catch {
    // One that cannot be read leaves nothing.
  }
  return undefined;
}
