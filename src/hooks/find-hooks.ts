/**
 * Looks for hooks in the three places. A hook that is broken is found too, with what is wrong with it: it
 * must not keep the others from running, and a person has to see it. Nothing of a hook is run here.
 */
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { errorMessage, systemErrorCode } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";
import { printableLine } from "../base/printable.ts";
import { bundledHooksFolder } from "../base/package.ts";
import { hooksFolder, workspaceHooksFolder } from "../config/layout.ts";
import type { Hook, HookSource } from "./hook.ts";
import { type HookRequirements, NO_REQUIREMENTS, readHookHead } from "./hook-head.ts";

/** A hook before anybody has looked whether it may and can run. Its folder is where it really is. */
export interface FoundHook extends Pick<
  Hook,
  "name" | "description" | "events" | "source" | "folder" | "handlerFile" | "problem"
> {
  requires: HookRequirements;
}

export interface HookPlaces {
  home: string;
  workspace: string;
  /** Left out: the package's own. */
  bundledFolder?: string;
}

const MAX_HOOKS = 200;
const MAX_HEAD_BYTES = 64 * 1024;
const HANDLER_NAMES = ["handler.ts", "handler.js", "index.ts", "index.js"];

/** Bundled ones first, then those of the home, then those of the workspace; by name within each. */
export async function findHooks({ home, workspace, bundledFolder }: HookPlaces): Promise<FoundHook[]> {
  const places: readonly [HookSource, string][] = [
    ["bundled", bundledFolder ?? bundledHooksFolder()],
    ["home", hooksFolder(home)],
    ["workspace", workspaceHooksFolder(workspace)],
  ];
  const found: FoundHook[] = [];
  for (const [source, root] of places) found.push(...withoutTwins(await hooksIn(source, root)));
  return await asWritten(found, workspace);
}

/** The person's folder may lie in the workspace, or be a link to there: what the agent can write is the agent's. */
async function asWritten(hooks: readonly FoundHook[], workspace: string): Promise<FoundHook[]> {
  const root = await realpath(workspace).catch(() => undefined);
  return hooks.map((hook) => {
    const isWritten = root !== undefined && hook.source === "home" && hook.folder.startsWith(root + sep);
    return isWritten ? { ...hook, source: "workspace" } : hook;
  });
}

async function hooksIn(source: HookSource, root: string): Promise<FoundHook[]> {
  const entries = await readFolderIfPresent(root).catch(() => []);
  const names = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .toSorted();
  const found: FoundHook[] = [];
  for (const name of names.slice(0, MAX_HOOKS)) {
    const hook = await readHook(source, root, name);
    if (hook !== undefined) found.push(hook);
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

/** Undefined for a folder that is no hook. */
async function readHook(source: HookSource, root: string, folderName: string): Promise<FoundHook | undefined> {
  const name = printableLine(folderName, 64);
  const path = join(root, folderName);
  const broken = (problem: string): FoundHook => {
    return { name, description: "", events: [], source, folder: path, requires: NO_REQUIREMENTS, problem };
  };
  try {
    const folder = await realpath(path);
    if (!folder.startsWith((await realpath(root)) + sep)) return broken("it is a link that leads out of its folder");
    const text = await readHead(join(folder, "HOOK.md"));
    if (text === undefined) return undefined;
    const { problem, ...head } = await readHookHead(text, name);
    const handler = source === "bundled" ? {} : await findHandler(folder);
    const wrong = problem ?? handler.problem;
    return {
      ...head,
      source,
      folder,
      ...(handler.file === undefined ? {} : { handlerFile: handler.file }),
      ...(wrong === undefined ? {} : { problem: wrong }),
    };
  } catch (error) {
    return broken(printableLine(errorMessage(error), 200));
  }
}

/** Undefined when there is none. Only a plain file is read: a pipe would never end. */
async function readHead(path: string): Promise<string | undefined> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw new Error("HOOK.md is no file");
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR") return undefined;
    if (systemErrorCode(error) === "ELOOP") {
      throw new Error("HOOK.md is a link; put the file itself there", { cause: error });
    }
    throw error;
  }
}

async function findHandler(folder: string): Promise<{ file?: string; problem?: string }> {
  for (const name of HANDLER_NAMES) {
    const file = join(folder, name);
    const stats = await lstat(file).catch(() => undefined);
    if (stats === undefined) continue;
    if (!stats.isFile()) return { problem: `${name} is no plain file; put the file itself there` };
    const isStripped = !(file.endsWith(".ts") && folder.split(sep).includes("node_modules"));
    if (isStripped) return { file };
    return {
      problem: `${name} lies under node_modules, where Node runs no TypeScript: move the hook, or use handler.js`,
    };
  }
  return { problem: `there is no ${HANDLER_NAMES.slice(0, 2).join(" or ")} beside HOOK.md` };
}

/** Two folders of one place may claim one name: the first has it. */
function withoutTwins(hooks: readonly FoundHook[]): FoundHook[] {
  const first = new Map<string, FoundHook>();
  return hooks.map((hook) => {
    const twin = first.get(hook.name);
    if (twin === undefined) {
      first.set(hook.name, hook);
      return hook;
    }
    return { ...hook, problem: `${basename(twin.folder)} beside it has the same name` };
  });
}
