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
