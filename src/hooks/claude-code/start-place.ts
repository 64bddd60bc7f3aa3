/**
 * Where a Claude Code session starts: its repo, and the sessions that may be handed over to it. Everything comes from
 * the file system; git is not asked.
 */
import { statSync } from "node:fs";
import type { Logger } from "../../base/log.ts";
import { type RepoLocator, createRepoLocator } from "../../claude/discovery/repo-locator.ts";
import type { HandoffConfig } from "../../config/config.ts";
import { type NativeTarget, endedInRepo } from "../../handoff/native-sessions.ts";
import { repoPlace } from "../../handoff/ready-offers.ts";
import type { SessionState } from "../../handoff/state.ts";
import type { KeptHandoff } from "../../store/store.ts";
import type { HookInput } from "./hook-call.ts";

export interface StartParts {
  agentId: string;
  config: HandoffConfig;
  claudeHome: string;
  /** `claudeLayout(home).offersFolder`. */
  offersFolder: string;
  /** Stored hand-offs of native sessions, newest first. Called only if the rendered ones are not enough. */
  readKept(): Promise<readonly KeptHandoff[]>;
  logger: Logger;
  /** Milliseconds since the hook was called. */
  elapsedMs(): number;
}

export interface StartPlace extends StartParts {
  repos: RepoLocator;
  /** Where the session starts, see `repoPlace`. */
  repo: string;
  /** Sessions that may be handed over, newest first. After a compaction, the session itself. */
  targets: readonly NativeTarget[];
  /** False: the session continues, and its own hand-off is for itself. */
  isNew: boolean;
  /** The previous session has just ended in the same process, or continues: its last words were hardly captured yet. */
  isAtOnce: boolean;
}

export async function placeOf(parts: StartParts, input: HookInput): Promise<StartPlace> {
  const { sessionId, transcriptPath, cwd } = input;
  const repos = createRepoLocator();
  const repo = repoPlace(repos, cwd);
  const isNew = input.source === "startup" || input.source === "clear";
  const place = { ...parts, repos, repo, isNew, isAtOnce: input.source !== "startup" };
  if (!isNew) return { ...place, targets: [{ kind: "native", sessionId, transcriptPath, cwd }] };
  const since = Date.now() - parts.config.expiresHours * 3_600_000;
  const query = { claudeHome: parts.claudeHome, since, except: [sessionId] };
  return { ...place, targets: await endedInRepo(repos, cwd, query) };
}

/** True if nothing was said since the capture. */
export function isCurrent(state: SessionState | undefined, { transcriptPath }: NativeTarget): boolean {
  const size = statSync(transcriptPath, { throwIfNoEntry: false })?.size ?? 0;
  return size === (state?.transcript.offset ?? 0);
}
