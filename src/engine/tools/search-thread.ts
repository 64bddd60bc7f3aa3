/**
 * The worker thread of `search_files`. Ending the thread also ends a pattern that takes forever.
 */
import { parentPort, workerData } from "node:worker_threads";
import { HoldfastError, errorMessage, reportError, hasCode } from "../../base/errors.ts";
import { type ConfinedFiles, createConfinedFiles, decode, readAtMost, shownName } from "./confined-files.ts";
import type { SearchReport, SearchRequest } from "./search-files.ts";

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_FILES = 20_000;
const SHOWN_CHARACTERS = 300;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only search-files.ts starts this thread
await search(workerData as SearchRequest).catch((error: unknown) => report(failure(error)));

async function search(request: SearchRequest): Promise<void> {
  const files = createConfinedFiles(request.workspace);
  const find = createFinder(request);
  const state = { files: 0, skipped: 0, matches: 0, complete: true };
  for await (const path of filesBelow(files, await files.nameOf(request.path))) {
    if (state.files >= MAX_FILES || state.matches >= request.maxMatches) {
      state.complete = false;
      break;
    }
    const text = await textOf(files, path);
    state.files += 1;
    if (text === undefined) state.skipped += 1;
    else reportMatches(path, text, find, request.maxMatches, state);
  }
  report({ type: "done", files: state.files, skipped: state.skipped, complete: state.complete });
}

type Finder = (line: string) => number;

function createFinder({ pattern, isRegex, ignoreCase }: SearchRequest): Finder {
  if (isRegex) {
    const expression = new RegExp(pattern, ignoreCase ? "iu" : "u");
    return (line) => expression.exec(line)?.index ?? -1;
  }
  const wanted = ignoreCase ? pattern.toLowerCase() : pattern;
  return (line) => (ignoreCase ? line.toLowerCase() : line).indexOf(wanted);
}

/** Yields the file, or all files below the folder. Follows no links, except in the first path. */
async function* filesBelow(files: ConfinedFiles, path: string): AsyncGenerator<string> {
  const entries = await files.listFolder(path === "" ? "." : path).catch((error: unknown) => {
    if (hasCode(error, "not-a-folder")) return undefined;
    throw error;
  });
  if (entries === undefined) {
    yield path;
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isFile()) yield below;
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) yield* filesBelow(files, below);
  }
}

async function textOf(files: ConfinedFiles, path: string): Promise<string | undefined> {
  try {
    await using handle = await files.openFile(path);
    const bytes = await readAtMost(handle, MAX_FILE_BYTES);
    return bytes === undefined ? undefined : decode(bytes);
  } catch {
    return undefined;
  }
}

function reportMatches(
  path: string,
  text: string,
  find: Finder,
  maxMatches: number,
  state: { matches: number; complete: boolean },
): void {
  for (const [index, line] of text.split("\n").entries()) {
    const at = find(line);
    if (at === -1) continue;
    if (state.matches >= maxMatches) {
      state.complete = false;
      return;
    }
    state.matches += 1;
    const from = Math.max(0, at - SHOWN_CHARACTERS / 3);
    const shown = `${from > 0 ? "…" : ""}${line.slice(from, from + SHOWN_CHARACTERS).trimEnd()}`;
    report({ type: "match", path: shownName(path), line: index + 1, text: shown });
  }
}

function failure(error: unknown): SearchReport {
  if (error instanceof HoldfastError && (error.kind === "not-found" || error.kind === "forbidden")) {
    return { type: "failed", error: reportError(error) };
  }
  const [code, message, hint] =
    error instanceof SyntaxError
      ? ["pattern-invalid", error.message, "Fix the regular expression, or omit regex to search for plain text."]
      : ["search-failed", `The search failed: ${errorMessage(error)}`];
  return {
    type: "failed",
    error: { kind: "usage", code, message, hint, retryable: false },
  };
}

function report(message: SearchReport): void {
  parentPort?.postMessage(message);
}
