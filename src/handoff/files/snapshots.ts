/** Earlier states, one file each, named by their time. The oldest are removed. */
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
import { isRecord, parseJson } from "../../base/json-record.ts";
import { redactValue } from "../../base/redact.ts";
import type { SessionState } from "../state.ts";

/** The owner of a record in a file, unchecked. */
export interface Owner {
  sessionKey: unknown;
  /** The window. */
  sessionId: unknown;
}

const SNAPSHOT = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z(?:-\d+)?\.json$/;

/** A state for people: indented, and redacted once more. */
export function stateText(state: SessionState): string {
  return `${JSON.stringify(redactValue(state), null, 2)}\n`;
}

/** `states` are oldest first; `keep` is the number of files that remain. */
export async function writeSnapshots(folder: string, states: readonly SessionState[], keep: number): Promise<void> {
  if (states.length === 0) return;
  const lasting = keep === 0 ? [] : states.slice(-keep);
  if (lasting.length > 0) await ensurePrivateFolder(folder);
  for (const state of lasting) {
    const text = stateText(state);
    const path = await freePath(folder, fileStamp(Date.parse(state.updatedAt)), text);
    if (path !== undefined) await writeWhole(path, text);
  }
  const names = (await snapshotNames(folder)).sort(byAge);
  const oldest = names.slice(0, Math.max(0, names.length - keep));
  // Another process may remove the same ones.
  await Promise.all(oldest.map(async (name) => await unlink(join(folder, name)).catch(() => undefined)));
}

/** Not synced: there may be many at once, and the state itself is in the store. */
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

/** Several sessions may be captured in one millisecond. Undefined if this state has a file. */
async function freePath(folder: string, stamp: string, text: string): Promise<string | undefined> {
  for (let attempt = 0; ; attempt++) {
    const path = join(folder, `${stamp}${attempt === 0 ? "" : `-${attempt}`}.json`);
    const there = await readFileIfPresent(path);
    if (there === undefined) return path;
    if (there.toString("utf8") === text) return undefined;
  }
}

/** Also removes damaged files, because they may belong to anybody. */
export async function removeSnapshots(folder: string, isGone: (owner: Owner) => boolean): Promise<void> {
  for (const name of await snapshotNames(folder)) {
    const path = join(folder, name);
    const state = parseJson((await readFileIfPresent(path))?.toString("utf8") ?? "");
    const { sessionKey, previousSessionId: sessionId } = isRecord(state) ? state : {};
    if (sessionKey === undefined || isGone({ sessionKey, sessionId })) await unlink(path);
  }
}

async function snapshotNames(folder: string): Promise<string[]> {
  const entries = await readFolderIfPresent(folder);
  return entries.map(({ name }) => name).filter((name) => SNAPSHOT.test(name));
}

function byAge(a: string, b: string): number {
  const [first, second] = [a, b].map((name) => name.slice(0, 24));
  if (first !== second) return (first ?? "") < (second ?? "") ? -1 : 1;
  return numberOf(a) - numberOf(b);
}

function numberOf(name: string): number {
  return Number(/Z-(\d+)/.exec(name)?.[1] ?? 0);
}
