/** Whether two paths speak of the same place. A name that every project has says nothing without its folder. */
import { isGenericFolder, isGenericName } from "./generic-names.ts";
import { squash } from "./words.ts";

/** 0 to 1: 1 for the same file, less for its test, its neighbour, its namesake. */
export function pathLikeness(wanted: string, touched: string): number {
  const one = segments(wanted);
  const two = segments(touched);
  const name = baseName(one);
  const isGeneric = isGenericName(name);
  if (endsWith(one, two)) {
    const isTold =
      !isGeneric || one.length === two.length || one.slice(0, -1).some((folder) => !isGenericFolder(folder));
    return isTold && (one.length > 1 || !isGeneric) && (two.length > 1 || !isGeneric) ? 1 : 0;
  }
  if (!hasExtension(wanted)) return folderLikeness(one, two);
  const sameFolder = one.length > 1 && endsWith(one.slice(0, -1), two.slice(0, -1));
  if (name === baseName(two)) {
    if (sameFolder) return 0.95;
    if (isGeneric || name.length < 4) return 0;
    if (one.length > 1 && two.length > 1 && !isMirrored(one, two)) return 0;
    return extension(one) === extension(two) ? 0.8 : 0.3;
  }
  return sameFolder && isTelling(one.slice(0, -1)) ? 0.45 : 0;
}

/** Tests lie in another tree than what they test: src/a/heap.ts and test/a/heap.test.ts have a folder in common, or none that tells. */
function isMirrored(one: readonly string[], two: readonly string[]): boolean {
  const [mine, theirs] = [one, two].map((path) => path.slice(0, -1).filter((folder) => !isGenericFolder(folder)));
  if (mine === undefined || theirs === undefined || mine.length === 0 || theirs.length === 0) return true;
  return mine.at(-1) === theirs.at(-1);
}

/** A folder is wanted: a file in it was touched. */
function folderLikeness(folder: readonly string[], file: readonly string[]): number {
  const last = folder.at(-1) ?? "";
  for (let at = 0; at + folder.length < file.length + 1; at++) {
    if (folder.every((segment, offset) => segment === file[at + offset])) {
      return folder.length > 1 && !isGenericFolder(last) ? 0.9 : isGenericFolder(last) ? 0 : 0.7;
    }
  }
  return 0;
}

function segments(path: string): string[] {
  return path
    .toLowerCase()
    .replace(/:\d+(?::\d+)?$/, "")
    .split("/")
    .filter((segment) => segment !== "" && segment !== "." && segment !== "..");
}

/** heap_test.go, heap.spec.ts and test_heap.py are heap. */
function baseName(path: readonly string[]): string {
  const name = (path.at(-1) ?? "")
    .replace(/(?<=.)\.[\w.]+$/, "")
    .replace(/[._-](?:test|tests|spec)$|(?<=[a-z])(?:tests?|spec)$|^tests?[._-]/, "");
  return squash(name);
}

function extension(path: readonly string[]): string {
  return /\.(\w+)(?::\d+)*$/.exec(path.at(-1) ?? "")?.[1] ?? "";
}

function hasExtension(path: string): boolean {
  return /\.\w+(?::\d+)*$/.test(path) || /^[A-Z]\w+file$/.test(path.split("/").at(-1) ?? "");
}

function endsWith(one: readonly string[], two: readonly string[]): boolean {
  const length = Math.min(one.length, two.length);
  if (length === 0) return false;
  return one.slice(-length).every((segment, at) => segment === two[two.length - length + at]);
}

function isTelling(folders: readonly string[]): boolean {
  const last = folders.at(-1) ?? "";
  return last.length > 2 && !isGenericFolder(last);
}
