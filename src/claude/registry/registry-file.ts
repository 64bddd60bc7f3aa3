/**
 * One agent's `claude-code-sessions.json` as a document. Members that this version does not know are
 * kept, those of other tools included. Invariants:
 * - A change is read, made and written under one lock, and the file is replaced in one piece.
 * - A file that cannot be understood is never taken for an empty one: readers are told, and a writer
 *   sets it aside under a name that says so before it begins a new one.
 */
import { dirname } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { ensurePrivateFolder, readFileIfPresent, setAside, writeFileDurable } from "../../base/files.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { type Logger, silentLogger } from "../../base/log.ts";

export interface RegistryDocument extends JsonRecord {
  /** By `<repoPath>` or `<repoPath>::<label>`. */
  sessions: Record<string, unknown>;
}

export interface RegistryFileOptions {
  clock?: Clock;
  /** Told when a damaged file was set aside. */
  logger?: Logger;
}

/** Undefined when there is no such file. */
export async function readRegistryFile(path: string): Promise<RegistryDocument | undefined> {
  const content = await readFileIfPresent(path);
  return content === undefined ? undefined : parseRegistry(path, content);
}

/** `change` alters the document in place; what it returns is returned once the file is durable. */
export async function changeRegistryFile<T>(
  path: string,
  options: RegistryFileOptions,
  change: (document: RegistryDocument) => T,
): Promise<T> {
  const { clock = systemClock, logger = silentLogger } = options;
  await ensurePrivateFolder(dirname(path));
  return await withFileLock(`${path}.lock`, { clock }, async () => {
    const document = (await readOrSetAside(path, clock, logger)) ?? { sessions: {} };
    const result = change(document);
    await writeFileDurable(path, `${JSON.stringify(document, undefined, 2)}\n`);
    return result;
  });
}

async function readOrSetAside(path: string, clock: Clock, logger: Logger): Promise<RegistryDocument | undefined> {
  try {
    return await readRegistryFile(path);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "corrupt") throw error;
    const kept = await setAside(path, "corrupt", clock.now());
    logger.warn("a registry of Claude Code sessions could not be read and was set aside", { path, kept, error });
    return undefined;
  }
}

function parseRegistry(path: string, content: Buffer): RegistryDocument {
  let value: unknown;
  let reason = 'it is no JSON object with a "sessions" object';
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch (error) {
    reason = errorMessage(error);
  }
  if (isRecord(value) && isRecord(value["sessions"])) return value as RegistryDocument;
  throw new HoldfastError("corrupt", "registry-unreadable", `The session registry ${path} cannot be read: ${reason}`, {
    hint: "Repair or move the file; the sessions themselves are in Claude Code's own folder and lose nothing.",
    data: { path },
  });
}
