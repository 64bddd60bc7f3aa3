/**
 * Files that people send, and files to send to a platform that wants the bytes.
 * - A URL may come from a model's answer, so it is untrusted: only http and https, only public hosts (checked on
 *   connect, for every redirect), and within limits of size and time.
 * - A sender's file name is never used; only its extension of plain letters is kept.
 * - A received file is private, complete and on disk before its message is admitted. A download that fails or
 *   exceeds the limit is removed.
 */
import type { LookupAddress, LookupOptions } from "node:dns";
import { readFile, open, unlink } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { BlockList, type LookupFunction, isIP } from "node:net";
import { basename, join, resolve } from "node:path";
import { HoldfastError, errorMessage, fileError } from "../base/errors.ts";
import { fileSize, PRIVATE_FILE, ensurePrivateFolder, replaceFile, temporaryPath } from "../base/files.ts";
import type { OutboundMedia, OutboundMessage } from "./channel.ts";
import { nodeCrypto } from "../base/builtin.ts";

export interface OutgoingFile {
  name: string;
  content: Buffer;
  type: string;
}

export interface OutgoingFilesOptions {
  maxBytes: number;
  /** Limit for the whole download. Default: 30 s. */
  timeoutMs?: number | undefined;
  /** Default: only public addresses. */
  allowsAddress?: ((address: string) => boolean) | undefined;
}

const MAX_REDIRECTS = 3;

export async function loadOutgoingFiles({ media = [] }: OutboundMessage, options: OutgoingFilesOptions) {
  return await Promise.all(media.map(async (item) => await loadOutgoingFile(item, options)));
}

export async function loadOutgoingFile(media: OutboundMedia, options: OutgoingFilesOptions): Promise<OutgoingFile> {
  if (media.kind === "url") return await download(media.url, options);
  const size = await fileSize(media.path);
  if (size === undefined) {
    throw new HoldfastError("not-found", "media-not-found", `File not found: ${media.path}`, {
      hint: "Check the path; the file may have been moved or removed.",
      data: { path: media.path },
    });
  }
  if (size > options.maxBytes) throw tooLarge(options.maxBytes);
  try {
    const content = await readFile(media.path);
    const name = basename(media.path);
    return { name, content, type: typeOfName(name) };
  } catch (error) {
    throw fileError(error, "read", media.path);
  }
}

async function download(address: string, options: OutgoingFilesOptions): Promise<OutgoingFile> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30_000);
  let url = webAddress(address);
  for (let redirects = 0; ; redirects++) {
    const response = await request(url, options, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status >= 300 && status < 400 && location !== undefined && redirects < MAX_REDIRECTS) {
      response.destroy();
      url = webAddress(location, url);
      continue;
    }
    if (status !== 200) {
      response.destroy();
      const kind = status >= 500 || status === 429 ? "unavailable" : "not-found";
      throw new HoldfastError(kind, "media-not-found", `${url.href} answered ${status} instead of the file.`, {
        hint: "Check the URL.",
      });
    }
    const content = await readBounded(response, options.maxBytes, signal);
    const name = fileNameOf(url);
    const type = response.headers["content-type"]?.split(";", 1)[0]?.trim();
    return { name, content, type: type === undefined || type === "" ? typeOfName(name) : type };
  }
}

function webAddress(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new HoldfastError("usage", "media-address", `Not a file URL: ${address}`, {
      hint: "Use an http or https URL, or the path of a file.",
    });
  }
  return url;
}

async function request(url: URL, options: OutgoingFilesOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const allows = options.allowsAddress ?? isPublicAddress;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // Node does not call `lookup` for an IP address, so it is checked here.
  if (isIP(host) !== 0 && !allows(host)) throw privateAddress(url.hostname);
  const { get } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { lookup } = await import("node:dns");
  return await new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(downloadError(url, error));
    get(url, { signal, lookup: guarded(lookup, allows), agent: false }, resolve).on("error", fail);
  });
}

type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

function guarded(lookup: Lookup, allows: (address: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`no address for ${host}`), "");
      } else if (!addresses.every(({ address }) => allows(address))) {
        callback(privateAddress(host), "");
      } else if (options.all === true) {
        callback(null, addresses);
      } else callback(null, first.address, first.family);
    });
  };
}

async function readBounded(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      signal.throwIfAborted();
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
    }
  } catch (error) {
    response.destroy();
    throw error instanceof HoldfastError ? error : downloadError(undefined, error);
  }
  return Buffer.concat(chunks);
}

function downloadError(url: URL | undefined, error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const message = `Cannot fetch ${url?.href ?? "the file"}: ${errorMessage(error)}`;
  const hint = "The server may be down; try again later.";
  return new HoldfastError("unavailable", "media-download-failed", message, { hint, cause: error });
}

function privateAddress(host: string): HoldfastError {
  return new HoldfastError("forbidden", "media-address-private", `${host} is not on the public network.`, {
    hint: "Files are only fetched from public servers; use the path of a local file instead.",
  });
}

const PRIVATE_NETWORKS = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const;

/** Public IPv6 is the global unicast range (2000::/3) without the blocks that embed an IPv4 address. */
function isPublicAddress(address: string): boolean {
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  const refused = new BlockList();
  for (const [network, prefix] of PRIVATE_NETWORKS) refused.addSubnet(network, prefix, "ipv4");
  refused.addSubnet("2001::", 32, "ipv6");
  refused.addSubnet("2002::", 16, "ipv6");
  const global = new BlockList();
  global.addSubnet("2000::", 3, "ipv6");
  return !refused.check(address, family) && (family === "ipv4" || global.check(address, "ipv6"));
}

function fileNameOf(url: URL): string {
  const last = url.pathname.split("/").at(-1) ?? "";
  const name = last.replace(/[^\w.-]+/g, "_");
  return name === "" || /^\.+$/.test(name) ? "file" : name;
}

export type ReceivedFiles = ReturnType<typeof createReceivedFiles>;

interface FileDescription {
  /** Names the file within its account, so that a repeated message replaces its file. */
  id: string;
  name?: string | undefined;
  type?: string | undefined;
}

const DEFAULT_MAX_BYTES = 20 * 1024 * 1024;
const DOWNLOAD_TIMEOUT_MS = 60_000;

export function createReceivedFiles(options: { mediaFolder: string; maxMediaBytes?: number | undefined }) {
  const { maxMediaBytes: maxBytes = DEFAULT_MAX_BYTES } = options;
  // Transcripts refer to the path, so it must be absolute.
  const folder = resolve(options.mediaFolder);
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

function typeOfName(name: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(TYPE_OF_EXTENSION, extension) ? TYPE_OF_EXTENSION[extension] : undefined;
  return known ?? "application/octet-stream";
}

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
