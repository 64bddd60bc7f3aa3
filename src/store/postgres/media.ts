/**
 * Files of messages as rows, each content once, by its SHA-256. Every machine has copies of those that it has sent,
 * received or read, as `<folder>/<sha256>/<file name>`: the path says which content belongs there on any machine.
 */
import { createHash } from "node:crypto";
import { constants, copyFile, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, fileExists, replaceFile, temporaryPath } from "../../base/files.ts";
import { type Media, hashIn } from "../media.ts";
import { type StoredContent, downloadContent, pieces, uploadContent } from "./contents.ts";
import type { PostgresNode } from "./node.ts";

export function createPostgresMedia(node: PostgresNode, folder: string): Media {
  const find = async (name: string): Promise<StoredContent | undefined> => {
    const [row] = await node.query(FIND, [name], { isRepeatable: true });
    return row && { content: Number(row["content"]), size: Number(row["size"]) };
  };
  /** Reads the copy and not the original, which may change meanwhile. Resolves to the hash. */
  const store = async (copy: string, original: string): Promise<string> => {
    const hash = await hashOf(copy);
    const content = (await find(hash))?.content ?? (await uploadContent(node, copy));
    await node.query(NAME, [content, hash, nameOf(original)], { isRepeatable: true });
    return hash;
  };

  return {
    async keep(path) {
      if (!(await fileExists(path))) return path;
      await ensurePrivateFolder(folder);
      const temporary = temporaryPath(join(folder, "kept"));
      try {
        await copyPrivately(path, temporary);
        const copy = join(folder, await store(temporary, path), basename(path));
        await ensurePrivateFolder(dirname(copy));
        await replaceFile(temporary, copy);
        return copy;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    adopt: async (path, file) => void (await store(file, path)),
    has: async (path) => (await find(hashIn(path) ?? nameOf(path))) !== undefined,
    async locate(path) {
      const hash = hashIn(path);
      // A file that was received before the store was shared.
      if (hash === undefined && (await fileExists(path))) return path;
      const copy = join(folder, hash ?? nameOf(path), basename(path));
      if (await fileExists(copy)) return copy;
      const stored = await find(hash ?? nameOf(path));
      if (stored === undefined) return path;
      await ensurePrivateFolder(dirname(copy));
      await downloadContent(node, stored, copy, { isSynced: true });
      return copy;
    },
  };
}

const FIND = `
  SELECT c.id AS content, c.size FROM holdfast.transcripts t JOIN holdfast.contents c ON c.id = t.content
  WHERE t.agent = '' AND t.folder = 'media' AND t.name = $1`;

const NAME = `
  INSERT INTO holdfast.transcripts (agent, folder, name, content) VALUES ('', 'media', $2, $1), ('', 'media', $3, $1)
  ON CONFLICT (agent, folder, name) DO UPDATE SET content = EXCLUDED.content`;

/** For a path that does not name its content. */
function nameOf(path: string): string {
  return createHash("sha256").update(path).digest("hex");
}

async function copyPrivately(path: string, to: string): Promise<void> {
  try {
    await copyFile(path, to, constants.COPYFILE_FICLONE);
    await using handle = await open(to, "r+");
    await handle.chmod(PRIVATE_FILE);
    await handle.sync();
  } catch (error) {
    throw fileError(error, "copy", path);
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await using handle = await open(file, "r");
  for await (const { bytes } of pieces(handle)) hash.update(bytes);
  return hash.digest("hex");
}
