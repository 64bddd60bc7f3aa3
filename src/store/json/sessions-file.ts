/**
 * Whether a `sessions.json` that is not there was never there, or was lost. A store makes the file
 * before anything else, so that from then on a missing file is a loss: it is refused like a damaged
 * one, because what came next would overwrite the traces of it.
 */
import { dirname } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { fileExists, readFolderIfPresent } from "../../base/files.ts";
import { writeDocument } from "./json-document.ts";
import { withSessionStoreLock } from "./session-store-file.ts";
import { sidecarPath } from "./sidecar.ts";

/** Makes the file if this is a new store. */
export async function ensureSessionsFile(path: string): Promise<void> {
  if (await fileExists(path)) return;
  await withSessionStoreLock(path, async () => {
    if (await fileExists(path)) return;
    const trace = await traceOfSessions(path);
    if (trace !== undefined) throw sessionsFileLost(path, trace);
    await writeDocument(path, {});
  });
}

/** What shows that there were sessions. */
export async function traceOfSessions(path: string): Promise<string | undefined> {
  if (await fileExists(sidecarPath(path))) return sidecarPath(path);
  const items = await readFolderIfPresent(dirname(path));
  return items.find(({ name }) => name.endsWith(".jsonl"))?.name;
}

export function sessionsFileLost(path: string, trace: string): HoldfastError {
  return new HoldfastError("corrupt", "store-lost", lossOf(path, trace), {
    hint: "Run `holdfast doctor --fix` to rebuild the store from what is left of it. Nothing was changed.",
    data: { path, trace },
  });
}

export function lossOf(path: string, trace: string): string {
  return `${path} is missing, but ${trace} shows that there were sessions`;
}
