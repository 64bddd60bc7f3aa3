/** What a selection works with, and what a caller may know or want besides. */
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { SessionSelectionConfig } from "../../config/config.ts";
import type { LanguageModel } from "../../models/language-model.ts";
import type { GitStatus } from "../../project/project-status.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { EvidenceSources } from "./evidence.ts";
import type { RelevanceScorer } from "./selection.ts";

/** What selection needs of a project's status. */
export interface SelectionProject {
  git?: Pick<GitStatus, "currentBranch" | "recentCommits" | "worktrees">;
  sessions: { active: DiscoveredSession[]; recent: DiscoveredSession[]; ownRecent: DiscoveredSession[] };
}

export interface SelectOptions {
  /** Every session of the repo. Left out: those of the status, which are not all. */
  sessions?: readonly DiscoveredSession[] | undefined;
  label?: string | undefined;
  /** What a session may cost. Left out: the share that discovery worked out. */
  maxBudgetUsd?: number | undefined;
  /** Left out: the defaults, which compare without a model. */
  config?: SessionSelectionConfig | undefined;
  /** For comparing tasks. Left out: the offline scorer. */
  model?: LanguageModel | (() => LanguageModel) | undefined;
  /** Left out: `scoreOffline`. */
  offline?: RelevanceScorer | undefined;
  /** When a session runs here already. `worktree`: go on as if it did not; the caller makes a worktree. */
  onRunning?: "queue" | "fork" | "worktree" | undefined;
  /** The registry's session of a label. Left out: the labels that discovery found. */
  findByLabel?: ((label: string) => Promise<string | undefined>) | undefined;
  /** Sessions that a process of ours has open and that wait for a message. Left out: none. */
  waiting?: readonly string[] | undefined;
  /** Sessions that run on lines of their own (labels): no reason to wait, and not to be chosen. Left out: none. */
  besides?: readonly string[] | undefined;
  /** What to look for besides git. `false`: look for nothing, not even with git. */
  evidence?: Partial<EvidenceSources> | false | undefined;
  /** In ms. */
  now?: number | undefined;
  logger?: Logger | undefined;
  signal?: AbortSignal | undefined;
  ids?: Ids | undefined;
}
