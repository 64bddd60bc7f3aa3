/** Checks of the home folder: permissions, leftovers of dead processes, the gateway's files, channels and indexes. */
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { findDatabaseDamage, isDatabaseDamage, isOccupied, removeDatabase } from "../base/derived-database.ts";
import { HoldfastError, errorMessage, messageWithHint } from "../base/errors.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, fileSize, leftBy, statIfPresent } from "../base/files.ts";
import { lockState, withFileLock } from "../base/lock-file.ts";
import { createPairingStore } from "../channels/access.ts";
import { createDocumentFiles } from "../store/document-files.ts";
import { channelsFolder, configFile, gatewayLayout } from "../config/layout.ts";
import type { Diagnosis } from "./finding.ts";
import { listFiles, listFolder } from "./session-files.ts";
import { inParallel } from "../base/async.ts";
import { openReadOnly } from "../base/sqlite.ts";

/** Conversations are private: folders 0700, files 0600. One finding per folder, however many files it has. */
export async function* checkPermissions(folders: readonly string[]): AsyncGenerator<Diagnosis> {
  // Windows has no such modes.
  if (process.platform === "win32") return;
  for (const path of folders) {
    const mode = await modeOf(path);
    if (mode === undefined) continue;
    if (mode !== PRIVATE_FOLDER) {
      const message = `The folder has mode ${octal(mode)} instead of ${octal(PRIVATE_FOLDER)}`;
      const repair = async (): Promise<void> => await chmod(path, PRIVATE_FOLDER);
      yield { severity: "warning", message, path, fix: `set the mode to ${octal(PRIVATE_FOLDER)}`, repair };
    }
    yield* checkFileModes(path);
  }
}

async function* checkFileModes(path: string): AsyncGenerator<Diagnosis> {
  const names = await listFiles(path);
  const files = await inParallel(names, async (name) => ({ name, mode: await modeOf(join(path, name)) }));
  const open = files.filter(({ mode }) => mode !== undefined && mode !== PRIVATE_FILE);
  const [first] = open;
  if (first?.mode === undefined) return;
  const [subject, more] = open.length === 1 ? ["1 file has", ""] : [`${open.length} files have`, ", …"];
  yield {
    severity: "warning",
    message: `${subject} a mode other than ${octal(PRIVATE_FILE)}: ${first.name} (${octal(first.mode)})${more}`,
    path,
    fix: `set the mode to ${octal(PRIVATE_FILE)}`,
    repair: async () => {
      for (const { name } of open) await chmod(join(path, name), PRIVATE_FILE);
    },
  };
}

async function modeOf(path: string): Promise<number | undefined> {
  const stats = await statIfPresent(path);
  return stats && stats.mode & 0o777;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

/** Temporary files of dead processes are the only thing that doctor deletes: their content was never acknowledged. */
export async function* checkLeftovers(folders: readonly string[]): AsyncGenerator<Diagnosis> {
  for (const folder of folders) {
    for (const { name } of await listFolder(folder)) {
      const path = join(folder, name);
      const pid = await leftBy(path);
      if (pid === undefined) continue;
      const message = `An unfinished write of process ${pid}, which has ended`;
      const repair = async (): Promise<void> => await rm(path, { recursive: true, force: true });
      yield { severity: "warning", message, path, fix: "remove it; its content was never acknowledged", repair };
    }
  }
}

/** A lock, or a claim on the lock of a dead process, which is a lock itself. */
const LOCK_NAME = /\.lock(?:\.claim-[0-9a-f]{16})?$/;

export async function* checkLocks(folders: readonly string[]): AsyncGenerator<Diagnosis> {
  for (const folder of folders) {
    for (const name of await listFiles(folder)) {
      const path = join(folder, name);
      if (!LOCK_NAME.test(name) || (await lockState(path)) !== "abandoned") continue;
      const repair = async (): Promise<void> => await withFileLock(path, {}, async () => undefined);
      const message = "A lock whose process has ended";
      yield { severity: "warning", message, path, fix: "take the lock over and release it", repair };
    }
  }
}

export interface GatewayFacts {
  /** `elsewhere`: on another machine, so its state is unknown here. `ended`: without removing its runtime file. */
  state: "none" | "running" | "elsewhere" | "ended";
  /** The configuration changed after the gateway started. Default: false. */
  hasOldConfig?: boolean | undefined;
  tokenProblem?: string | undefined;
}

export async function* checkGateway(home: string, facts: GatewayFacts): AsyncGenerator<Diagnosis> {
  const { runtimeFile, tokenFile } = gatewayLayout(home);
  if (facts.tokenProblem !== undefined) yield { severity: "error", message: facts.tokenProblem, path: tokenFile };
  if (facts.hasOldConfig === true) {
    const message = "The configuration changed after the gateway started. To apply it: holdfast gateway restart";
    yield { severity: "info", message, path: configFile(home) };
  }
  if (facts.state !== "ended") return;
  yield {
    severity: "warning",
    message: "A gateway crashed and left its runtime file",
    path: runtimeFile,
    fix: "remove the file; the next gateway writes a new one",
    repair: async () => await rm(runtimeFile, { force: true }),
  };
}

/** Channel, account, and the account's own folders. */
const CHANNEL_DEPTH = 3;

/** The folder of all channels and the folders in it. */
export async function listChannelFolders(home: string): Promise<string[]> {
  return await foldersBelow(channelsFolder(home), CHANNEL_DEPTH);
}

async function foldersBelow(folder: string, depth: number): Promise<string[]> {
  const inside = depth === 0 ? [] : (await listFolder(folder)).filter((item) => item.isDirectory());
  const deeper = await Promise.all(inside.map(async ({ name }) => await foldersBelow(join(folder, name), depth - 1)));
  return [folder, ...deeper.flat()];
}

const PAIRING_FILE = /^([^.]+)\.(.+)\.json$/;

/** The lists of approved people must be readable, or those people are shut out. */
export async function* checkPairing(home: string, clock: Clock): AsyncGenerator<Diagnosis> {
  const documents = createDocumentFiles(channelsFolder(home), clock);
  for (const name of await documents.names()) {
    const [, channel, accountId] = PAIRING_FILE.exec(name) ?? [];
    if (channel === undefined || accountId === undefined) continue;
    try {
      await createPairingStore({ documents, channel: decode(channel), accountId: decode(accountId), clock }).approved();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      yield { severity: "error", message: messageWithHint(error), path: documents.locationOf(name) };
    }
  }
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Indexes can be rebuilt from other files. Each is read completely: damage in the middle shows nowhere else. */
export async function* checkIndexes(paths: readonly string[]): AsyncGenerator<Diagnosis> {
  for (const path of paths) {
    const damage = await indexDamage(path);
    if (damage === undefined) continue;
    const fix = "delete it; the next command that needs it rebuilds it";
    const repair = async (): Promise<void> => removeDatabase(path);
    yield { severity: "error", message: `An index is damaged: ${damage}`, path, fix, repair };
  }
}

async function indexDamage(path: string): Promise<string | undefined> {
  if (isOccupied(path)) return "something else is in place of the file";
  // A process that dies before its first write leaves an empty file.
  if (((await fileSize(path)) ?? 0) === 0) return undefined;
  try {
    using database = await openReadOnly(path);
    return findDatabaseDamage(database);
  } catch (error) {
    if (isDatabaseDamage(error)) return errorMessage(error);
    throw error;
  }
}

/** Lists the worktrees of tasks. A person merges or removes them. */
export async function* checkWorktrees(folder: string): AsyncGenerator<Diagnosis> {
  for (const item of await listFolder(folder)) {
    if (!item.isDirectory()) continue;
    const path = join(folder, item.name);
    const { unmergedWork } = await import("../project/worktree.ts");
    const work = await unmergedWork(path);
    const state = work ?? `all its work is on other branches; \`git worktree remove ${path}\` removes it`;
    yield { severity: "info", message: `A worktree of a task: ${state}`, path };
  }
}
