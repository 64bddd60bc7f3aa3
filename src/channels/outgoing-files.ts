/**
 * Loads files to send to a platform that wants the bytes. A URL may come from a model's answer, so it is
 * untrusted: only http and https, only public hosts (checked on connect, for every redirect), and within
 * limits of size and time.
 */
import type { LookupAddress, LookupOptions } from "node:dns";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { BlockList, type LookupFunction, isIP } from "node:net";
import { basename } from "node:path";
import { HoldfastError, errorMessage, fileError } from "../base/errors.ts";
import { fileSize } from "../base/files.ts";
import type { OutboundMedia, OutboundMessage } from "./channel.ts";
import { tooLarge, typeOfName } from "./received-files.ts";

export interface OutgoingFile {
  name: string;
  content: Buffer;
  /** A MIME type, from the server or the name. */
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

export async function loadOutgoingFiles(
  { media = [] }: OutboundMessage,
  options: OutgoingFilesOptions,
): Promise<OutgoingFile[]> {
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
  // Node skips the lookup for an IP address.
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
