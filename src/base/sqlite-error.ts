/** Turns what SQLite reports into errors that say what to do. */
import { type ErrorKind, HoldfastError, errorMessage } from "./errors.ts";

/** What a database is for, as far as its errors tell. */
export interface DatabaseRole {
  /** Codes begin with it: `store-busy`. */
  prefix: string;
  /** What the message calls it, before its path. Left out: the path alone. */
  name?: string;
  /** What to do when it is damaged, and when something unexpected happens. */
  hints: { damaged: string; unexpected: string };
}

export function sqliteError(error: unknown, path: string, { prefix, name, hints }: DatabaseRole): unknown {
  const sqlite = sqliteResultCode(error);
  if (sqlite === undefined) return error;
  const { kind, code, hint = hints.unexpected } = ADVICE[sqlite] ?? UNEXPECTED;
  const subject = name === undefined ? path : `${name} ${path}`;
  return new HoldfastError(kind, code.replace("*", prefix), `${subject} failed: ${errorMessage(error)}`, {
    hint: kind === "corrupt" ? hints.damaged : hint,
    data: { path, sqlite },
    cause: error,
  });
}

/** SQLite's result code without the extension in its upper bits; undefined for other errors. */
export function sqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

interface Advice {
  kind: ErrorKind;
  /** `*` stands for the database's prefix. */
  code: string;
  /** Left out: what the database itself advises. */
  hint?: string;
}

const DAMAGED: Advice = { kind: "corrupt", code: "*-corrupt" };
const UNEXPECTED: Advice = { kind: "unavailable", code: "*-failed" };

const BUSY: Advice = {
  kind: "locked",
  code: "*-busy",
  hint: "Another process is writing for very long. Try again, or look for a process that hangs.",
};

const READ_ONLY: Advice = {
  kind: "forbidden",
  code: "*-read-only",
  hint: "Check who owns the file and its folder (ls -ld), and whether the file system is mounted read-only.",
};

const ADVICE: Record<number, Advice> = {
  3: READ_ONLY,
  5: BUSY,
  6: BUSY,
  8: READ_ONLY,
  10: { kind: "unavailable", code: "disk-failed", hint: "The disk reports an error; look at the system's log." },
  11: DAMAGED,
  13: { kind: "unavailable", code: "disk-full", hint: "Free some disk space and try again; nothing was half written." },
  14: READ_ONLY,
  26: DAMAGED,
};
