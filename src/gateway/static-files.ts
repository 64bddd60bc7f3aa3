/**
 * The page. Only files that were found below the root can be named: a path from outside is looked up,
 * never joined, so that nothing outside can be reached however it is spelled.
 */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileError, systemErrorCode } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";

export interface StaticFile {
  content: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
}

export interface StaticFiles {
  /** Undefined when there is no such file. `path` is the decoded path of the address. */
  read(path: string): Promise<StaticFile | undefined>;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
};

const INDEX = "/index.html";
const MAX_LEVELS = 5;

export function createStaticFiles(root: string): StaticFiles {
  let files: Promise<Set<string>> | undefined;
  return {
    read: async (path) => {
      const name = path === "/" ? INDEX : path;
      // Whoever builds the page again while the gateway runs gets the new files with the next visit.
      if (name === INDEX || files === undefined) files = listFiles(root);
      if (!(await files).has(name)) return undefined;
      const content = await readUnlessGone(join(root, name));
      return content === undefined ? undefined : { content, headers: headersOf(name) };
    },
  };
}

/** Plain files only: a link could lead out. */
async function listFiles(root: string, prefix = "", level = 0): Promise<Set<string>> {
  const found = new Set<string>();
  for (const item of await readFolderIfPresent(join(root, prefix))) {
    const name = `${prefix}/${item.name}`;
    if (item.isFile() && TYPES[extname(item.name)] !== undefined) found.add(name);
    if (!item.isDirectory() || level >= MAX_LEVELS) continue;
    for (const inner of await listFiles(root, name, level + 1)) found.add(inner);
  }
  return found;
}

async function readUnlessGone(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

function headersOf(name: string): Record<string, string> {
  // The names of assets hold a hash of their content.
  const isHashed = name.startsWith("/assets/");
  return {
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : name === INDEX ? "no-store" : "no-cache",
  };
}

/** For every answer: nothing is loaded from elsewhere, nothing is framed, nothing is guessed. */
export function securityHeaders(port: number): Record<string, string> {
  const own = ["127.0.0.1", "localhost"].map((host) => `ws://${host}:${port}`).join(" ");
  return {
    "Content-Security-Policy":
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; ` +
      `manifest-src 'self'; connect-src 'self' ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
}
