/** Turns what SQLite reports into errors that say what to do. */
import { type ErrorKind, HoldfastError, errorMessage } from "../../base/errors.ts";

export function sqliteError(error: unknown, path: string): unknown {
  const code = primaryResultCode(error);
  if (code === undefined) return error;
  const advice = ADVICE[code] ?? UNEXPECTED;
  return new HoldfastError(advice.kind, advice.code, `The store ${path} failed: ${errorMessage(error)}`, {
    hint: advice.hint,
    data: { path, sqlite: code },
    cause: error,
  });
}

/** SQLite's result code without the extension in its upper bits; undefined for other errors. */
function primaryResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

interface Advice {
  kind: ErrorKind;
  code: string;
  hint: string;
}

const DAMAGED: Advice = {
  kind: "corrupt",
  code: "store-corrupt",
  hint: "Nothing was changed. Run `holdfast doctor` to see what can be recovered.",
};

const BUSY: Advice = {
  kind: "locked",
  code: "store-busy",
  hint: "Another process is writing for very long. Try again, or look for a process that hangs.",
};

const READ_ONLY: Advice = {
  kind: "forbidden",
  code: "store-read-only",
  hint: "Check who owns the file and its folder (ls -ld), and whether the file system is mounted read-only.",
};

const UNEXPECTED: Advice = {
  kind: "unavailable",
  code: "store-failed",
  hint: "Nothing was changed. Run `holdfast doctor` if it happens again.",
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
