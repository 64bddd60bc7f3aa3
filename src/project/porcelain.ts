/**
 * Reads `git status --porcelain=v2 -z --branch`: records end with NUL, so a name may contain anything
 * else. Lists are cut, counts are not.
 */
import type { GitChange, GitStatus } from "./project-status.ts";

export interface PorcelainStatus extends Pick<
  GitStatus,
  "stagedChanges" | "unstagedChanges" | "untrackedFiles" | "counts" | "upstream" | "ahead" | "behind"
> {
  /** Empty before the first commit. */
  head: string;
}

/** How many fields stand before the path in each kind of record. */
const FIELDS_BEFORE_PATH: Record<string, number> = { "1": 8, "2": 9, u: 10, "?": 1 };

export function parsePorcelain(text: string, maxListed: number): PorcelainStatus {
  const status: PorcelainStatus = {
    head: "",
    stagedChanges: [],
    unstagedChanges: [],
    untrackedFiles: [],
    counts: { staged: 0, unstaged: 0, untracked: 0, conflicted: 0 },
  };
  // What follows the last NUL is empty, or a record that was cut off.
  const records = text.split("\0").slice(0, -1);
  for (let index = 0; index < records.length; index++) {
    const record = records[index] ?? "";
    if (record.startsWith("# ")) readHeader(record.slice(2), status);
    else if (record.startsWith("2 ")) readChange(record, records[++index], status, maxListed);
    else readChange(record, undefined, status, maxListed);
  }
  return status;
}

function readHeader(header: string, status: PorcelainStatus): void {
  const [name, ...values] = header.split(" ");
  const [first = "", second = ""] = values;
  if (name === "branch.oid" && first !== "(initial)") status.head = first;
  if (name === "branch.upstream") status.upstream = values.join(" ");
  if (name === "branch.ab") {
    status.ahead = Math.abs(Number(first)) || 0;
    status.behind = Math.abs(Number(second)) || 0;
  }
}

function readChange(record: string, from: string | undefined, status: PorcelainStatus, maxListed: number): void {
  const kind = record.charAt(0);
  const path = afterFields(record, FIELDS_BEFORE_PATH[kind]);
  if (path === undefined) return;
  const { counts } = status;
  if (kind === "?") {
    counts.untracked++;
    if (status.untrackedFiles.length < maxListed) status.untrackedFiles.push(path);
    return;
  }
  if (kind === "u") {
    counts.conflicted++;
    counts.unstaged++;
    if (status.unstagedChanges.length < maxListed) status.unstagedChanges.push({ path, status: "U" });
    return;
  }
  const [inIndex = ".", inWorktree = "."] = record.slice(2, 4);
  const change = (letter: string): GitChange => {
    return { path, status: letter, ...(from !== undefined && "RC".includes(letter) ? { from } : {}) };
  };
  if (inIndex !== ".") {
    counts.staged++;
    if (status.stagedChanges.length < maxListed) status.stagedChanges.push(change(inIndex));
  }
  if (inWorktree !== ".") {
    counts.unstaged++;
    if (status.unstagedChanges.length < maxListed) status.unstagedChanges.push(change(inWorktree));
  }
}

function afterFields(record: string, fields: number | undefined): string | undefined {
  if (fields === undefined) return undefined;
  let start = 0;
  for (let field = 0; field < fields; field++) {
    start = record.indexOf(" ", start) + 1;
    if (start === 0) return undefined;
  }
  return record.slice(start);
}
