/** Hand-offs of a JSON store for somebody who only looks: no lock is taken and nothing is repaired. */
import { readFileIfPresent } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import type { KeptHandoff } from "../store.ts";
import { sidecarPath } from "./sidecar.ts";

/** Newest first. A file that cannot be understood holds none. */
export async function readJsonHandoffs(
  sessionsFile: string,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<KeptHandoff[]> {
  const content = await readFileIfPresent(sidecarPath(sessionsFile));
  const sidecar = content === undefined ? undefined : parse(content.toString("utf8"));
  const handoffs = isRecord(sidecar) ? sidecar["handoffs"] : undefined;
  const kept = Object.entries(isRecord(handoffs) ? handoffs : {}).flatMap(([key, record]): KeptHandoff[] => {
    if (!key.startsWith(prefix) || !isRecord(record)) return [];
    return [{ key, updatedAt: Number(record["updatedAt"]), state: record["state"] }];
  });
  // They stand in the order of their changes.
  return kept.reverse().slice(0, limit);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
