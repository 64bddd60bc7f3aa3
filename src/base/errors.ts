/**
 * Every error that Holdfast raises on purpose is a HoldfastError: a stable `code` for programs, a `kind` that decides
 * the exit code and HTTP status, a `message` for people and a `hint` that says what to do. Any other error is a defect
 * and is reported as kind `internal`.
 */

/** The one table of exit codes and HTTP statuses by kind. */
export const ERROR_KINDS = {
  usage: { exitCode: 2, httpStatus: 400, retryable: false },
  "not-found": { exitCode: 3, httpStatus: 404, retryable: false },
  conflict: { exitCode: 1, httpStatus: 409, retryable: false },
  forbidden: { exitCode: 1, httpStatus: 403, retryable: false },
  locked: { exitCode: 4, httpStatus: 423, retryable: true },
  fenced: { exitCode: 4, httpStatus: 409, retryable: false },
  corrupt: { exitCode: 1, httpStatus: 500, retryable: false },
  unsupported: { exitCode: 1, httpStatus: 501, retryable: false },
  unavailable: { exitCode: 1, httpStatus: 503, retryable: true },
  timeout: { exitCode: 1, httpStatus: 504, retryable: true },
  degraded: { exitCode: 5, httpStatus: 503, retryable: false },
  interrupted: { exitCode: 130, httpStatus: 499, retryable: false },
  internal: { exitCode: 1, httpStatus: 500, retryable: false },
} as const satisfies Record<string, ErrorOutcome>;

export type ErrorKind = keyof typeof ERROR_KINDS;

export interface ErrorOutcome {
  exitCode: number;
  httpStatus: number;
  retryable: boolean;
}

export interface HoldfastErrorOptions {
  /** What the reader can do about it. */
  hint?: string | undefined;
  /** Facts for programs: paths, ids, offending values. Never secrets. */
  data?: Record<string, unknown> | undefined;
  cause?: unknown;
}

export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly kind: ErrorKind;
  readonly code: string;
  readonly hint: string | undefined;
  readonly data: Record<string, unknown>;

  constructor(kind: ErrorKind, code: string, message: string, options: HoldfastErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }
}

export function hasCode(error: unknown, code: string): error is HoldfastError {
  return error instanceof HoldfastError && error.code === code;
}

export function errorOutcome(error: unknown): ErrorOutcome {
  return ERROR_KINDS[error instanceof HoldfastError ? error.kind : "internal"];
}

/** The JSON shape of an error, the same on stderr with `--json`, over HTTP and over RPC. */
export interface ErrorReport {
  code: string;
  kind: ErrorKind;
  message: string;
  hint?: string | undefined;
  retryable: boolean;
  data?: Record<string, unknown> | undefined;
}

export function reportError(error: unknown): ErrorReport {
  if (!(error instanceof HoldfastError)) {
    return { code: "internal", kind: "internal", message: errorMessage(error), retryable: false };
  }
  return {
    code: error.code,
    kind: error.kind,
    message: error.message,
    hint: error.hint,
    retryable: ERROR_KINDS[error.kind].retryable,
    ...(Object.keys(error.data).length === 0 ? {} : { data: error.data }),
  };
}

/** Undefined if the work fails with an error of one of these kinds or codes. */
export async function undefinedOn<T>(work: Promise<T>, ...expected: readonly string[]): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HoldfastError && [error.kind, error.code].some((name) => expected.includes(name)))
      return undefined;
    throw error;
  }
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message, and what to do about it. */
export function messageWithHint(error: unknown): string {
  const message = errorMessage(error);
  if (!(error instanceof HoldfastError) || error.hint === undefined) return message;
  return `${message.replace(/\.$/, "")}. ${error.hint}`;
}

/** The `code` of a Node system error such as `ENOENT`, if it is one. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True if there is no free file descriptor. This is temporary. */
export function isOutOfFiles(error: unknown): boolean {
  if (error instanceof HoldfastError) return error.code === TOO_MANY_FILES;
  const code = systemErrorCode(error);
  return code === "EMFILE" || code === "ENFILE";
}

const TOO_MANY_FILES = "too-many-open-files";

export function fileError(error: unknown, action: string, path: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const code = systemErrorCode(error);
  const advice = code === undefined ? undefined : FILE_ADVICE[code];
  return new HoldfastError(
    advice?.kind ?? "unavailable",
    advice?.code ?? "file-failed",
    `Cannot ${action} ${path}: ${errorMessage(error)}`,
    { hint: advice?.hint, data: { path, system: code }, cause: error },
  );
}

interface FileAdvice {
  kind: ErrorKind;
  code: string;
  hint: string;
}

const FORBIDDEN: FileAdvice = {
  kind: "forbidden",
  code: "file-forbidden",
  hint: "Check who owns the file and its folder (ls -ld), or point HOLDFAST_HOME elsewhere.",
};

const FILE_ADVICE: Record<string, FileAdvice> = {
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: {
    kind: "forbidden",
    code: "file-system-read-only",
    hint: "The file system is mounted read-only: remount it, or point HOLDFAST_HOME elsewhere.",
  },
  ENOSPC: {
    kind: "unavailable",
    code: "disk-full",
    hint: "Free some disk space and try again; nothing was half written.",
  },
  EDQUOT: {
    kind: "unavailable",
    code: "disk-full",
    hint: "The disk quota is used up: free some space and try again; nothing was half written.",
  },
  EMFILE: {
    kind: "unavailable",
    code: TOO_MANY_FILES,
    hint: "This process has too many files open: try again in a moment, or raise the limit (ulimit -n).",
  },
  ENFILE: {
    kind: "unavailable",
    code: TOO_MANY_FILES,
    hint: "The system has too many files open: try again in a moment.",
  },
  EEXIST: {
    kind: "conflict",
    code: "file-exists",
    hint: "The name is taken: move that file away, or choose another name.",
  },
  ENOTDIR: {
    kind: "usage",
    code: "not-a-folder",
    hint: "Part of this path is a file, but must be a folder.",
  },
};
