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
  };
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
}

export function claudeLayout(home: string): ClaudeLayout {
  const root = join(home, "claude");
  return {
    root,
    index: join(cacheFolder(home), "claude-index.sqlite"),
    locksFolder: join(root, "locks"),
    archiveFolder: join(root, "archive"),
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
