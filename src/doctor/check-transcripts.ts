/**
 * Checks of the transcripts. It reads every line of a file of ordinary size, and both ends of a large one; `deep` reads
 * every line of all. A transcript that is being written is skipped.
 */
import type { Dirent } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join, basename } from "node:path";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { fileSize, syncFolder, fileExists } from "../base/files.ts";
import { type AgentHandle, type TranscriptPlace, expectedOfWindow } from "../session/agent-handle.ts";
import { readManifests } from "../session/archive.ts";
import { type HeldLease, withSessionLease } from "../session/lease.ts";
import { createMissingTranscript } from "../session/window.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { OpenTranscriptOptions, TranscriptFolder } from "../store/transcripts.ts";
import { findDamage } from "../transcript/damage.ts";
import { TRANSCRIPT_VERSION } from "../transcript/entries.ts";
import { type TranscriptTail, readTail, readTranscript } from "../transcript/reader.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel } from "../base/async.ts";
import { allWindows, windowFile, listFiles, listFolder } from "./session-files.ts";

export async function* checkTranscripts(agent: AgentHandle, { deep }: { deep: boolean }): AsyncGenerator<Diagnosis> {
  const known = await knownTranscripts(agent);
  const byPath = new Map(known.map((transcript) => [transcript.path, transcript]));
  const keys = new Map(known.map(({ path, key }) => [path, key]));
  const lost = await findLost(known);
  for (const { transcript, reason } of lost) {
    if (transcript.isArchived || !(await isBeingWritten(agent, transcript.key)))
      yield lostContent(agent, transcript, reason);
  }
  const reported = new Set(lost.map(({ transcript }) => transcript.path));
  const { transcripts } = agent.store;
  const names = await transcripts.list("sessions");
  const looked = await inParallel(names, async (name) => await lookAtEnds(await transcripts.locate(name)));
  for (const { path, damage } of looked) {
    const key = keys.get(path);
    const isNews = damage !== undefined && !reported.has(path) && !(await isBeingWritten(agent, key));
    if (isNews) yield damaged(agent, path, key, damage);
  }
  const sound = looked.flatMap(({ path, damage }) => (damage === undefined || damage.fix !== undefined ? [path] : []));
  const archived = known.flatMap(({ folder, path }) => (folder === "archive" ? [path] : []));
  for (const path of new Set([...sound, ...archived])) {
    if (reported.has(path)) continue;
    const size = await fileSize(path);
    const isRead = size !== undefined && (deep || size <= ORDINARY_BYTES);
    if (isRead) yield* badLines(agent, path, byPath.get(path));
  }
  const { folders } = transcripts;
  if (folders === undefined) return;
  for (const folder of [folders.sessions, folders.archive]) yield* setAsideFiles(folder, keys);
  if (deep) yield* keptFiles(folders.sessions);
}

async function findLost(known: readonly KnownTranscript[]) {
  const found = await inParallel(known, async (transcript) => {
    const damage = await findDamage(transcript.path, transcript.expected).catch((error: unknown) => {
      // `lookAtEnds` reports files that cannot be opened.
      if (!(error instanceof HoldfastError)) throw error;
    });
    return damage === undefined ? [] : [{ transcript, reason: damage.reason }];
  });
  return found.flat();
}

function lostContent(agent: AgentHandle, transcript: KnownTranscript, reason: string): Diagnosis {
  const { path, key } = transcript;
  return {
    severity: "error",
    message: `Part of this conversation is lost: ${reason}. Restore the file from a backup if you have one`,
    key,
    path,
    fix: "set the damaged file aside and copy the readable part into a new one, with a notice",
    repair: async () => await rebuild(agent, transcript),
    lostFrom: path,
  };
}

/** A damaged file that was set aside, the marker of a missing one, or a thing that was in place of one. */
const SET_ASIDE = /^(.+\.jsonl)\.damaged-[^/]*(?<!\.acknowledged)$/;

/** A loss is reported until a person acknowledges it. */
async function* setAsideFiles(folder: string, keys: ReadonlyMap<string, string>): AsyncGenerator<Diagnosis> {
  for (const item of await listFolder(folder)) {
    const { name } = item;
    const transcript = SET_ASIDE.exec(name)?.[1];
    if (transcript === undefined) continue;
    const path = join(folder, name);
    const lostFrom = join(folder, transcript);
    const what = await describeSetAside(item, path);
    yield {
      severity: "error",
      message: `Part of a conversation was lost. ${what}. To stop this report: holdfast doctor --acknowledge ${name}`,
      path,
      key: keys.get(lostFrom),
      lostFrom,
      acknowledge: async () => {
        await rename(path, `${path}.acknowledged`);
        await syncFolder(dirname(path));
      },
    };
  }
}

async function describeSetAside(item: Dirent, path: string): Promise<string> {
  if (!item.isFile()) return "This was found in place of its file";
  return (await fileSize(path)) === 0 ? "Its file was missing or empty" : "This is the damaged file";
}

interface Damage {
  message: string;
  /** Undefined if a person has to decide. */
  fix?: string | undefined;
}

async function lookAtEnds(path: string): Promise<{ path: string; damage: Damage | undefined }> {
  try {
    return { path, damage: damageOf(await readTail(path, 1)) };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    // The file may be gone by now.
    return { path, damage: error.kind === "not-found" ? undefined : { message: errorMessage(error) } };
  }
}

function damageOf({ header, entries, tornBytes, problemCount }: TranscriptTail): Damage | undefined {
  const hasNothing = header === undefined && entries.length === 0;
  // Opening it was interrupted. `findLost` reports a file that had content.
  if (hasNothing && problemCount === 0) return undefined;
  if (hasNothing) return { message: "Has no readable line. Restore it from a backup, or move it away" };
  if (header !== undefined && header.version > TRANSCRIPT_VERSION) {
    return { message: `Has format version ${header.version}, newer than ${TRANSCRIPT_VERSION}. Update Holdfast` };
  }
  if (tornBytes > 0) return { message: `Ends in ${tornBytes} bytes of an unfinished line`, fix: "set them aside" };
  if (header === undefined) return { message: "Has no header", fix: "rewrite it with one and keep the original" };
  return undefined;
}

async function isBeingWritten(agent: AgentHandle, key: string | undefined): Promise<boolean> {
  return key !== undefined && (await agent.store.leases.current(key)) !== undefined;
}

function damaged(agent: AgentHandle, path: string, key: string | undefined, { message, fix }: Damage): Diagnosis {
  const diagnosis = { severity: "error", message, path, key } as const;
  if (fix === undefined) return diagnosis;
  const repair = async (held?: HeldLease): Promise<void> =>
    await repairByOpening(agent, basename(path), { held, onProblem: () => undefined });
  return {
    ...diagnosis,
    fix,
    repair: async () => await (key === undefined ? repair() : withSessionLease(agent, key, {}, repair)),
  };
}

/** Opening the log repairs it, as the next turn would. */
async function repairByOpening({ store }: AgentHandle, name: string, options: OpenTranscriptOptions): Promise<void> {
  await (await store.transcripts.open(name, options)).close();
}

/** Larger files are read whole only with `deep`. */
const ORDINARY_BYTES = 4 * 1024 * 1024;

/** Bad lines that are listed per file; the rest are counted. */
const MAX_LISTED = 20;

async function* badLines(
  agent: AgentHandle,
  path: string,
  known: KnownTranscript | undefined,
): AsyncGenerator<Diagnosis> {
  const reading = readTranscript(path);
  for await (const _item of reading);
  const { problems, problemCount } = reading.report;
  const gap = known !== undefined && problems.some((problem) => problem.gap === true);
  if (gap) yield lostContent(agent, known, "some of its lines cannot be read");
  const about = { severity: gap ? ("info" as const) : ("warning" as const), path, key: known?.key };
  for (const { line, reason } of problems.slice(0, MAX_LISTED)) {
    yield { ...about, message: `Line ${line}: ${reason}. The line is kept as it is` };
  }
  if (problemCount > MAX_LISTED) yield { ...about, message: `${problemCount - MAX_LISTED} more such lines` };
}

const KEPT = /\.(?:bak\.|torn-|corrupt-|deleted\.|replaced-|unfinished-|damaged-.*\.acknowledged$)/;

/** Files that earlier repairs set aside. */
async function* keptFiles(folder: string): AsyncGenerator<Diagnosis> {
  for (const name of (await listFiles(folder)).filter((file) => KEPT.test(file))) {
    yield { severity: "info", message: "Kept from an earlier change", path: join(folder, name) };
  }
}

/** A transcript that a window names, in the store or in the archive, with its expected content. */
interface KnownTranscript extends TranscriptPlace {
  key: string;
  sessionId: string;
  name: string;
  folder: TranscriptFolder;
  /** The session is in the archive, so it has no writer. */
  isArchived: boolean;
}

async function knownTranscripts(agent: AgentHandle): Promise<KnownTranscript[]> {
  const { sessions } = await agent.store.list({ fields: ["sessionFile", "systemSent", "transcriptEnd"] });
  const entries = new Map(sessions.map(({ key, entry }) => [key, entry]));
  const { records } = await readManifests(agent.store.transcripts.manifests);
  const windows = [
    ...(await allWindows(agent)).map((window) => ({ window, entry: entries.get(window.key), isArchived: false })),
    ...records.flatMap(({ windows: archived, entry }) =>
      archived.map((window) => ({ window, entry, isArchived: true })),
    ),
  ];
  const known = await inParallel(windows, async (one) => await locate(agent, one));
  // After an interrupted move a session is in both lists: the first one counts.
  const byPath = new Map<string, KnownTranscript>();
  for (const transcript of known.flat()) if (!byPath.has(transcript.path)) byPath.set(transcript.path, transcript);
  return [...byPath.values()];
}

async function locate(
  agent: AgentHandle,
  { window, entry, isArchived }: { window: Window; entry: SessionEntry | undefined; isArchived: boolean },
): Promise<KnownTranscript[]> {
  const name = windowFile(window);
  if (name === undefined) return [];
  const { key, sessionId } = window;
  const locateIn = async (folder: TranscriptFolder) => {
    return { folder, path: await agent.store.transcripts.locate(name, folder) };
  };
  const places = [await locateIn("sessions"), await locateIn("archive")] as const;
  const [first, second] = isArchived || window.archive !== undefined ? ([places[1], places[0]] as const) : places;
  const place = (await fileExists(first.path)) || !(await fileExists(second.path)) ? first : second;
  return [{ key, sessionId, name, ...place, expected: expectedOfWindow(window, entry), isArchived }];
}

/** Repairs as the next turn would: sets the damaged file aside and keeps the readable part with a notice. */
async function rebuild(agent: AgentHandle, transcript: KnownTranscript): Promise<void> {
  const { path, name, folder, key, expected, isArchived } = transcript;
  const repair = async (held?: HeldLease): Promise<void> => {
    const kind = (await findDamage(path, expected))?.kind;
    if (kind === "missing" || kind === "not-a-file") await createMissingTranscript(agent, transcript, expected);
    else await repairByOpening(agent, name, { folder, expected, held, isRead: true });
  };
  await (isArchived ? repair() : withSessionLease(agent, key, {}, repair));
}
