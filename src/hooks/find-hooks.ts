/**
 * Finds hooks in the three places and reads their HOOK.md. Broken hooks are listed with their problem: they must not stop
 * other hooks, and the person has to see them. Runs no code of a hook.
 */
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { errorMessage, systemErrorCode } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";
import { openClawPart, readFrontmatter } from "../base/frontmatter.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { bundledHooksFolder } from "../base/package.ts";
import { hooksFolder, workspaceHooksFolder } from "../config/layout.ts";
import { type Hook, type HookSource, HOOK_EVENTS, type HookEventName } from "./hook.ts";
import { printableLine, closestMatch } from "../base/text.ts";

/** A hook before it is decided whether it may run. `folder` is its real path. */
export interface FoundHook extends Pick<
  Hook,
  "name" | "description" | "events" | "source" | "folder" | "handlerFile" | "problem"
> {
  requires: HookRequirements;
}

export interface HookPlaces {
  home: string;
  workspace: string;
  bundledFolder?: string | undefined;
}

const MAX_HOOKS = 200;
const MAX_HEAD_BYTES = 64 * 1024;
const HANDLER_NAMES = ["handler.ts", "handler.js", "index.ts", "index.js"];

/** Bundled hooks first, then home, then workspace; by name within each. */
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

/** A home hook whose folder is inside the workspace counts as a workspace hook, because the agent can write it. */
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

async function readHook(source: HookSource, root: string, folderName: string): Promise<FoundHook | undefined> {
  const name = printableLine(folderName, 64);
  const path = join(root, folderName);
  const broken = (problem: string): FoundHook => {
    return { name, description: "", events: [], source, folder: path, requires: NO_REQUIREMENTS, problem };
  };
  try {
    const folder = await realpath(path);
    if (!folder.startsWith((await realpath(root)) + sep)) return broken("it is a link to outside its folder");
    const text = await readHead(join(folder, "HOOK.md"));
    if (text === undefined) return undefined;
    const { problem, ...head } = await readHookHead(text, name);
    const handler = source === "bundled" ? {} : await findHandler(folder);
    return { ...head, source, folder, handlerFile: handler.file, problem: problem ?? handler.problem };
  } catch (error) {
    return broken(printableLine(errorMessage(error), 200));
  }
}

/** Undefined: no HOOK.md. Reads only plain files: a pipe would never end. */
async function readHead(path: string): Promise<string | undefined> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw new Error("HOOK.md is not a file");
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR") return undefined;
    if (systemErrorCode(error) === "ELOOP") {
      throw new Error("HOOK.md is a link; replace it by the file", { cause: error });
    }
    throw error;
  }
}

async function findHandler(folder: string): Promise<{ file?: string | undefined; problem?: string | undefined }> {
  for (const name of HANDLER_NAMES) {
    const file = join(folder, name);
    const stats = await lstat(file).catch(() => undefined);
    if (stats === undefined) continue;
    if (!stats.isFile()) return { problem: `${name} is not a plain file; replace it by the file` };
    const isStripped = !(file.endsWith(".ts") && folder.split(sep).includes("node_modules"));
    if (isStripped) return { file };
    return {
      problem: `${name} is below node_modules, where Node runs no TypeScript: move the hook, or use handler.js`,
    };
  }
  return { problem: `there is no ${HANDLER_NAMES.slice(0, 2).join(" or ")} next to HOOK.md` };
}

/** If two folders of one place use the same name, the first gets it. */
function withoutTwins(hooks: readonly FoundHook[]): FoundHook[] {
  const first = new Map<string, FoundHook>();
  return hooks.map((hook) => {
    const twin = first.get(hook.name);
    if (twin === undefined) {
      first.set(hook.name, hook);
      return hook;
    }
    return { ...hook, problem: `${basename(twin.folder)} next to it has the same name` };
  });
}

type HookHead = Pick<FoundHook, "name" | "description" | "events" | "requires" | "problem">;

/** Everything a hook needs. `anyBins`: one of these programs. `os`: one of these systems. */
export type HookRequirements = Record<"bins" | "anyBins" | "env" | "config" | "os", readonly string[]>;
const NO_REQUIREMENTS: HookRequirements = { bins: [], anyBins: [], env: [], config: [], os: [] };

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** `fallbackName` is the folder's name. Never throws: what cannot be parsed becomes the problem. */
export async function readHookHead(text: string, fallbackName: string): Promise<HookHead> {
  const blank: HookHead = { name: fallbackName, description: "", events: [], requires: NO_REQUIREMENTS };
  const head = await readFrontmatter(text);
  if (head !== undefined) return interpret(head, blank);
  return { ...blank, problem: "HOOK.md does not start with frontmatter between two lines of ---" };
}

function interpret(tree: JsonRecord, blank: HookHead): HookHead {
  const own = openClawPart(tree["metadata"]);
  const name = typeof tree["name"] === "string" && tree["name"] !== "" ? tree["name"] : blank.name;
  const events = namesOf(tree["events"] ?? own["events"]);
  const requires = requirementsOf(tree["requires"] ?? own["requires"], tree["os"] ?? own["os"]);
  const head: HookHead = {
    name: NAME.test(name) ? name : blank.name,
    description: printableLine(typeof tree["description"] === "string" ? tree["description"] : "", 300),
    events: expandEvents(events ?? []),
    requires: requires ?? NO_REQUIREMENTS,
  };
  const problem =
    (NAME.test(name) ? undefined : nameProblem(name)) ??
    (typeof tree["metadata"] === "string" ? "the `metadata` of HOOK.md is not valid JSON" : undefined) ??
    eventsProblem(events) ??
    (requires === undefined ? "`requires` must hold lists of names (bins, anyBins, env, config, os)" : undefined);
  return { ...head, problem };
}

function requirementsOf(value: unknown, os: unknown): HookRequirements | undefined {
  if (value !== undefined && !isRecord(value)) return undefined;
  const given = value ?? {};
  const [bins, anyBins, env, config] = [given["bins"], given["anyBins"], given["env"], given["config"]].map(namesOf);
  const systems = namesOf(given["os"] ?? os);
  if (!bins || !anyBins || !env || !config || !systems) return undefined;
  return { bins, anyBins, env, config, os: systems };
}

/** Accepts a list, or a string with commas. Undefined: anything else. */
function namesOf(value: unknown): string[] | undefined {
  if (value === undefined) return [];
  const list: unknown[] = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [undefined];
  const names = list.map((item) => (typeof item === "string" ? printableLine(item, 100) : ""));
  return names.includes("") ? undefined : names;
}

/** `command` means every event that starts with it, as in OpenClaw. */
function expandEvents(names: readonly string[]): HookEventName[] {
  return HOOK_EVENTS.filter((event) => names.some((name) => name === event || event.startsWith(`${name}:`)));
}

function eventsProblem(names: readonly string[] | undefined): string | undefined {
  if (names === undefined) return "`events` must be a list of names";
  if (names.length === 0) return `it has no events: add one or more of ${HOOK_EVENTS.join(", ")}`;
  const unknown = names.find((name) => expandEvents([name]).length === 0);
  if (unknown === undefined) return undefined;
  const near = closestMatch(unknown, HOOK_EVENTS);
  return `unknown event "${unknown}"; ${near === undefined ? `known: ${HOOK_EVENTS.join(", ")}` : `did you mean ${near}?`}`;
}

function nameProblem(name: string): string {
  return `"${printableLine(name, 80)}" is not a hook name: up to 64 letters, digits, dots, dashes and underscores`;
}
