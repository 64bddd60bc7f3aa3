/**
 * Prepares a file for appending, or refuses it without a change. A prepared file has a header and lines of this
 * version, and a newline at the end.
 */
import type { FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { freeName, syncFolder } from "../base/files.ts";
import { readLinesBackward } from "../base/jsonl.ts";
import { openForAppending } from "./appender.ts";
import { encodeEntry, encodeHeader } from "./codec.ts";
import { type RebuildOptions, type TranscriptDamage, damageIn, rebuildDamaged } from "./damage.ts";
import { type TranscriptHeader, TRANSCRIPT_VERSION } from "./entries.ts";
import { sessionIdOfTranscript } from "./paths.ts";
import { copyRange, rewriteTranscript, writeNewFile } from "./rewrite.ts";
import { type LocatedEntry, type OnProblem, scanHead, scanLines, scanTailWindow, transcriptError } from "./scan.ts";

/** The caller must have write access (`withWriteAccess`). Resolves to the header. */
export async function prepareForWrite(path: string, options: RebuildOptions): Promise<TranscriptHeader> {
  const { handle, header } = await openPrepared(path, options, () => undefined);
  await handle.close();
  return header;
}

export interface PreparedFile {
  header: TranscriptHeader;
  /** Open for reading and appending. */
  handle: FileHandle;
  /** The newest entries, newest first, from `scanTailWindow`. */
  window: LocatedEntry[];
}

/** Like `prepareForWrite`, but leaves the file open, so that a turn reads the end of the file only once. */
export async function openPrepared(path: string, options: RebuildOptions, onProblem: OnProblem): Promise<PreparedFile> {
  const handle = await openForAppending(path, options.backing);
  let header: TranscriptHeader;
  try {
    const fit = await makeFit(handle, path, options, onProblem);
    if (fit.isCurrent) return { header: fit.header, handle, window: fit.window };
    header = fit.header;
    if (fit.damage === undefined) await rewriteAsCurrent(handle, path, header, options);
    else await rebuildDamaged({ path, original: handle, header, damage: fit.damage }, options);
  } catch (error) {
    await handle.close();
    throw transcriptError(error, "open", path);
  }
  await handle.close();
  const rewritten = await openForAppending(path, options.backing);
  return { header, handle: rewritten, window: await scanTailWindow(rewritten) };
}

interface FitFile extends Omit<PreparedFile, "handle"> {
  /** False if the file is damaged or has lines of an older version. */
  isCurrent: boolean;
  damage?: TranscriptDamage | undefined;
}

async function makeFit(
  handle: FileHandle,
  path: string,
  options: RebuildOptions,
  onProblem: OnProblem,
): Promise<FitFile> {
  const head = await scanHead(handle);
  const { header, recognised } = head;
  if (header !== undefined && header.version > TRANSCRIPT_VERSION) throw tooNew(path, header.version);
  let tornBytes = 0;
  const onTorn = (bytes: number): void => {
    tornBytes = bytes;
  };
  const window = await scanTailWindow(handle, { onProblem, onTorn });
  const { expected } = options;
  const damage = expected === undefined ? undefined : await damageIn(handle, expected, { head, newest: window });
  const { size } = await handle.stat();
  const torn = { offset: size - tornBytes, bytes: tornBytes };
  const isEmpty = torn.offset === 0;
  if (!recognised && window.length === 0 && !isEmpty && damage === undefined) throw notATranscript(path);
  const current = header === undefined ? newHeader(path, options.clock) : { ...header, version: TRANSCRIPT_VERSION };
  if (damage !== undefined) return { header: current, window, isCurrent: false, damage };
  if (torn.bytes > 0) await setTailAside(handle, path, torn, options);
  // The backing still has the torn tail.
  const isCut = torn.bytes === 0 || options.backing === undefined;
  const isCurrent = header?.version === TRANSCRIPT_VERSION && isCut && !window.some(({ migrated }) => migrated);
  return { header: current, window, isCurrent };
}

type TornTail = Awaited<ReturnType<typeof tornTail>>;

async function tornTail(handle: FileHandle) {
  const { size } = await handle.stat();
  // The bytes do not matter here, so a long tail is not held in memory.
  for await (const line of readLinesBackward(handle, { maxLineBytes: 0 })) {
    return line.terminated ? { offset: size, bytes: 0 } : { offset: line.offset, bytes: line.end - line.offset };
  }
  return { offset: size, bytes: 0 };
}

/** Saves the bytes after the last newline beside the file and cuts them off. */
export async function cutTornTail(handle: FileHandle, path: string, options: RebuildOptions): Promise<void> {
  const torn = await tornTail(handle);
  if (torn.bytes > 0) await setTailAside(handle, path, torn, options);
}

async function setTailAside(handle: FileHandle, path: string, torn: TornTail, options: RebuildOptions): Promise<void> {
  const saved = await freeName(path, "torn", options.clock.now());
  await writeNewFile(saved, (write) => copyRange(handle, torn.offset, torn.offset + torn.bytes, write));
  await syncFolder(dirname(path));
  faultPoint("transcript.torn.saved");
  await handle.truncate(torn.offset);
  await handle.datasync();
  faultPoint("transcript.torn.cut");
  options.onProblem?.({
    reason: `${torn.bytes} bytes of an unfinished line were set aside`,
    offset: torn.offset,
    file: saved,
  });
}

async function rewriteAsCurrent(
  handle: FileHandle,
  path: string,
  header: TranscriptHeader,
  options: RebuildOptions,
): Promise<void> {
  const target = { path, original: handle, at: options.clock.now(), backing: options.backing };
  const archive = await rewriteTranscript(target, async (write) => {
    await write(encodeHeader(header));
    let headerSeen = false;
    let end = 0;
    for await (const { line, header: found, located } of scanLines(handle)) {
      end = line.end;
      if (found !== undefined && !headerSeen) {
        headerSeen = true;
      } else if (located?.migrated === true) {
        await write(encodeEntry(located.entry));
      } else {
        // Unreadable lines are kept, because the tool that wrote them may understand them.
        await copyRange(handle, line.offset, line.end, write);
      }
    }
    return end;
  });
  options.onProblem?.({
    reason: "the file was in an older form and was rewritten; the original is kept",
    file: archive,
  });
}

function newHeader(path: string, clock: Clock): TranscriptHeader {
  const id = sessionIdOfTranscript(basename(path));
  if (id === undefined) throw notATranscript(path);
  return {
    type: "session",
    version: TRANSCRIPT_VERSION,
    id,
    timestamp: new Date(clock.now()).toISOString(),
    cwd: "",
  };
}

function tooNew(path: string, version: number): HoldfastError {
  return new HoldfastError(
    "unsupported",
    "transcript-too-new",
    `${path} has format version ${version}; this program writes version ${TRANSCRIPT_VERSION}`,
    { hint: "Update Holdfast, or start a new window with /new. The file was not changed.", data: { path, version } },
  );
}

function notATranscript(path: string): HoldfastError {
  return new HoldfastError("corrupt", "not-a-transcript", `${path} has no readable transcript line`, {
    hint: "Move the file away, or restore it from one of the archives <file>.bak.* beside it. It was not changed.",
    data: { path },
  });
}
