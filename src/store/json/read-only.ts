/** Quick reads for commands that do not open the store. They take no lock and repair nothing. */
import { readFileIfPresent } from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { programSessions } from "../session-entry.ts";
import type { KeptHandoff } from "../store.ts";
import { corrupt } from "./json-document.ts";
import { sidecarPath } from "./sidecar.ts";

/** Newest first. An unreadable file has none. */
export async function readJsonHandoffs(
  sessionsFile: string,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<KeptHandoff[]> {
  const content = await readFileIfPresent(sidecarPath(sessionsFile));
  const sidecar = content === undefined ? undefined : parseJson(content.toString("utf8"));
  const handoffs = isRecord(sidecar) ? sidecar["handoffs"] : undefined;
  const kept = Object.entries(isRecord(handoffs) ? handoffs : {}).flatMap(([key, record]): KeptHandoff[] => {
    if (!key.startsWith(prefix) || !isRecord(record)) return [];
    return [{ key, updatedAt: Number(record["updatedAt"]), state: record["state"] }];
  });
  // They are stored in the order of their changes.
  return kept.reverse().slice(0, limit);
}

/**
 * Maps sessions of other programs to session keys, also for earlier windows. The file may be
 * OpenClaw's own.
 */
export async function readJsonProgramSessions(sessionsFile: string): Promise<Map<string, string>> {
  const [entries, sidecar] = await Promise.all([readObject(sessionsFile), readObject(sidecarPath(sessionsFile))]);
  const windows = Object.entries(isRecord(sidecar["windows"]) ? sidecar["windows"] : {}).flatMap(([key, closed]) =>
    (Array.isArray(closed) ? (closed as unknown[]) : []).map((window): [string, unknown] => [
      key,
      isRecord(window) ? window["state"] : undefined,
    ]),
  );
  return new Map(
    [...windows, ...Object.entries(entries)].flatMap(([key, state]) =>
      isRecord(state) ? programSessions(state).map((id): [string, string] => [id, key]) : [],
    ),
  );
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  const content = await readFileIfPresent(path);
  if (content === undefined) return {};
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    if (isRecord(value)) return value;
  } catch (error) {
    throw corrupt(path, String(error));
  }
  throw corrupt(path, "it is not a JSON object");
}
