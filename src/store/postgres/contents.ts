/** Contents of files as rows, in parts of 1 MB. A content has a number, and gets its name when it is complete. */
import { type FileHandle, open, rm } from "node:fs/promises";
import { PRIVATE_FILE, replaceFile, temporaryPath } from "../../base/files.ts";
import type { PostgresNode } from "./node.ts";

export interface StoredContent {
  content: number;
  size: number;
}

export const PART_BYTES = 1024 * 1024;
/** How much is read from the database at once. */
const READ_BYTES = 4 * PART_BYTES;

/** Sends a file. Without a name, the content is removed after a day. */
export async function uploadContent(node: PostgresNode, file: string): Promise<number> {
  const repeatable = { isRepeatable: true };
  const [row] = await node.query("INSERT INTO holdfast.contents DEFAULT VALUES RETURNING id", [], repeatable);
  const content = Number(row?.["id"]);
  await using handle = await open(file, "r");
  for await (const { at, bytes } of pieces(handle)) {
    await node.query("SELECT holdfast.add_part($1, $2, $3)", [content, at, bytes], repeatable);
  }
  return content;
}

export async function* pieces(handle: FileHandle): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, at);
    if (bytesRead === 0) return;
    yield { at, bytes: buffer.subarray(0, bytesRead) };
    at += bytesRead;
  }
}

/** The parts from the one that contains a byte. Default: all. */
export async function* contentParts(node: PostgresNode, { content, size }: StoredContent, from = 0) {
  const sql = `SELECT at, bytes FROM holdfast.parts WHERE content = $1 AND at < $3 AND at < $4
    AND at >= COALESCE((SELECT max(at) FROM holdfast.parts WHERE content = $1 AND at <= $2), 0) ORDER BY at`;
  for (let at = from; at < size;) {
    const rows = await node.query(sql, [content, at, at + READ_BYTES, size], { isRepeatable: true });
    if (rows.length === 0) return;
    for (const row of rows) {
      const bytes = row["bytes"] as Buffer;
      const start = Number(row["at"]);
      yield { at: start, bytes };
      at = start + bytes.length;
    }
  }
}

export async function writeContent(
  node: PostgresNode,
  stored: StoredContent,
  handle: FileHandle,
  from: number,
): Promise<void> {
  for await (const { at, bytes } of contentParts(node, stored, from)) await handle.write(bytes, 0, bytes.length, at);
}

/** Readers see the whole file or none. `isSynced`: also after a power failure. */
export async function downloadContent(
  node: PostgresNode,
  stored: StoredContent,
  path: string,
  { isSynced = false } = {},
): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await using handle = await open(temporary, "wx", PRIVATE_FILE);
    await writeContent(node, stored, handle, 0);
    if (isSynced) await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await replaceFile(temporary, path);
}
