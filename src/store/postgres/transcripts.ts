/**
 * Transcripts as rows, with a file of this machine as a copy of each that is read or written here.
 *
 * - A copy only gets longer, in place, until the transcript gets another content: then it is replaced.
 * - A mark beside a copy names its content, and the boot of the machine: after a power failure a file that was not
 *   synced may have holes. A copy without its mark is made again.
 * - A copy is compared with the database before the transcript is rewritten, so a damaged copy never damages more.
 */
import { open, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createKeyedMutex } from "../../base/async.ts";
import { type Clock, fileStamp } from "../../base/clock.ts";
import { HoldfastError, systemErrorCode } from "../../base/errors.ts";
import {
  PRIVATE_FILE,
  ensurePrivateFolder,
  fileSize,
  readFileIfPresent,
  removeFileIfPresent,
  replaceFile,
  temporaryPath,
} from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { currentProcess } from "../../base/processes.ts";
import type { TranscriptBacking } from "../../transcript/appender.ts";
import { isTranscriptName, listTranscriptFiles } from "../../transcript/paths.ts";
import { FORK_TYPE } from "../../transcript/walk.ts";
import { leaseLost } from "../store-errors.ts";
import { type TranscriptCopy, createTranscriptFiles } from "../transcript-files.ts";
import type { TranscriptFolder, TranscriptFolders, Transcripts } from "../transcripts.ts";
import type { Row, Value } from "./connection.ts";
import {
  PART_BYTES,
  type StoredContent,
  contentParts,
  downloadContent,
  uploadContent,
  writeContent,
} from "./contents.ts";
import { createPostgresDocuments } from "./documents.ts";
import type { PostgresNode } from "./node.ts";
import { REFUSED, codeOf } from "./postgres-errors.ts";

export interface PostgresTranscriptsOptions {
  node: PostgresNode;
  agentId: string;
  /** For the copies. */
  folder: string;
  clock: Clock;
  logger: Logger;
}

/** The clock of the database may differ from ours by so much. */
const CLOCK_DIFFERENCE_MS = 15 * 60 * 1000;

export function createPostgresTranscripts(options: PostgresTranscriptsOptions): Transcripts {
  const { node, agentId, folder: root, clock, logger } = options;
  const copies = createCopies(node);

  const query = async (sql: string, values: readonly Value[]): Promise<Row[]> =>
    await node.query(sql, [agentId, ...values], { isRepeatable: true });
  /** Calls a function that checks the lease, and resolves to whether it did what it should. */
  const call = async (name: string, { held }: TranscriptCopy, values: readonly Value[]): Promise<boolean> => {
    const { key = "", epoch, holder } = held?.lease ?? {};
    const fenced = [...values, key, epoch, holder];
    try {
      return (await node.write({ name, agentId, key, values: fenced, isRepeatable: true })) === true;
    } catch (error) {
      if (codeOf(error) === REFUSED.leaseLost && held !== undefined) throw leaseLost(held.lease);
      throw error;
    }
  };

  const find = async ({ name, folder, held }: TranscriptCopy): Promise<StoredTranscript | undefined> => {
    const { key, epoch, holder } = held?.lease ?? {};
    const [row] = await node.read(FIND, [agentId, folder, name, key, epoch, holder]);
    if (held !== undefined && row?.["held"] !== true) throw leaseLost(held.lease);
    return row?.["content"] == null ? undefined : toStored(row);
  };
  const refresh = async (copy: TranscriptCopy): Promise<void> => {
    const found = await find(copy);
    await copies.refresh(copy.path, found);
    if (found?.parent !== undefined) await refreshParents(found.parent, new Set());
  };
  /** A fork continues its parents, which may be in the archive, or compacted since. */
  const refreshParents = async (name: string, done: Set<string>): Promise<void> => {
    if (done.has(name)) return;
    done.add(name);
    const rows = await query(FIND_PARENTS, [name, `${name}.bak.`]);
    for (const row of rows) {
      const stored = toStored(row);
      const place = row["folder"] as TranscriptFolder;
      await copies.refresh(files.pathOf(String(row["name"]), place), stored);
      if (stored.parent !== undefined) await refreshParents(stored.parent, done);
    }
  };

  const append = async (copy: TranscriptCopy, size: number, bytes: Uint8Array): Promise<void> => {
    const { name, folder } = copy;
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      const part = bytes.subarray(at, at + PART_BYTES);
      const isLast = at + PART_BYTES >= bytes.length;
      if (!(await call("append_part", copy, [folder, name, size, size + at, part, isLast]))) throw hasMoved(name);
    }
  };
  const create = async ({ name, folder }: TranscriptCopy, content: Uint8Array): Promise<boolean> => {
    const first = content.subarray(0, PART_BYTES);
    const sql = "SELECT holdfast.create_transcript($1, $2, $3, $4, $5) AS done";
    const [row] = await query(sql, [folder, name, parentOf(first), first]);
    return row?.["done"] === true;
  };
  const replace = async (copy: TranscriptCopy, file: string, keptAs: string): Promise<void> => {
    const { name, folder, path } = copy;
    const old = await find(copy);
    if (old === undefined || !(await copies.isExact(path, old))) {
      await copies.forget(path);
      throw copyDiffers(name);
    }
    const content = await uploadContent(node, file);
    // Without its mark, the copy is made again if this process ends before it has replaced the file.
    await copies.forget(path);
    if (!(await call("replace_content", copy, [folder, name, old.content, content, keptAs]))) throw hasMoved(name);
  };
  const backingOf = (copy: TranscriptCopy): TranscriptBacking => ({
    refresh: async () => await refresh(copy),
    create: async (content) => {
      if (!(await create(copy, content))) throw nameTaken(copy.name);
      if (content.length > PART_BYTES) await append(copy, PART_BYTES, content.subarray(PART_BYTES));
    },
    append: async (at, bytes) => await append(copy, at, bytes),
    replace: async (file, keptAs) => await replace(copy, file, keptAs),
  });

  const bringing = createKeyedMutex();
  let broughtAt = Number.NEGATIVE_INFINITY;
  const bringHere = async (): Promise<TranscriptFolders> => {
    const startedAt = clock.now();
    const folders = { sessions: root, archive: dirname(files.pathOf("any", "archive")) };
    for (const folder of ["sessions", "archive"] as const) {
      const names = new Set((await query(LIST, [folder, 0])).map(({ name }) => String(name)));
      for (const name of await listTranscriptFiles(folders[folder])) {
        if (!names.has(name)) await removeFileIfPresent(files.pathOf(name, folder));
      }
      for (const row of await query(LIST, [folder, broughtAt - CLOCK_DIFFERENCE_MS])) {
        const name = String(row["name"]);
        const path = files.pathOf(name, folder);
        if (isTranscriptName(name, false)) await refresh({ name, folder, path });
      }
    }
    broughtAt = startedAt;
    return folders;
  };

  const files = createTranscriptFiles({
    transcriptsFolder: root,
    path: root,
    durability: "none",
    clock,
    logger,
    backingOf,
  });

  return {
    ...files,
    folders: undefined,
    manifests: createPostgresDocuments({ node, agentId, folder: "archive", clock }),
    async list(folder, { changedSince = 0, kept = false } = {}) {
      const rows = await query(LIST, [folder, changedSince]);
      return rows.map(({ name }) => String(name)).filter((name) => isTranscriptName(name, kept));
    },
    async put(given, content, folder) {
      const name = basename(given);
      const copy: TranscriptCopy = { name, folder, path: files.pathOf(name, folder) };
      if (!(await create(copy, content))) {
        await refresh(copy);
        const existing = (await readFileIfPresent(copy.path)) ?? Buffer.alloc(0);
        if (!existing.equals(content.subarray(0, existing.length))) throw nameTaken(name);
      }
      const { size = 0 } = (await find(copy)) ?? {};
      if (size < content.length) await append(copy, size, content.subarray(size));
    },
    async move(name, to) {
      const from = to === "archive" ? "sessions" : "archive";
      await query("UPDATE holdfast.transcripts SET folder = $3 WHERE agent = $1 AND folder = $2 AND name = $4", [
        from,
        to,
        basename(name),
      ]);
    },
    async setAsideMissing(given, { written, folder = "sessions" }) {
      if (!written) return undefined;
      const keptAs = `${basename(given)}.damaged-${fileStamp(clock.now())}`;
      await create({ name: keptAs, folder, path: files.pathOf(keptAs, folder) }, Buffer.alloc(0));
      return { kind: "missing", keptAs: files.pathOf(keptAs, folder) };
    },
    bringHere: async () => await bringing.run("", bringHere),
    async discard(name) {
      await query("SELECT holdfast.discard_transcript($1, $2)", [basename(name)]);
    },
  };
}

interface StoredTranscript extends StoredContent {
  /** The name of the transcript that a fork continues. */
  parent: string | undefined;
}

const FIND = "SELECT * FROM holdfast.find_transcript($1, $2, $3, $4, $5, $6)";

const FIND_PARENTS = `
  SELECT t.folder, t.name, t.parent, c.id AS content, c.size
  FROM holdfast.transcripts t JOIN holdfast.contents c ON c.id = t.content
  WHERE t.agent = $1 AND t.folder IN ('sessions', 'archive') AND (t.name = $2 OR starts_with(t.name, $3))`;

const LIST = `
  SELECT t.name FROM holdfast.transcripts t JOIN holdfast.contents c ON c.id = t.content
  WHERE t.agent = $1 AND t.folder = $2 AND c.changed_at >= $3 ORDER BY t.name`;

function toStored(row: Row): StoredTranscript {
  const parent = row["parent"];
  return {
    content: Number(row["content"]),
    size: Number(row["size"]),
    parent: typeof parent === "string" ? parent : undefined,
  };
}

/** The parent that the first entry of a fork names. */
function parentOf(start: Uint8Array): string | undefined {
  const [, line = ""] = Buffer.from(start.subarray(0, 4096)).toString().split("\n");
  const entry = parseJson(line);
  const data = isRecord(entry) && entry["customType"] === FORK_TYPE ? entry["data"] : undefined;
  const parent = isRecord(data) ? data["parentSession"] : undefined;
  return typeof parent === "string" ? parent : undefined;
}

function markFile(path: string): string {
  return join(dirname(path), `.${basename(path)}.copy`);
}

async function putMark(path: string, mark: string): Promise<void> {
  const temporary = temporaryPath(markFile(path));
  await using handle = await open(temporary, "wx", PRIVATE_FILE);
  await handle.writeFile(mark);
  await replaceFile(temporary, markFile(path));
}

function createCopies(node: PostgresNode) {
  const boot = currentProcess().startedAt.split(":")[0] ?? "";
  const markOf = ({ content }: StoredTranscript): string => `${content} ${boot}`;
  const rebuild = async (path: string, stored: StoredTranscript): Promise<void> => {
    await ensurePrivateFolder(dirname(path));
    await downloadContent(node, stored, path);
    await putMark(path, markOf(stored));
  };
  const hasMark = async (path: string, stored: StoredTranscript): Promise<boolean> =>
    (await readFileIfPresent(markFile(path)))?.toString() === markOf(stored);

  return {
    /** Undefined: there is no such transcript. */
    refresh: async (path: string, stored: StoredTranscript | undefined): Promise<void> => {
      if (stored === undefined) {
        await removeFileIfPresent(path);
        return;
      }
      const size = (await hasMark(path, stored)) ? await fileSize(path) : undefined;
      if (size === undefined) return await rebuild(path, stored);
      // A longer copy has what another process of this machine has just written.
      if (size >= stored.size) return;
      await using handle = await open(path, "r+");
      await writeContent(node, stored, handle, size);
    },
    forget: async (path: string): Promise<void> => await removeFileIfPresent(markFile(path)),
    isExact: async (path: string, stored: StoredTranscript): Promise<boolean> => {
      const content = await readFile(path).catch((error: unknown) => {
        if (systemErrorCode(error) === "ENOENT") return undefined;
        throw error;
      });
      if (content?.length !== stored.size) return false;
      for await (const { at, bytes } of contentParts(node, stored)) {
        if (!content.subarray(at, at + bytes.length).equals(bytes)) return false;
      }
      return true;
    },
  };
}

function nameTaken(name: string): HoldfastError {
  return new HoldfastError("conflict", "transcript-exists", `The transcript ${name} exists already`, {
    hint: "Open it instead, or choose another session id.",
    data: { name },
  });
}

function hasMoved(name: string): HoldfastError {
  return new HoldfastError("conflict", "transcript-changed", `Another process has changed the transcript ${name}`, {
    hint: "Open it again.",
    data: { name },
  });
}

function copyDiffers(name: string): HoldfastError {
  return new HoldfastError("unavailable", "transcript-copy", `The local copy of the transcript ${name} was damaged`, {
    hint: "Nothing was lost. Try again: the copy is made from the database again.",
    data: { name },
  });
}
