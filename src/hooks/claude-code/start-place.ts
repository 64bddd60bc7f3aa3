/**
 * Where a Claude Code session starts: its repo, and the sessions that may be handed over to it. Everything comes from
 * the file system; git is not asked.
 */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Logger } from "../../base/log.ts";
import { type RepoLocator, createRepoLocator } from "../../claude/discovery/repo-locator.ts";
import type { HandoffConfig } from "../../config/config.ts";
import type { LeftSession } from "../../handoff/choose-left.ts";
import { type NativeTarget, findEndedSessions } from "../../handoff/native-sessions.ts";
import { type ReadyText, repoPlace } from "../../handoff/ready-offers.ts";
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

/** Something to tell. */
export interface Left extends LeftSession {
  /** Undefined: not rendered yet. */
  text?: ReadyText | undefined;
}

const MAX_TRANSCRIPTS = 3;

export async function placeOf(parts: StartParts, input: HookInput): Promise<StartPlace> {
  const { sessionId, transcriptPath, cwd } = input;
  const repos = createRepoLocator();
  const repo = repoPlace(repos, cwd);
  const isNew = input.source === "startup" || input.source === "clear";
  const place = { ...parts, repos, repo, isNew, isAtOnce: input.source !== "startup" };
  if (!isNew) return { ...place, targets: [{ kind: "native", sessionId, transcriptPath, cwd }] };
  const targets = await findEndedSessions({
    claudeHome: parts.claudeHome,
    folders: repoFolders(repos, cwd),
    isHere: (other) => repoPlace(repos, other) === repo,
    since: Date.now() - parts.config.expiresHours * 3_600_000,
    limit: MAX_TRANSCRIPTS,
    except: [sessionId],
  });
  return { ...place, targets };
}

/** The repo and its worktrees, from git's files. Outside a repo, subfolders are other projects. */
function repoFolders(repos: RepoLocator, cwd: string): string[] {
  const root = repos.repoOf(cwd);
  if (root === undefined) return [repos.canonical(cwd)];
  const worktree = repos.worktreeOf(repos.canonical(cwd)) ?? root;
  const notes = join(root, ".git", "worktrees");
  try {
    const linked = readdirSync(notes).map((name) => dirname(readFileSync(join(notes, name, "gitdir"), "utf8").trim()));
    return Array.from(new Set([root, worktree, ...linked.map((path) => repos.canonical(path))]));
  } catch {
    return Array.from(new Set([root, worktree]));
  }
}

/** True if nothing was said since the capture. */
export function isCurrent(state: SessionState | undefined, { transcriptPath }: NativeTarget): boolean {
  const size = statSync(transcriptPath, { throwIfNoEntry: false })?.size ?? 0;
  return size === (state?.transcript.offset ?? 0);
}
