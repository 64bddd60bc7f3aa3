/**
 * The sessions in the archive, for lists. One file has what is needed to choose among them; it is
 * derived, and trusted for a session only while the files in the folder are those that it speaks of.
 * For every other session the manifest is read, so a run that was killed hides nothing.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readFileIfPresent, readFolderIfPresent, writeFileDurable } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import { claudeLayout } from "../../config/layout.ts";
import { readMarker } from "../attribution.ts";
import type { IndexedSession } from "../index/native-index.ts";
import { parseJson } from "../native/parse-json.ts";
import { type ArchiveManifest, manifestName, parseManifest, partOwner, sessionOfManifest } from "./manifest.ts";

export interface ArchivedSession {
  sessionId: string;
  stamp: string;
  folder: string;
  cwds: string[];
  modifiedAt: number;
  /** The agent that the first message names. */
  originMarker?: string;
  /** Everything that lists show; undefined when the manifest has gone meanwhile. */
  load(): IndexedSession | undefined;
}

type CatalogueLine = Omit<ArchivedSession, "load">;

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

/** To be called by whoever has the archive's lock. */
export async function writeCatalogue(home: string): Promise<void> {
  const { archiveFolder } = claudeLayout(home);
  const lines: string[] = [];
  // Functions are left out of JSON.
  for (const session of (await readArchive(home)).values()) lines.push(`${JSON.stringify(session)}\n`);
  await writeFileDurable(join(archiveFolder, CATALOGUE_NAME), lines);
}

/** Undefined when there is none, or it cannot be used. */
export function loadManifest(archiveFolder: string, sessionId: string): ArchiveManifest | undefined {
  try {
    const manifest = parseManifest(readFileSync(join(archiveFolder, manifestName(sessionId)), "utf8"));
    return manifest?.sessionId === sessionId ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Session ids with a manifest, and the stamps of the files that are there. */
async function listNames(folder: string): Promise<{ ids: string[]; stamps: Map<string, Set<string>> }> {
  const ids: string[] = [];
  const stamps = new Map<string, Set<string>>();
  for (const { name } of await readFolderIfPresent(folder)) {
    const id = sessionOfManifest(name);
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

function toLine(manifest: ArchiveManifest | undefined): CatalogueLine | undefined {
  if (manifest === undefined) return undefined;
  const { sessionId, stamp, folder, facts } = manifest;
  const originMarker = readMarker(facts.firstPrompt ?? "").agentId;
  const marked = originMarker === undefined ? {} : { originMarker };
  return { sessionId, stamp, folder, cwds: facts.cwds, modifiedAt: facts.modifiedAt, ...marked };
}

function loadFacts(archiveFolder: string, sessionId: string): IndexedSession | undefined {
  const manifest = loadManifest(archiveFolder, sessionId);
  const [transcript] = manifest?.parts ?? [];
  if (manifest === undefined || transcript === undefined) return undefined;
  return { ...manifest.facts, sessionId, path: join(archiveFolder, transcript.file) };
}
