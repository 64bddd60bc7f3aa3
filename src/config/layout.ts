/** Where everything lies on disk. No other file joins these names. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

const CONFIG_FILE_NAME = "config.json";

/** Settings of one project, found from the working folder upwards. */
export const PROJECT_FILE_NAME = ".holdfast.json";

/** `$HOLDFAST_HOME`, else `~/.holdfast`. */
export function resolveHome(env: Environment = process.env): string {
  const configured = env["HOLDFAST_HOME"]?.trim();
  return configured === undefined || configured === "" ? join(homedir(), ".holdfast") : resolve(configured);
}

export function configFile(home: string): string {
  return join(home, CONFIG_FILE_NAME);
}

/** Inside the sessions folder; a fork finds its parent there too. */
export const ARCHIVE_FOLDER_NAME = "archive";

export interface AgentLayout {
  root: string;
  database: string;
  /** What the next turns are to be told: group history and system events. */
  pending: string;
  sessionsFolder: string;
  sessionsFile: string;
  /** Transcripts and entries that were taken out of use, each with what is needed to restore it. */
  archiveFolder: string;
  workspace: string;
  /** The native sessions that this agent spawned, as OpenClaw writes them. */
  claudeRegistry: string;
  handoff: HandoffLayout;
}

/** What sessions leave for the next, for people and other tools; the store has it too. */
export interface HandoffLayout {
  root: string;
  /** The newest state of any session. */
  stateFile: string;
  /** Earlier states, one file each. */
  snapshotsFolder: string;
  /** What was noted, one file a day. */
  patternsFolder: string;
  /** The sessions that wait for somebody to go on. */
  pendingFile: string;
}

/** The agent id must be normalised: it becomes a folder name. */
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

/** Hooks of the person, for all agents. */
export function hooksFolder(home: string): string {
  return join(home, "hooks");
}

/** Hooks of one agent, in its workspace. */
export function workspaceHooksFolder(workspace: string): string {
  return join(workspace, "hooks");
}

/** What the hooks of workspaces were when the person turned them on. */
export function enabledHooksFile(home: string): string {
  return join(home, "hooks.json");
}

/** Copies of them, which are what runs. Derived: deleting it loses nothing. */
export function hookCopiesFolder(home: string): string {
  return join(cacheFolder(home), "hooks");
}

/** The same name under an OpenClaw folder. */
export const CLAUDE_REGISTRY_NAME = "claude-code-sessions.json";

/** What is shared by all agents about native sessions. */
export interface ClaudeLayout {
  root: string;
  /** Derived from Claude Code's files: deleting it loses nothing. */
  index: string;
  /** One lock per native session and per repo in use. */
  locksFolder: string;
  /** Copies of transcripts that Claude Code would have deleted. */
  archiveFolder: string;
  /** What Claude Code's settings were before our hooks came into them. */
  hooksFolder: string;
  /** What those hooks have left to be captured. */
  hookRequestsFolder: string;
  /** What went wrong in them: nobody else may be told. */
  hookLog: string;
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
  };
}

/** `$OPENCLAW_STATE_DIR`, else `~/.openclaw`. Only read. */
export function resolveOpenClawHome(env: Environment = process.env): string {
  const configured = env["OPENCLAW_STATE_DIR"]?.trim();
  return configured === undefined || configured === "" ? join(homedir(), ".openclaw") : resolve(configured);
}

export interface GatewayLayout {
  /** What every request to the gateway must show. */
  tokenFile: string;
  /** Where the running gateway listens, for commands that look for it. */
  runtimeFile: string;
  /** What a gateway that was started in the background prints. */
  logFile: string;
}

export function gatewayLayout(home: string): GatewayLayout {
  return {
    tokenFile: join(home, "gateway.token"),
    runtimeFile: join(home, "gateway.json"),
    logFile: join(home, "gateway.log"),
  };
}

/** What a channel account keeps: who was let in, how far it has read, files that people sent. */
export interface ChannelLayout {
  root: string;
  cursorFile: string;
  authFolder: string;
  mediaFolder: string;
}

/** Both names must be checked: they become folder names. */
export function channelLayout(home: string, channel: string, accountId: string): ChannelLayout {
  const root = join(channelsFolder(home), channel, accountId);
  return {
    root,
    cursorFile: join(root, "cursors.json"),
    authFolder: join(root, "auth"),
    mediaFolder: join(root, "media"),
  };
}

/** The pairing files of all channels lie in it. */
export function channelsFolder(home: string): string {
  return join(home, "channels");
}

export function agentsFolder(home: string): string {
  return join(home, "agents");
}

export function cacheFolder(home: string): string {
  return join(home, "cache");
}

/** The index over memory files and transcripts. Derived: deleting it loses nothing. */
export function searchIndexFile(home: string): string {
  return join(cacheFolder(home), "search.sqlite");
}
