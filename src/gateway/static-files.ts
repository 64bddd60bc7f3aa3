/**
 * Serves the page. A requested path is looked up among the files below the root, never joined to it, so no
 * spelling reaches a file outside.
 */
import { readFile, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileError, systemErrorCode } from "../base/errors.ts";
import { lazy } from "../base/async.ts";

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

export type StaticFiles = ReturnType<typeof createStaticFiles>;

export function createStaticFiles(root: string) {
  const files = lazy(async () => await listFiles(root));
  return {
    /** Undefined if there is no such file. `path` is the decoded path of the URL. */
    read: async (path: string) => {
      const name = path === "/" ? INDEX : path;
      // Serves a rebuilt page from the next visit on.
      if (name === INDEX) files.clear();
      if (!(await files.get()).has(name)) return undefined;
      const content = await readUnlessGone(join(root, name));
      return content === undefined ? undefined : { content, headers: cacheHeaders(name) };
    },
  };
}

/** Regular files only: a link could lead outside. */
async function listFiles(root: string): Promise<Set<string>> {
  const items = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw fileError(error, "read folder", root);
  });
  const files = items.filter((item) => item.isFile() && TYPES[extname(item.name)] !== undefined);
  return new Set(files.map(({ parentPath, name }) => join(parentPath, name).slice(root.length)));
}

async function readUnlessGone(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

function cacheHeaders(name: string): Record<string, string> {
  // Names of assets contain a hash of their content.
  const isHashed = name.startsWith("/assets/");
  return {
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : name === INDEX ? "no-store" : "no-cache",
  };
}

/** For every answer: no foreign resources, no frames, no guessed types. */
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
