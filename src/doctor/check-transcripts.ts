/**
 * The transcripts themselves. Both ends of each are looked at, which takes the same time for a file
 * of any size; `deep` reads every line. A transcript that somebody is writing is left alone.
 */
import { basename, join } from "node:path";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { withSessionLease } from "../session/lease.ts";
import { parseLine } from "../transcript/codec.ts";
import { TRANSCRIPT_VERSION } from "../transcript/entries.ts";
import { openTranscriptLog } from "../transcript/log.ts";
import { type TranscriptTail, readTail, readTranscript } from "../transcript/reader.ts";
import { openForReading } from "../transcript/scan.ts";
import { allWindows } from "./all-windows.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listFolder, listTranscripts } from "./folders.ts";
import { windowFile } from "./window-file.ts";

export async function* checkTranscripts(agent: AgentHandle, { deep }: { deep: boolean }): AsyncGenerator<Diagnosis> {
  const keys = new Map((await allWindows(agent)).map((window) => [windowFile(window), window.key]));
  const names = await listTranscripts(agent.sessionsFolder);
  const looked = await inParallel(names, async (name) => await lookAtEnds(join(agent.sessionsFolder, name)));
  for (const { path, damage } of looked) {
    const key = keys.get(basename(path));
    if (damage !== undefined && !(await isBeingWritten(agent, key))) yield damaged(agent, path, key, damage);
    if (deep) yield* badLines(path, key);
  }
  if (deep) yield* keptFiles(agent.sessionsFolder);
}

interface Damage {
  message: string;
  /** Missing: a person has to decide. */
  fix?: string;
}

async function lookAtEnds(path: string): Promise<{ path: string; damage: Damage | undefined }> {
  try {
    return { path, damage: (await looksWhole(path)) ? undefined : damageOf(await readTail(path, 1)) };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    // Gone since the folder was listed.
    return { path, damage: error.kind === "not-found" ? undefined : { message: errorMessage(error) } };
  }
}

/** More than any header has. */
const HEAD_BYTES = 4096;
const NEWLINE = 0x0a;

/** What nearly every transcript is: a header at the beginning, a newline at the end. Two small reads. */
async function looksWhole(path: string): Promise<boolean> {
  await using handle = await openForReading(path);
  const { size } = await handle.stat();
  if (size === 0) return false;
  const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
  await handle.read(head, 0, head.length, 0);
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  const end = head.indexOf(NEWLINE);
  if (end === -1 || last[0] !== NEWLINE) return false;
  const line = { bytes: head.subarray(0, end), offset: 0, end: end + 1, terminated: true, oversized: false };
  const first = parseLine(line);
  return first.kind === "header" && first.header.version <= TRANSCRIPT_VERSION;
}

function damageOf({ header, entries, tornBytes, problemCount }: TranscriptTail): Damage | undefined {
  const isGarbage = header === undefined && entries.length === 0 && problemCount > 0;
  if (isGarbage)
    return { message: "Holds no readable line of a transcript. Restore it from a backup, or move it away" };
  if (header !== undefined && header.version > TRANSCRIPT_VERSION) {
    return { message: `Has format version ${header.version}, newer than ${TRANSCRIPT_VERSION}. Update Holdfast` };
  }
  if (tornBytes > 0) return { message: `Ends in ${tornBytes} bytes of an unfinished line`, fix: "set them aside" };
  if (header === undefined) return { message: "Has no header", fix: "write it again with one; the original is kept" };
  return undefined;
}

async function isBeingWritten(agent: AgentHandle, key: string | undefined): Promise<boolean> {
  return key !== undefined && (await agent.store.leases.current(key)) !== undefined;
}

function damaged(agent: AgentHandle, path: string, key: string | undefined, { message, fix }: Damage): Diagnosis {
  const finding = { severity: "error" as const, message, path, ...(key === undefined ? {} : { key }) };
  if (fix === undefined) return { finding };
  const { clock, durability } = agent;
  return {
    finding: { ...finding, fix },
    // Opening it for writing mends it: the next turn would do the same.
    mend: async () => {
      if (key === undefined) return await (await openTranscriptLog({ path, clock, durability })).close();
      await withSessionLease(agent, key, {}, async (held) => {
        const fence = async (): Promise<void> => await held.fence();
        await (await openTranscriptLog({ path, clock, durability, fence, epoch: held.lease.epoch })).close();
      });
    },
  };
}

/** So many lines of one file are told; the rest are counted. */
const TOLD_LINES = 20;

async function* badLines(path: string, key: string | undefined): AsyncGenerator<Diagnosis> {
  const reading = readTranscript(path);
  for await (const _item of reading);
  const { problems, problemCount } = reading.report;
  const about = { severity: "warning" as const, path, ...(key === undefined ? {} : { key }) };
  for (const { line, reason } of problems.slice(0, TOLD_LINES)) {
    yield { finding: { ...about, message: `Line ${line}: ${reason}. The line is kept, and readers pass over it` } };
  }
  if (problemCount > TOLD_LINES)
    yield { finding: { ...about, message: `${problemCount - TOLD_LINES} more such lines` } };
}

const KEPT = /\.(?:bak\.|torn-|corrupt-|deleted\.|replaced-|unfinished-)/;

/** What was set aside at some time: whoever needs it knows where it is. */
async function* keptFiles(folder: string): AsyncGenerator<Diagnosis> {
  for (const { name } of (await listFolder(folder)).filter((item) => item.isFile() && KEPT.test(item.name))) {
    yield { finding: { severity: "info", message: "Kept from an earlier change", path: join(folder, name) } };
  }
}
