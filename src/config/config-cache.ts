/**
 * Remembers what a configuration file means, so that the next start needs neither json5 nor zod:
 * together they take about as long as everything else that a command does. One small file per
 * configuration file; it counts only for exactly the same text and the same version of Holdfast.
 * Every failure is ignored: without the cache the answer is the same, only later.
 */
import { mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, temporaryPath } from "../base/files.ts";
import { packageVersion } from "../base/package.ts";
import { cacheFolder } from "./layout.ts";
import type { ConfigLayer, FileKind } from "./schema.ts";

export interface ConfigFileContent {
  path: string;
  kind: FileKind;
  text: string;
}

export async function readCachedLayer(home: string, file: ConfigFileContent): Promise<ConfigLayer | undefined> {
  try {
    const cached = JSON.parse(await readFile(cachePath(home, file), "utf8")) as Partial<CachedLayer> | null;
    const isUsable = cached?.fingerprint === fingerprint(file) && typeof cached.layer === "object";
    return isUsable ? (cached.layer ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

export async function writeCachedLayer(home: string, file: ConfigFileContent, layer: ConfigLayer): Promise<void> {
  const path = cachePath(home, file);
  const temporary = temporaryPath(path);
  try {
    // Not recursive: a cache is no reason to create the home.
    await mkdir(cacheFolder(home), { mode: PRIVATE_FOLDER }).catch(() => undefined);
    const content: CachedLayer = { fingerprint: fingerprint(file), layer };
    await writeFile(temporary, JSON.stringify(content), { mode: PRIVATE_FILE, flag: "wx" });
    await rename(temporary, path);
  } catch {
    await unlink(temporary).catch(() => undefined);
  }
}

interface CachedLayer {
  fingerprint: string;
  layer: ConfigLayer;
}

function cachePath(home: string, { path }: ConfigFileContent): string {
  return join(cacheFolder(home), `config-${sha256(path).slice(0, 32)}.json`);
}

function fingerprint({ kind, text }: ConfigFileContent): string {
  return sha256(`${packageVersion()}\n${kind}\n${text}`);
}

function sha256(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("hex");
}
