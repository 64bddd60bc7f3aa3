/** What channel accounts keep: whom the owner let in must be readable, or people are shut out. */
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { createPairingStore } from "../channels/pairing-store.ts";
import { channelsFolder } from "../config/layout.ts";
import type { Diagnosis } from "./finding.ts";
import { listFolder } from "./folders.ts";

/** Channel, account, and what the account keeps in folders of its own. */
const DEEPEST = 3;

/** The folder of all channels and those in it. */
export async function listChannelFolders(home: string): Promise<string[]> {
  return await foldersBelow(channelsFolder(home), DEEPEST);
}

async function foldersBelow(folder: string, depth: number): Promise<string[]> {
  const inside = depth === 0 ? [] : (await listFolder(folder)).filter((item) => item.isDirectory());
  const deeper = await Promise.all(inside.map(async ({ name }) => await foldersBelow(join(folder, name), depth - 1)));
  return [folder, ...deeper.flat()];
}

const PAIRING_FILE = /^([^.]+)\.(.+)\.json$/;

export async function* checkPairing(home: string, clock: Clock): AsyncGenerator<Diagnosis> {
  const folder = channelsFolder(home);
  for (const { name } of (await listFolder(folder)).filter((item) => item.isFile())) {
    const [, channel, accountId] = PAIRING_FILE.exec(name) ?? [];
    if (channel === undefined || accountId === undefined) continue;
    try {
      await createPairingStore({ folder, channel: plain(channel), accountId: plain(accountId), clock }).approved();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      const hint = error.hint === undefined ? "" : `. ${error.hint}`;
      yield { finding: { severity: "error", message: `${error.message}${hint}`, path: join(folder, name) } };
    }
  }
}

/** As it stands when it is no encoded name: then no account has it. */
function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
