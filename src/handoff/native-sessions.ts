/**
 * Finds ended Claude Code sessions from their transcripts alone, without a hook. Sessions in which Holdfast's agents
 * talk with people are excluded: their hand-offs are only for these people.
 */
import { readFileSync, readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, parseJson } from "../base/json-record.ts";
import { readLines } from "../base/jsonl.ts";
import { isHoldfastEntrypoint } from "../claude/attribution.ts";
import type { RepoLocator } from "../claude/discovery/repo-locator.ts";
import {
  listFolder,
  openNativeFile,
  projectFolderName,
  projectsFolder,
  listProjectTranscripts,
  readRunningSessions,
} from "../claude/native/layout.ts";
import type { CaptureTarget } from "./handoff.ts";
import { repoPlace } from "./ready-offers.ts";

export type NativeTarget = Extract<CaptureTarget, { kind: "native" }>;

export interface EndedQuery {
  claudeHome: string;
  /** Only sessions that were started in or below these folders. Default: all. */
  folders?: readonly string[];
  /** Checks the folder that a session itself names, because names of project folders are ambiguous. */
  isHere?: (cwd: string) => boolean;
  /** Only sessions written to since (ms). */
  since: number;
  limit: number;
  /** Excluded session ids. */
  except?: readonly string[];
}

const MAX_IN_REPO = 3;

/** The newest ended sessions in the repo of a folder, or in the folder itself if it is not in a repo. */
export async function endedInRepo(
  repos: RepoLocator,
  cwd: string,
  query: Pick<EndedQuery, "claudeHome" | "since" | "except">,
): Promise<NativeTarget[]> {
  const repo = repoPlace(repos, cwd);
  const isHere = (other: string): boolean => repoPlace(repos, other) === repo;
  return await findEndedSessions({ ...query, folders: repoFolders(repos, cwd), isHere, limit: MAX_IN_REPO });
}

/** The repo and its worktrees, from git's files. */
function repoFolders(repos: RepoLocator, cwd: string): string[] {
  const root = repos.repoOf(cwd);
  if (root === undefined) return [repos.canonical(cwd)];
  const worktree = repos.worktreeOf(repos.canonical(cwd)) ?? root;
  const notes = join(root, ".git", "worktrees");
  try {
    const linked = readdirSync(notes).map((name) => dirname(readFileSync(join(notes, name, "gitdir"), "utf8").trim()));
    return Array.from(new Set([root, worktree, ...linked.map((path) => repos.canonical(path))]));
  } catch {
    return Array.from(new Set([root, worktree]));
  }
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
    if (isHere?.(head.cwd) === false) continue;
    targets.push({ kind: "native", sessionId, transcriptPath: path, cwd: head.cwd });
  }
  return targets;
}

/** Sessions of running processes. */
export async function runningIds(claudeHome: string): Promise<ReadonlySet<string>> {
  const running = await readRunningSessions(claudeHome).catch(() => []);
  return new Set(running.map(({ sessionId }) => sessionId));
}

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
    // An unreadable transcript is skipped.
  }
  return undefined;
}
