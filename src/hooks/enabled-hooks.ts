/**
 * `hooks.json`: what each hook of a workspace was when the person turned it on. The configuration alone says
 * only a name, and an agent can give that name to anything it writes into its workspace.
 */
import { dirname } from "node:path";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";
import { enabledHooksFile } from "../config/layout.ts";

export interface EnabledHook {
  name: string;
  /** SHA-256 of all its files. */
  digest: string;
  /** ISO 8601. */
  enabledAt: string;
}

/** By folder. A file that cannot be read turns nothing on. */
export async function readEnabledHooks(home: string): Promise<ReadonlyMap<string, EnabledHook>> {
  const content = await readFileIfPresent(enabledHooksFile(home)).catch(() => undefined);
  return parse(content?.toString("utf8") ?? "");
}

/** Undefined takes it back. Whether something was there or is there now is for the caller to know. */
export async function keepEnabledHook(home: string, folder: string, hook: EnabledHook | undefined): Promise<void> {
  const path = enabledHooksFile(home);
  await ensurePrivateFolder(dirname(path));
  await withFileLock(`${path}.lock`, {}, async () => {
    const hooks = new Map(await readEnabledHooks(home));
    const isThere = hooks.delete(folder);
    if (hook === undefined && !isThere) return;
    if (hook !== undefined) hooks.set(folder, hook);
    const kept = { version: 1, workspaceHooks: Object.fromEntries(hooks) };
    await writeFileDurable(path, `${JSON.stringify(kept, undefined, 2)}\n`);
  });
}

function parse(text: string): ReadonlyMap<string, EnabledHook> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return new Map();
  }
  const hooks = isRecord(value) && value["version"] === 1 ? value["workspaceHooks"] : undefined;
  return new Map(
    Object.entries(isRecord(hooks) ? hooks : {}).flatMap(([folder, hook]) => {
      if (!isRecord(hook)) return [];
      const { name, digest, enabledAt } = hook;
      const isWhole = typeof name === "string" && typeof digest === "string" && typeof enabledAt === "string";
      return isWhole ? [[folder, { name, digest, enabledAt }] as const] : [];
    }),
  );
}
