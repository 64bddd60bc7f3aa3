/** The paths of all files on disk. No other file joins these names. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Project settings, searched from the working folder upwards. */
export const PROJECT_FILE_NAME = ".holdfast.json";

/** `$HOLDFAST_HOME`, else `~/.holdfast`. */
export function resolveHome(env: Environment = process.env): string {
  const configured = env["HOLDFAST_HOME"]?.trim();
  return configured === undefined || configured === "" ? join(homedir(), ".holdfast") : resolve(configured);
}

/** Replaces `~` at the beginning, as a shell does. */
export function expandHome(path: string, userHome: string): string {
  return path === "~" || path.startsWith("~/") ? join(userHome, path.slice(1)) : path;
}

export function configFile(home: string): string {
  return join(home, "config.json");
}

/** Inside the sessions folder. Forks also look for their parent there. */
export const ARCHIVE_FOLDER_NAME = "archive";

/** The agent id must be normalized: it becomes a folder name. */
export function agentLayout(home: string, agentId: string) {
  const root = join(home, "agents", agentId);
  const sessionsFolder = join(root, "sessions");
  return {
    root,
    database: join(root, "agent.sqlite"),
    /** Group history and system events for the next turns. */
    pending: join(root, "pending.sqlite"),
    sessionsFolder,
    sessionsFile: join(sessionsFolder, "sessions.json"),
    /** Archived transcripts and entries, with everything needed to restore them. */
    archiveFolder: join(sessionsFolder, ARCHIVE_FOLDER_NAME),
    /** Copies of transcripts that are in a database. Can be rebuilt. */
    copiesFolder: join(cacheFolder(home), "transcripts", agentId),
    workspace: join(root, "workspace"),
    /** The native sessions that this agent spawned, in OpenClaw's format. */
    claudeRegistry: join(root, CLAUDE_REGISTRY_NAME),
    handoff: handoffLayout(join(root, "handoff")),
  };
}

export type AgentLayout = ReturnType<typeof agentLayout>;

/** Hand-offs as files, for people and other tools. The store has them too. */
function handoffLayout(root: string) {
  return {
    root,
    /** The latest state of any session. */
    stateFile: join(root, "session-state.json"),
    snapshotsFolder: join(root, "snapshots"),
    patternsFolder: join(root, "patterns"),
    /** Sessions with a hand-off that was not picked up yet. */
    pendingFile: join(root, "resume", "pending.json"),
  };
}

export type HandoffLayout = ReturnType<typeof handoffLayout>;

/** The person's hooks, for all agents. */
export function hooksFolder(home: string): string {
  return join(home, "hooks");
}

/** Hooks of one agent, in its workspace. */
export function workspaceHooksFolder(workspace: string): string {
  return join(workspace, "hooks");
}

/** Fingerprints of the workspace hooks that the person enabled. */
export function enabledHooksFile(home: string): string {
  return join(home, "hooks.json");
}

/** Copies of these hooks, which are what runs. Can be rebuilt. */
export function hookCopiesFolder(home: string): string {
  return join(cacheFolder(home), "hooks");
}

/** The same name as in an OpenClaw folder. */
export const CLAUDE_REGISTRY_NAME = "claude-code-sessions.json";

/** Data about native sessions, shared by all agents. */
export function claudeLayout(home: string) {
  const root = join(home, "claude");
  return {
    root,
    /** Derived from Claude Code's files. Can be rebuilt. */
    index: join(cacheFolder(home), "claude-index.sqlite"),
    /** One lock per native session and per repo in use. */
    locksFolder: join(root, "locks"),
    /** Worktrees that tasks asked for, named after them. */
    worktreesFolder: join(root, "worktrees"),
    /** Copies of transcripts that Claude Code would have deleted. */
    archiveFolder: join(root, "archive"),
    /** Claude Code's settings before our hooks were added. */
    hooksFolder: join(root, "hooks"),
    /** Capture requests that those hooks have left. */
    hookRequestsFolder: join(root, "hooks", "requests"),
    /** Errors of those hooks, which must not print. */
    hookLog: join(root, "hooks", "hook.log"),
    /** Rendered hand-offs, one file per repo, for the hook of a starting session. Can be rebuilt. */
    offersFolder: join(cacheFolder(home), "offers"),
  };
}

/** `$OPENCLAW_STATE_DIR`, else `~/.openclaw`. Only read. */
export function resolveOpenClawHome(env: Environment = process.env): string {
  const configured = env["OPENCLAW_STATE_DIR"]?.trim();
  return configured === undefined || configured === "" ? join(homedir(), ".openclaw") : resolve(configured);
}

/** In `agents/<id>/agent/` of OpenClaw 2026.7 and later. */
export const OPENCLAW_DATABASE_NAME = "openclaw-agent.sqlite";

export function gatewayLayout(home: string) {
  return {
    tokenFile: join(home, "gateway.token"),
    runtimeFile: join(home, "gateway.json"),
    /** Output of a gateway that runs in the background. */
    logFile: join(home, "gateway.log"),
  };
}

/** Data of a channel account. Both names must be validated: they become folder names. */
export function channelLayout(home: string, channel: string, accountId: string) {
  const root = join(channelsFolder(home), channel, accountId);
  return {
    root,
    authFolder: join(root, "auth"),
    mediaFolder: join(root, "media"),
  };
}

/** Files of messages that came back from a database. */
export function returnedMediaFolder(home: string): string {
  return join(home, "media");
}

/** Copies of files that are in a database. Can be rebuilt. */
export function mediaCopiesFolder(home: string): string {
  return join(cacheFolder(home), "media");
}

/** Also holds the pairing files of all channels. */
export function channelsFolder(home: string): string {
  return join(home, "channels");
}

export function agentsFolder(home: string): string {
  return join(home, "agents");
}

export function cacheFolder(home: string): string {
  return join(home, "cache");
}

/** The index over memory files and transcripts. Can be rebuilt. */
export function searchIndexFile(home: string): string {
  return join(cacheFolder(home), "search.sqlite");
}
