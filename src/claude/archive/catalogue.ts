/**
 * The content of the archive. Per session it holds:
 *
 *     <sessionId>.json                     the manifest
 *     <sessionId>.<stamp>.<n>.jsonl.zst    its files, each compressed
 *
 * The manifest is written after the files it names. The stamp identifies one state of the originals. The catalogue is
 * one derived file for lists: its line for a session counts only while the files in the folder have the same stamp, else
 * the manifest is read. So a killed run hides nothing.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readFileIfPresent, readFolderIfPresent, writeFileDurable } from "../../base/files.ts";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { claudeLayout } from "../../config/layout.ts";
import { readMarker } from "../attribution.ts";
import type { IndexedSession } from "../index/native-index.ts";

export interface ArchivedSession extends CatalogueLine {
  /** All facts for lists; undefined when the manifest is gone. */
  load(): IndexedSession | undefined;
}

type CatalogueLine = NonNullable<ReturnType<typeof toLine>>;

const CATALOGUE_NAME = "catalogue.jsonl";

export async function readArchive(home: string): Promise<Map<string, ArchivedSession>> {
  const { archiveFolder } = claudeLayout(home);
  const sessions = new Map<string, ArchivedSession>();
  const { ids, stamps } = await listNames(archiveFolder);
  if (ids.length === 0) return sessions;
  const lines = await readCatalogue(archiveFolder);
  for (const id of ids) {
    const line = lines.get(id);
    const isCurrent = line !== undefined && stamps.get(id)?.size === 1 && stamps.get(id)?.has(line.stamp) === true;
    const known = isCurrent ? line : toLine(loadManifest(archiveFolder, id));
    if (known !== undefined) sessions.set(id, { ...known, load: () => loadFacts(archiveFolder, id) });
  }
  return sessions;
}

/** The caller holds the lock of the archive. */
export async function writeCatalogue(home: string): Promise<void> {
  const { archiveFolder } = claudeLayout(home);
  const lines: string[] = [];
  // JSON omits functions.
  for (const session of (await readArchive(home)).values()) lines.push(`${JSON.stringify(session)}\n`);
  await writeFileDurable(join(archiveFolder, CATALOGUE_NAME), lines);
}

/** Session ids with a manifest, and the stamps of the files in the folder. */
async function listNames(folder: string): Promise<{ ids: string[]; stamps: Map<string, Set<string>> }> {
  const ids: string[] = [];
  const stamps = new Map<string, Set<string>>();
  for (const { name } of await readFolderIfPresent(folder)) {
    const id = MANIFEST_NAME.exec(name)?.[1];
    if (id !== undefined) ids.push(id);
    const part = partOwner(name);
    if (part === undefined) continue;
    const known = stamps.get(part.sessionId);
    if (known === undefined) stamps.set(part.sessionId, new Set([part.stamp]));
    else known.add(part.stamp);
  }
  return { ids, stamps };
}

async function readCatalogue(folder: string): Promise<Map<string, CatalogueLine>> {
  const lines = new Map<string, CatalogueLine>();
  const content = await readFileIfPresent(join(folder, CATALOGUE_NAME));
  for (const text of content?.toString("utf8").split("\n") ?? []) {
    const line = parseJson(text);
    if (isCatalogueLine(line)) lines.set(line.sessionId, line);
  }
  return lines;
}

function isCatalogueLine(line: unknown): line is CatalogueLine {
  if (!isRecord(line) || typeof line["sessionId"] !== "string" || typeof line["stamp"] !== "string") return false;
  return typeof line["folder"] === "string" && typeof line["modifiedAt"] === "number" && Array.isArray(line["cwds"]);
}

function toLine(manifest: ArchiveManifest | undefined) {
  if (manifest === undefined) return undefined;
  const { sessionId, stamp, folder, facts } = manifest;
  const { cwds, modifiedAt, originMarker } = facts;
  return { sessionId, stamp, folder, cwds, modifiedAt, originMarker };
}

function loadFacts(archiveFolder: string, sessionId: string): IndexedSession | undefined {
  const manifest = loadManifest(archiveFolder, sessionId);
  const [transcript] = manifest?.parts ?? [];
  if (manifest === undefined || transcript === undefined) return undefined;
  const shown = JSON.stringify(manifest.facts.shown);
  return { ...manifest.facts, sessionId, path: join(archiveFolder, transcript.file), shown };
}

export interface ArchiveManifest {
  version: 2;
  sessionId: string;
  folder: string;
  /** ISO. */
  archivedAt: string;
  stamp: string;
  /** True when secrets were replaced in at least some of the copies. */
  redacted: boolean;
  /** The transcript first. */
  parts: ArchivePart[];
  /** The facts for lists, so that no file has to be unpacked for them. */
  facts: Omit<IndexedSession, "shown"> & { shown: JsonRecord };
}

export interface ArchivePart {
  file: string;
  /** The path in the project folder: `<id>.jsonl`, `<id>/subagents/…` or `<id>/tool-results/…`. */
  name: string;
  /** Size and time of the original when it was copied. */
  sizeBytes: number;
  modifiedAt: number;
  /** Size and hash of the stored content before compression. */
  storedBytes: number;
  sha256: string;
}

const MANIFEST_NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/i;
const PART_NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{16})\.\d+\.jsonl\.zst$/i;

export function manifestName(sessionId: string): string {
  return `${sessionId}.json`;
}

export function partName(sessionId: string, stamp: string, number: number): string {
  return `${sessionId}.${stamp}.${number}.jsonl.zst`;
}

export function partOwner(name: string): { sessionId: string; stamp: string } | undefined {
  const [, sessionId, stamp] = PART_NAME.exec(name) ?? [];
  return sessionId === undefined || stamp === undefined ? undefined : { sessionId, stamp };
}

export function loadManifest(archiveFolder: string, sessionId: string): ArchiveManifest | undefined {
  try {
    const manifest = parseManifest(readFileSync(join(archiveFolder, manifestName(sessionId)), "utf8"));
    return manifest?.sessionId === sessionId ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when this version cannot use it. A manifest with a path outside the archive is refused. */
export function parseManifest(text: string): ArchiveManifest | undefined {
  const parsed = parseJson(text);
  const value = isRecord(parsed) && parsed["version"] === 1 ? fromVersion1(parsed) : parsed;
  if (!isRecord(value) || value["version"] !== 2 || !isFacts(value["facts"])) return undefined;
  const { sessionId, folder, stamp, parts } = value;
  if (typeof sessionId !== "string" || typeof folder !== "string" || typeof stamp !== "string") return undefined;
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every((part) => isPart(part, sessionId))) return undefined;
  return value as unknown as ArchiveManifest;
}

/** Version 1 had all facts side by side, and some of them under other names. */
function fromVersion1(manifest: JsonRecord): JsonRecord {
  const { files, firstPrompt, latestPrompt, lastBranch, version, ...facts } = isRecord(manifest["facts"])
    ? manifest["facts"]
    : {};
  const { agentId: originMarker, text: firstMessage } = readMarker(typeof firstPrompt === "string" ? firstPrompt : "");
  const unmarked = (text: unknown): unknown => (text === firstPrompt ? firstMessage : text);
  const { branches, prompts, createdAt } = facts;
  const shown = {
    ...facts,
    branch: lastBranch ?? (Array.isArray(branches) ? branches.at(-1) : undefined) ?? "",
    firstMessage,
    lastPrompt: unmarked(latestPrompt),
    prompts: Array.isArray(prompts) ? prompts.map(unmarked) : prompts,
    title: unmarked(facts["title"]),
    filesTouched: files,
    ccVersion: version,
    createdAt: typeof createdAt === "number" ? new Date(createdAt).toISOString() : undefined,
    originMarker,
  };
  return { ...manifest, version: 2, facts: { ...facts, originMarker, shown } };
}

function isFacts(value: unknown): boolean {
  if (!isRecord(value) || typeof value["modifiedAt"] !== "number" || !isRecord(value["tokens"])) return false;
  const { cwds, shown } = value;
  const lists = ["branches", "prompts", "models", "filesTouched"];
  return Array.isArray(cwds) && isRecord(shown) && lists.every((name) => Array.isArray(shown[name]));
}

function isPart(part: unknown, sessionId: string): boolean {
  if (!isRecord(part) || typeof part["file"] !== "string" || partOwner(part["file"])?.sessionId !== sessionId) {
    return false;
  }
  return isPartPath(part, sessionId) && typeof part["sha256"] === "string" && typeof part["modifiedAt"] === "number";
}

const IN_SESSION_FOLDER = /^(?:subagents\/agent-[^/\\\0]+\.(?:jsonl|meta\.json)|tool-results\/(?!\.{1,2}$)[^/\\\0]+)$/;

function isPartPath({ name }: JsonRecord, sessionId: string): boolean {
  if (typeof name !== "string") return false;
  if (name === `${sessionId}.jsonl`) return true;
  const folder = `${sessionId}/`;
  return name.startsWith(folder) && IN_SESSION_FOLDER.test(name.slice(folder.length));
}
