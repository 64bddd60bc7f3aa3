/** The paths of all files on disk. No other file joins these names. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

const CONFIG_FILE_NAME = "config.json";

/** Project settings, searched from the working folder upwards. */
export const PROJECT_FILE_NAME = ".holdfast.json";

/** `$HOLDFAST_HOME`, else `~/.holdfast`. */
export function resolveHome(env: Environment = process.env): string {
  const configured = env["HOLDFAST_HOME"]?.trim();
  return configured === undefined || configured === "" ? join(homedir(), ".holdfast") : resolve(configured);
}

export function configFile(home: string): string {
  return join(home, CONFIG_FILE_NAME);
}

/** Inside the sessions folder. Forks also look for their parent there. */
export const ARCHIVE_FOLDER_NAME = "archive";

export interface AgentLayout {
  root: string;
  database: string;
  /** Group history and system events for the next turns. */
  pending: string;
  sessionsFolder: string;
  sessionsFile: string;
  /** Archived transcripts and entries, with everything needed to restore them. */
  archiveFolder: string;
  workspace: string;
  /** The native sessions that this agent spawned, in OpenClaw's format. */
  claudeRegistry: string;
  handoff: HandoffLayout;
}

/** Hand-offs as files, for people and other tools. The store has them too. */
export interface HandoffLayout {
  root: string;
  /** The latest state of any session. */
  stateFile: string;
  /** Earlier states, one file each. */
  snapshotsFolder: string;
  /** Notes, one file per day. */
  patternsFolder: string;
  /** Sessions with a hand-off that was not picked up yet. */
  pendingFile: string;
}

/** The agent id must be normalized: it becomes a folder name. */
export function agentLayout(home: string, agentId: string): AgentLayout {
  const root = join(home, "agents", agentId);
  const sessionsFolder = join(root, "sessions");
  return {
    root,
    database: join(root, "agent.sqlite"),
    pending: join(root, "pending.sqlite"),
    sessionsFolder,
    sessionsFile: join(sessionsFolder, "sessions.json"),
    archiveFolder: join(sessionsFolder, ARCHIVE_FOLDER_NAME),
    workspace: join(root, "workspace"),
    claudeRegistry: join(root, CLAUDE_REGISTRY_NAME),
    handoff: handoffLayout(join(root, "handoff")),
  };
}

function handoffLayout(root: string): HandoffLayout {
  return {
    root,
    stateFile: join(root, "session-state.json"),
    snapshotsFolder: join(root, "snapshots"),
    patternsFolder: join(root, "patterns"),
    pendingFile: join(root, "resume", "pending.json"),
  };
}

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
interface ClaudeLayout {
  root: string;
  /** Derived from Claude Code's files. Can be rebuilt. */
  index: string;
  /** One lock per native session and per repo in use. */
  locksFolder: string;
  /** Copies of transcripts that Claude Code would have deleted. */
  archiveFolder: string;
  /** Claude Code's settings before our hooks were added. */
  hooksFolder: string;
  /** Capture requests that those hooks have left. */
  hookRequestsFolder: string;
  /** Errors of those hooks, which must not print. */
  hookLog: string;
  /** Rendered hand-offs, one file per repo, for the hook of a starting session. Can be rebuilt. */
  offersFolder: string;
}

export function claudeLayout(home: string): ClaudeLayout {
  const root = join(home, "claude");
  return {
    root,
    index: join(cacheFolder(home), "claude-index.sqlite"),
    locksFolder: join(root, "locks"),
    archiveFolder: join(root, "archive"),
    hooksFolder: join(root, "hooks"),
    hookRequestsFolder: join(root, "hooks", "requests"),
    hookLog: join(root, "hooks", "hook.log"),
    offersFolder: join(cacheFolder(home), "offers"),
  };
}

/** `$OPENCLAW_STATE_DIR`, else `~/.openclaw`. Only read. */
export function resolveOpenClawHome(env: Environment = process.env): string {
  const configured = env["OPENCLAW_STATE_DIR"]?.trim();
  return configured === undefined || configured === "" ? join(homedir(), ".openclaw") : resolve(configured);
}

interface GatewayLayout {
  /** The token that every request must carry. */
  tokenFile: string;
  /** Address of the running gateway. */
  runtimeFile: string;
  /** Output of a gateway that runs in the background. */
  logFile: string;
}

export function gatewayLayout(home: string): GatewayLayout {
  return {
    tokenFile: join(home, "gateway.token"),
    runtimeFile: join(home, "gateway.json"),
    logFile: join(home, "gateway.log"),
  };
}

/** Data of a channel account: read position, credentials, received files. */
interface ChannelLayout {
  root: string;
  cursorFile: string;
  authFolder: string;
  mediaFolder: string;
}

/** Both names must be validated: they become folder names. */
export function channelLayout(home: string, channel: string, accountId: string): ChannelLayout {
  const root = join(channelsFolder(home), channel, accountId);
  return {
    root,
    cursorFile: join(root, "cursors.json"),
    authFolder: join(root, "auth"),
    mediaFolder: join(root, "media"),
  };
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
