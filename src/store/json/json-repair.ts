/**
 * Repairs the files of a `json` store. Only a damaged or missing file is replaced. A damaged sidecar that is still JSON
 * keeps its valid members. The damaged file is copied aside and then replaced in one step, under the store's lock, so a
 * missing file never looks like an empty store.
 */
import { chmod, constants, copyFile, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { fileError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { PRIVATE_FILE, fileExists, freeName, syncFolder } from "../../base/files.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import type { SessionEntry } from "../session-entry.ts";
import { type SalvagedSession, type StoreDamage, type StoreRepair, toDamage } from "../store-repair.ts";
import type { KeyOwner } from "../store-rules.ts";
import { createEntryMap } from "./entry-map.ts";
import { readDocument, writeDocument } from "./json-document.ts";
import { lossOf, traceOfSessions, withSessionStoreLock } from "./session-store-file.ts";
import { type Sidecar, emptySidecar, parseSidecar, salvageSidecar, sidecarPath, sidecarToJson } from "./sidecar.ts";

export interface JsonRepairOptions {
  path: string;
  owner: KeyOwner;
  clock: Clock;
}

export function createJsonRepair({ path, owner, clock }: JsonRepairOptions): StoreRepair {
  const sidecarFile = sidecarPath(path);
  const readSidecar = (): Sidecar | undefined => {
    const value = readDocument(sidecarFile, { fresh: true })?.value;
    return value === undefined ? undefined : parseSidecar(sidecarFile, value);
  };

  const salvagedSidecar = (): Sidecar => {
    const value = soundOr(() => readDocument(sidecarFile, { fresh: true })?.value, undefined);
    return value === undefined ? emptySidecar() : salvageSidecar(value);
  };

  return {
    kind: "json",
    path,
    diagnose: async () => {
      const damage = damageOf(() => readDocument(path, { fresh: true })) ?? damageOf(readSidecar);
      if (damage !== undefined || (await fileExists(path))) return damage;
      const trace = await traceOfSessions(path);
      return trace === undefined ? undefined : { message: lossOf(path, trace), hint: undefined, canRebuild: true };
    },
    salvage: async () => {
      const sidecar = salvagedSidecar();
      const sessions = soundOr(() => readDocument(path, { fresh: true })?.value, undefined) ?? {};
      const map = createEntryMap(sessions, owner);
      const entries = [...map.keys()].flatMap((key): [string, SessionEntry][] => {
        const entry = map.current(key);
        return entry === undefined ? [] : [[key, entry]];
      });
      return {
        entries: new Map(entries),
        windows: Object.values(sidecar.windows).flat(),
        epochs: new Map(Object.entries(sidecar.leases).map(([key, { epoch }]) => [key, epoch])),
      };
    },
    rebuild: async (sessions) =>
      await withSessionStoreLock(path, async () => {
        const aside: string[] = [];
        // As in every commit: the sidecar knows a window before a key points to it.
        if (damageOf(readSidecar) !== undefined || !(await fileExists(sidecarFile))) {
          aside.push(...(await copyAside(sidecarFile, clock)));
          await writeDocument(sidecarFile, sidecarToJson(withSessions(salvagedSidecar(), sessions)));
          faultPoint("doctor.set-aside");
        }
        if (damageOf(() => readDocument(path, { fresh: true })) !== undefined || !(await fileExists(path))) {
          aside.push(...(await copyAside(path, clock)));
          faultPoint("doctor.rebuilt");
          await writeDocument(path, entriesOf(sessions));
          faultPoint("doctor.replaced");
        }
        return aside;
      }),
  };
}

function damageOf(read: () => unknown): StoreDamage | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return toDamage(error);
  }
}

function soundOr<T>(read: () => T, otherwise: T): T {
  return damageOf(read) === undefined ? read() : otherwise;
}

async function copyAside(path: string, clock: Clock): Promise<string[]> {
  if (!(await fileExists(path))) return [];
  const target = await freeName(path, "corrupt", clock.now());
  try {
    await copyFile(path, target, constants.COPYFILE_EXCL);
    await chmod(target, PRIVATE_FILE);
    await using copy = await open(target, "r+");
    await copy.sync();
  } catch (error) {
    throw fileError(error, "copy", path);
  }
  await syncFolder(dirname(path));
  return [target];
}

function withSessions(salvaged: Sidecar, sessions: readonly SalvagedSession[]): Sidecar {
  const sidecar = { ...salvaged, windows: emptySidecar().windows, leases: emptySidecar().leases };
  for (const { key, windows, epoch } of sessions) {
    sidecar.windows[key] = windows;
    if (epoch > 0) sidecar.leases[key] = { epoch };
  }
  return sidecar;
}

function entriesOf(sessions: readonly SalvagedSession[]): JsonRecord {
  const entries = Object.create(null) as JsonRecord;
  for (const { key, entry } of sessions) entries[key] = entry;
  return entries;
}
