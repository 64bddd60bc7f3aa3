/**
 * What the checks find. A check only looks; what it yields says what is wrong and, where that is
 * safe without asking anybody, brings the way to mend it. Mending never deletes data: what is
 * damaged is set aside, what lies in the wrong place is moved.
 */

/** `info` is worth knowing and no problem. */
type Severity = "info" | "warning" | "error";

export interface Finding {
  /** The check that found it, for programs. */
  check: CheckName;
  severity: Severity;
  message: string;
  /** Missing for what concerns no single agent. */
  agent?: string;
  path?: string;
  key?: string;
  /** What `--fix` does about it. Missing: a person has to decide. */
  fix?: string;
  /** Set when it was tried. */
  fixed?: boolean;
  /** Why mending failed. */
  failure?: string;
}

export type CheckName =
  | "permissions"
  | "configuration"
  | "leftovers"
  | "locks"
  | "gateway"
  | "channels"
  | "pending"
  | "store"
  | "keys"
  | "view"
  | "leases"
  | "queues"
  | "archive"
  | "windows"
  | "orphans"
  | "transcripts";

export interface Diagnosis {
  finding: Omit<Finding, "check" | "agent">;
  /** Present exactly when the finding says what `--fix` does. */
  mend?: () => Promise<void>;
}

/** Runs lazily: what is mended while it is suspended must not confuse it. */
export type Check = AsyncIterable<Diagnosis>;

/** Whether something is still wrong after the run. */
export function isOpenProblem({ severity, fixed }: Finding): boolean {
  return severity !== "info" && fixed !== true;
}
