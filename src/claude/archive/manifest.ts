/**
 * What lies in the archive of native transcripts. Per session:
 *
 *     <sessionId>.json                     the manifest
 *     <sessionId>.<stamp>.<n>.jsonl.zst    its files as they were, each compressed
 *
 * A manifest names the files that belong to it, and is written after them: whoever reads a manifest
 * finds them. The stamp stands for one state of the originals.
 */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import type { IndexedSession } from "../index/native-index.ts";

export interface ArchiveManifest {
  version: 1;
  sessionId: string;
  /** The project folder in which the session lay. */
  folder: string;
  /** ISO. */
  archivedAt: string;
  stamp: string;
  /** True: secrets were replaced in the copies, or in some of them. */
  redacted: boolean;
  /** The transcript first. */
  parts: ArchivePart[];
  /** What lists show, so that nothing need be unpacked for it. */
  facts: IndexedSession;
}

export interface ArchivePart {
  /** In the archive. */
  file: string;
  /** Below the project folder: `<id>.jsonl`, `<id>/subagents/…` or `<id>/tool-results/…`. */
  name: string;
  /** Of the original, when it was copied. */
  sizeBytes: number;
  modifiedAt: number;
  /** Of what was stored, before compression. */
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

export function sessionOfManifest(name: string): string | undefined {
  return MANIFEST_NAME.exec(name)?.[1];
}

export function partOwner(name: string): { sessionId: string; stamp: string } | undefined {
  const [, sessionId, stamp] = PART_NAME.exec(name) ?? [];
  return sessionId === undefined || stamp === undefined ? undefined : { sessionId, stamp };
}

/** Undefined when it is none that this version can use. A manifest cannot lead out of the archive. */
export function parseManifest(text: string): ArchiveManifest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value["version"] !== 1 || !isFacts(value["facts"])) return undefined;
  const { sessionId, folder, stamp, parts } = value;
  if (typeof sessionId !== "string" || typeof folder !== "string" || typeof stamp !== "string") return undefined;
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every((part) => isPart(part, sessionId))) return undefined;
  return value as unknown as ArchiveManifest;
}

function isFacts(value: unknown): boolean {
  if (!isRecord(value) || typeof value["modifiedAt"] !== "number" || !isRecord(value["tokens"])) return false;
  return ["cwds", "branches", "prompts", "models", "files"].every((name) => Array.isArray(value[name]));
}

function isPart(part: unknown, sessionId: string): boolean {
  if (!isRecord(part) || typeof part["file"] !== "string" || partOwner(part["file"])?.sessionId !== sessionId) {
    return false;
  }
  return isPartPath(part, sessionId) && typeof part["sha256"] === "string" && typeof part["modifiedAt"] === "number";
}

const BESIDE = /^(?:subagents\/agent-[^/\\\0]+\.(?:jsonl|meta\.json)|tool-results\/(?!\.{1,2}$)[^/\\\0]+)$/;

function isPartPath({ name }: JsonRecord, sessionId: string): boolean {
  if (typeof name !== "string") return false;
  if (name === `${sessionId}.jsonl`) return true;
  const folder = `${sessionId}/`;
  return name.startsWith(folder) && BESIDE.test(name.slice(folder.length));
}
