/**
 * Stores files that people send. Invariants:
 * - A sender's file name is never used; only its extension of plain letters is kept.
 * - A file is private, complete and on disk before its message is admitted. A download that fails or
 *   exceeds the limit is removed.
 */
import { open, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError, fileError } from "../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, replaceFile, temporaryPath } from "../base/files.ts";
import { type Ids, randomIds } from "../base/ids.ts";

export interface ReceivedFiles {
  readonly maxBytes: number;
  /** Resolves with the path of the finished file. */
  save(content: AsyncIterable<Uint8Array>, about: FileDescription): Promise<string>;
}

export interface FileDescription {
  /** Names the file within its account, so that a repeated message replaces its file. Default: a new id. */
  id?: string | undefined;
  /** The sender's name for it. */
  name?: string | undefined;
  /** A MIME type. */
  type?: string | undefined;
}

export interface ReceivedFilesOptions {
  /** Created if missing. */
  folder: string;
  /** Default: 20 MB. */
  maxBytes?: number | undefined;
  ids?: Ids | undefined;
}

const DEFAULT_MAX_BYTES = 20 * 1024 * 1024;

export function createReceivedFiles(options: ReceivedFilesOptions): ReceivedFiles {
  const { maxBytes = DEFAULT_MAX_BYTES, ids = randomIds } = options;
  // Transcripts refer to the path, so it must be absolute.
  const folder = resolve(options.folder);
  return {
    maxBytes,
    save: async (content, about) => {
      await ensurePrivateFolder(folder);
      const path = join(folder, (about.id === undefined ? ids.uuid() : digest(about.id)) + fileExtension(about));
      const temporary = temporaryPath(path);
      try {
        await writeLimited(temporary, content, maxBytes);
        await replaceFile(temporary, path);
      } catch (error) {
        await unlink(temporary).catch(() => undefined);
        throw error instanceof Error && "syscall" in error ? fileError(error, "write", path) : error;
      }
      return path;
    },
  };
}

/** Enforces the limit itself: the size that a platform announces may be wrong. */
async function writeLimited(path: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  await using handle = await open(path, "wx", PRIVATE_FILE);
  let size = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    await handle.writeFile(chunk);
  }
  await handle.sync();
}

function digest(id: string): string {
  return nodeCrypto().createHash("sha256").update(id).digest("hex").slice(0, 32);
}

export function tooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "media-too-large", `The file is larger than ${formatMegabytes(maxBytes)}.`, {
    hint: "Send a smaller file.",
    data: { maxBytes },
  });
}

function formatMegabytes(bytes: number): string {
  return `${Math.round((bytes / (1024 * 1024)) * 10) / 10} MB`;
}

const EXTENSION_OF_TYPE: Readonly<Record<string, string>> = {
  "application/pdf": ".pdf",
  "audio/aac": ".aac",
  "audio/mp4": ".m4a",
  "audio/mpeg": ".mp3",
  "audio/ogg": ".ogg",
  "image/gif": ".gif",
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
  "text/plain": ".txt",
  "video/mp4": ".mp4",
};

/** Empty if neither the name nor the type gives one. */
function fileExtension({ name = "", type = "" }: FileDescription): string {
  const own = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0]?.toLowerCase();
  return own ?? EXTENSION_OF_TYPE[type.split(";", 1)[0]?.trim().toLowerCase() ?? ""] ?? "";
}

/** The text of a message that only has files, as in OpenClaw. */
export function mediaPlaceholder(types: readonly string[]): string {
  const kinds = new Set(types.map(mediaKind));
  const [kind = "file"] = kinds;
  return `<media:${kinds.size === 1 ? kind : "file"}>${types.length > 1 ? ` (${types.length} files)` : ""}`;
}

function mediaKind(type: string): string {
  const [kind = ""] = type.split("/", 1);
  return ["audio", "image", "video"].includes(kind) ? kind : "document";
}
