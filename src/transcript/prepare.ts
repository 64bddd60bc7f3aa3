/**
 * Makes a file fit to be appended to, or refuses it untouched. Fit means: a header of this version,
 * every line of this version, and a newline at the end.
 */
import { type FileHandle, constants, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { freeName, syncFolder } from "../base/files.ts";
import { readLinesBackward } from "../base/jsonl.ts";
import { encodeEntry, encodeHeader } from "./codec.ts";
import { TRANSCRIPT_VERSION, type TranscriptHeader } from "./entries.ts";
import { sessionIdOfTranscript } from "./paths.ts";
import type { OnProblem } from "./problems.ts";
import { copyRange, rewriteTranscript, writeNewFile } from "./rewrite.ts";
import { type LocatedEntry, scanHead, scanLines, scanTailWindow, transcriptError } from "./scan.ts";

export interface PrepareOptions {
  clock: Clock;
  onProblem?: OnProblem | undefined;
}

/** The caller must have write access (access.ts). Resolves to the header of the file. */
export async function prepareForWrite(path: string, options: PrepareOptions): Promise<TranscriptHeader> {
  const { handle, header } = await openPrepared(path, options, () => undefined);
  await handle.close();
  return header;
}

export interface PreparedFile {
  header: TranscriptHeader;
  /** Open for reading and appending. */
  handle: FileHandle;
  /** The newest entries, newest first, as `scanTailWindow` finds them. */
  window: LocatedEntry[];
}

/** The same, and leaves the file open: a turn then reads its end once. */
export async function openPrepared(path: string, options: PrepareOptions, onProblem: OnProblem): Promise<PreparedFile> {
  const handle = await openForAppending(path);
  let header: TranscriptHeader;
  try {
    const fit = await makeFit(handle, path, options, onProblem);
    if (fit.isCurrent) return { header: fit.header, handle, window: fit.window };
    header = fit.header;
    await rewriteAsCurrent(handle, path, header, options);
  } catch (error) {
    await handle.close();
    throw transcriptError(error, "open", path);
  }
  await handle.close();
  const rewritten = await openForAppending(path);
  return { header, handle: rewritten, window: await scanTailWindow(rewritten) };
}

/** Without O_CREAT: a transcript that vanished must not come back without its header. */
async function openForAppending(path: string): Promise<FileHandle> {
  return await open(path, constants.O_RDWR | constants.O_APPEND).catch((error: unknown) => {
    throw transcriptError(error, "open", path);
  });
}

interface FitFile extends Omit<PreparedFile, "handle"> {
  /** False when lines of an older version have to be rewritten. */
  isCurrent: boolean;
}

async function makeFit(
  handle: FileHandle,
  path: string,
  options: PrepareOptions,
  onProblem: OnProblem,
): Promise<FitFile> {
  const { header, recognised } = await scanHead(handle);
  if (header !== undefined && header.version > TRANSCRIPT_VERSION) throw tooNew(path, header.version);
  let tornBytes = 0;
  const onTorn = (bytes: number): void => {
    tornBytes = bytes;
  };
  const window = await scanTailWindow(handle, { onProblem, onTorn });
  const { size } = await handle.stat();
  const torn = { offset: size - tornBytes, bytes: tornBytes };
  const isEmpty = torn.offset === 0;
  if (!recognised && window.length === 0 && !isEmpty) throw notATranscript(path);
  const current = header === undefined ? newHeader(path, options.clock) : { ...header, version: TRANSCRIPT_VERSION };
  if (torn.bytes > 0) await setTailAside(handle, path, torn, options);
  const isCurrent = header?.version === TRANSCRIPT_VERSION && !window.some(({ migrated }) => migrated);
  return { header: current, window, isCurrent };
}

interface TornTail {
  offset: number;
  bytes: number;
}

async function tornTail(handle: FileHandle): Promise<TornTail> {
  const { size } = await handle.stat();
  // The bytes themselves do not matter here, so none of a long tail are held.
  for await (const line of readLinesBackward(handle, { maxLineBytes: 0 })) {
    return line.terminated ? { offset: size, bytes: 0 } : { offset: line.offset, bytes: line.end - line.offset };
  }
  return { offset: size, bytes: 0 };
}

/** Cuts off what follows the last newline, if anything does, after saving it beside the file. */
export async function cutTornTail(handle: FileHandle, path: string, options: PrepareOptions): Promise<void> {
  const torn = await tornTail(handle);
  if (torn.bytes > 0) await setTailAside(handle, path, torn, options);
}

async function setTailAside(handle: FileHandle, path: string, torn: TornTail, options: PrepareOptions): Promise<void> {
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
  options: PrepareOptions,
): Promise<void> {
  const target = { path, original: handle, at: options.clock.now() };
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
        // Also a line that nobody can read is kept: whoever wrote it may know better.
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
  return new HoldfastError("corrupt", "not-a-transcript", `${path} holds no readable line of a transcript`, {
    hint: "Move the file away, or restore it from one of the archives <file>.bak.* beside it. It was not changed.",
    data: { path },
  });
}
