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

export type ReceivedFiles = ReturnType<typeof createReceivedFiles>;

export interface FileDescription {
  /** Names the file within its account, so that a repeated message replaces its file. */
  id: string;
  /** The sender's name for it. */
  name?: string | undefined;
  /** A MIME type. */
  type?: string | undefined;
}

const DEFAULT_MAX_BYTES = 20 * 1024 * 1024;
const DOWNLOAD_TIMEOUT_MS = 60_000;

/** The folder is created if it is missing. */
export function createReceivedFiles(options: { folder: string; maxBytes?: number | undefined }) {
  const { maxBytes = DEFAULT_MAX_BYTES } = options;
  // Transcripts refer to the path, so it must be absolute.
  const folder = resolve(options.folder);
  /** Resolves with the path of the finished file. */
  const save = async (content: AsyncIterable<Uint8Array>, about: FileDescription): Promise<string> => {
    await ensurePrivateFolder(folder);
    const name = nodeCrypto().createHash("sha256").update(about.id).digest("hex").slice(0, 32);
    const path = join(folder, name + fileExtension(about));
    const temporary = temporaryPath(path);
    try {
      await writeLimited(temporary, content, maxBytes);
      await replaceFile(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error instanceof Error && "syscall" in error ? fileError(error, "write", path) : error;
    }
    return path;
  };
  return {
    maxBytes,
    save,
    /** Downloads the file. Throws the error of `onRefusal` for any status but success. */
    fetch: async (
      url: string,
      about: FileDescription,
      signal: AbortSignal,
      onRefusal: (status: number) => Error,
    ): Promise<string> => {
      const response = await fetch(url, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]),
        redirect: "error",
      });
      if (response.ok && response.body !== null) return await save(response.body, about);
      await response.body?.cancel();
      throw onRefusal(response.status);
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

export function tooLarge(maxBytes: number): HoldfastError {
  const megabytes = Math.round((maxBytes / (1024 * 1024)) * 10) / 10;
  return new HoldfastError("usage", "media-too-large", `The file is larger than ${megabytes} MB.`, {
    hint: "Send a smaller file.",
    data: { maxBytes },
  });
}

/** The first extension of a type is the usual one. */
const TYPE_OF_EXTENSION: Readonly<Record<string, string>> = {
  aac: "audio/aac",
  gif: "image/gif",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  json: "application/json",
  m4a: "audio/mp4",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  oga: "audio/ogg",
  opus: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  txt: "text/plain",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
};

export function typeOfName(name: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return TYPE_OF_EXTENSION[extension] ?? "application/octet-stream";
}

/** Empty if neither the name nor the type gives one. */
function fileExtension({ name = "", type = "" }: FileDescription): string {
  const own = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0]?.toLowerCase();
  const plain = type.split(";", 1)[0]?.trim().toLowerCase();
  const usual = Object.entries(TYPE_OF_EXTENSION).find(([, known]) => known === plain)?.[0];
  return own ?? (usual === undefined ? "" : `.${usual}`);
}

/** The text of a message that only has files, as in OpenClaw. */
export function mediaPlaceholder(types: readonly string[]): string {
  const kinds = new Set(types.map((type) => /^(audio|image|video)\//.exec(type)?.[1] ?? "document"));
  const [kind = "file"] = kinds;
  return `<media:${kinds.size === 1 ? kind : "file"}>${types.length > 1 ? ` (${types.length} files)` : ""}`;
}
