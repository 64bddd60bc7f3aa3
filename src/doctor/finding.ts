/**
 * The findings of the checks. A check only reads; a finding that is safe to repair without asking carries the repair.
 * Repairs never delete data: damaged files are set aside, misplaced files are moved.
 */
import type { Clock } from "../base/clock.ts";
import type { AgentLayout } from "../config/layout.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { StoreRepair } from "../store/store-repair.ts";

export interface Finding {
  /** The check that found it, for programs. */
  check: string;
  /** `info` is not a problem. */
  severity: "info" | "warning" | "error";
  message: string;
  /** Undefined if it concerns no single agent. */
  agent?: string | undefined;
  path?: string | undefined;
  key?: string | undefined;
  /** What `--fix` does about it. Undefined if a person has to decide. */
  fix?: string | undefined;
  /** Set when a repair was tried. */
  fixed?: boolean | undefined;
  failure?: string | undefined;
}

export interface Diagnosis extends Omit<Finding, "check" | "agent" | "fixed" | "failure"> {
  /** Present exactly when `fix` is. */
  repair?: (() => Promise<void>) | undefined;
  /** The transcript that lost data, for findings that a person can acknowledge. */
  lostFrom?: string | undefined;
  /** Ends the report of a loss that cannot be repaired. */
  acknowledge?: (() => Promise<void>) | undefined;
}

/** Whether something is still wrong after the run. */
export function isOpenProblem({ severity, fixed }: Finding): boolean {
  return severity !== "info" && fixed !== true;
}

/** One agent as the checks see it, even if its store cannot be opened. */
export interface AgentScope {
  agentId: string;
  mainKey: string;
  layout: AgentLayout;
  repair: StoreRepair;
  /** Opens the store, which must exist and be sound. The caller closes it. */
  open(): Promise<AgentHandle>;
  clock: Clock;
  deep: boolean;
}

/** An agent whose store is not in files of this machine. */
export type SharedScope = Omit<AgentScope, "repair"> & { repair?: undefined };
