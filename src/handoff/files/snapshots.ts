/** Earlier states, one file each, named by when they were made; the oldest make room. */
import { rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStamp } from "../../base/clock.ts";
import {
  PRIVATE_FILE,
  ensurePrivateFolder,
  readFileIfPresent,
  readFolderIfPresent,
  temporaryPath,
} from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import type { SessionState } from "../state.ts";
import type { Left } from "./left.ts";
import { stateText } from "./state-text.ts";

const SNAPSHOT = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z(?:-\d+)?\.json$/;

/** Of several, oldest first, only those that are to stay. */
export async function writeSnapshots(folder: string, states: readonly SessionState[], keep: number): Promise<void> {
  if (states.length === 0) return;
  const lasting = keep === 0 ? [] : states.slice(-keep);
  if (lasting.length > 0) await ensurePrivateFolder(folder);
  for (const state of lasting) {
    const text = stateText(state);
    const path = await freePath(folder, fileStamp(Date.parse(state.updatedAt)), text);
    if (path !== undefined) await writeWhole(path, text);
  }
  await removeOldest(folder, keep);
}

/** Not synced, unlike what somebody would miss: there may be many at once, and the state itself is in the store. */
async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await writeFile(temporary, text, { flag: "wx", mode: PRIVATE_FILE });
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Several sessions may be captured in one millisecond. Undefined when this very state is there. */
async function freePath(folder: string, stamp: string, text: string): Promise<string | undefined> {
  for (let attempt = 0; ; attempt++) {
    const path = join(folder, `${stamp}${attempt === 0 ? "" : `-${attempt}`}.json`);
    const there = await readFileIfPresent(path);
    if (there === undefined) return path;
    if (there.toString("utf8") === text) return undefined;
  }
}

async function removeOldest(folder: string, keep: number): Promise<void> {
  const names = await snapshotNames(folder);
  const oldest = names.sort(byAge).slice(0, Math.max(0, names.length - keep));
  // Another process may remove the same ones.
  await Promise.all(oldest.map(async (name) => await unlink(join(folder, name)).catch(() => undefined)));
}

export async function removeSnapshots(folder: string, isGone: (left: Left) => boolean): Promise<void> {
  for (const name of await snapshotNames(folder)) {
    const path = join(folder, name);
    const text = (await readFileIfPresent(path))?.toString("utf8") ?? "";
    // One that is damaged may be anybody's, and is no use to anybody.
    const left = leftBy(text);
    if (left === undefined || isGone(left)) await unlink(path);
  }
}

async function snapshotNames(folder: string): Promise<string[]> {
  const entries = await readFolderIfPresent(folder);
  return entries.map(({ name }) => name).filter((name) => SNAPSHOT.test(name));
}

function leftBy(text: string): Left | undefined {
  try {
    const state: unknown = JSON.parse(text);
    if (!isRecord(state) || state["sessionKey"] === undefined) return undefined;
    return { sessionKey: state["sessionKey"], sessionId: state["previousSessionId"] };
  } catch {
    return undefined;
  }
}

function byAge(a: string, b: string): number {
  const [first, second] = [a, b].map((name) => name.slice(0, 24));
  if (first !== second) return (first ?? "") < (second ?? "") ? -1 : 1;
  return numberOf(a) - numberOf(b);
}

function numberOf(name: string): number {
  return Number(/Z-(\d+)/.exec(name)?.[1] ?? 0);
}
