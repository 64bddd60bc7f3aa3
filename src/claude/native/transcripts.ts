/** Which transcripts there are: those of sessions, and those of the subagents that a session started. */
import { basename, dirname, join } from "node:path";
import { isRecord } from "../../base/json-record.ts";
import { listFolder, openNativeFile, projectsFolder } from "./layout.ts";
import { parseJson } from "./parse-json.ts";

export interface NativeTranscript {
  sessionId: string;
  path: string;
  /** The project folder that holds it. */
  folder: string;
}

export interface SubagentTranscript {
  agentId: string;
  path: string;
  agentType?: string;
  description?: string;
  toolUseId?: string;
  spawnDepth?: number;
}

export const SESSION_FILE = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;
/** What belongs to a session beside its transcript. */
export const SESSION_FOLDER = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const SUBAGENT_FILE = /^agent-(.+)\.jsonl$/;
const MAX_META_BYTES = 64 * 1024;

/** Every session of every project, folder by folder. */
export async function* listTranscripts(claudeHome: string): AsyncGenerator<NativeTranscript> {
  const projects = projectsFolder(claudeHome);
  for (const entry of await listFolder(projects)) {
    if (entry.isDirectory() || entry.isSymbolicLink()) yield* await listProjectTranscripts(join(projects, entry.name));
  }
}

export async function listProjectTranscripts(folder: string): Promise<NativeTranscript[]> {
  const transcripts: NativeTranscript[] = [];
  for (const entry of await listFolder(folder)) {
    const sessionId = entry.isFile() ? SESSION_FILE.exec(entry.name)?.[1] : undefined;
    if (sessionId !== undefined) transcripts.push({ sessionId, path: join(folder, entry.name), folder });
  }
  return transcripts;
}

/** In the order of their names, each with what Claude Code noted beside it. */
export async function listSubagents(transcript: string): Promise<SubagentTranscript[]> {
  const folder = join(dirname(transcript), basename(transcript, ".jsonl"), "subagents");
  const subagents: SubagentTranscript[] = [];
  for (const entry of await listFolder(folder)) {
    const agentId = entry.isFile() ? SUBAGENT_FILE.exec(entry.name)?.[1] : undefined;
    if (agentId === undefined) continue;
    const notes = await readNotes(join(folder, `agent-${agentId}.meta.json`));
    subagents.push({ agentId, path: join(folder, entry.name), ...notes });
  }
  return subagents.sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
}

async function readNotes(path: string): Promise<Omit<SubagentTranscript, "agentId" | "path">> {
  const notes = await readSmallJson(path, MAX_META_BYTES);
  if (!isRecord(notes)) return {};
  const { agentType, description, toolUseId, spawnDepth } = notes;
  return {
    ...(typeof agentType === "string" ? { agentType } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof toolUseId === "string" ? { toolUseId } : {}),
    ...(typeof spawnDepth === "number" ? { spawnDepth } : {}),
  };
}

/** The value of a small JSON file; undefined when it is missing, larger than `maxBytes` or malformed. */
export async function readSmallJson(path: string, maxBytes: number): Promise<unknown> {
  await using handle = await openNativeFile(path);
  if (handle === undefined || (await handle.stat()).size > maxBytes) return undefined;
  return parseJson(await handle.readFile("utf8"));
}
