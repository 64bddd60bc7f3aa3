/** The window to capture: its transcript, folder and project. */
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { GitOptions } from "../project/run-git.ts";
import {
  type AgentHandle,
  locateWindowTranscript,
  transcriptPath,
  expectedOfWindow,
  expectedTranscript,
} from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { ExpectedTranscript } from "../transcript/damage.ts";
import { type CaptureTarget, nativeSessionKey } from "./handoff.ts";
import { projectName } from "./project.ts";

export interface CaptureSource {
  kind: "session" | "native";
  sessionKey: string;
  /** The window. For a native session: Claude Code's id. */
  sessionId: string;
  path: string;
  /** The name of the transcript in a state. */
  file: string;
  /** The working folder. */
  cwd: string;
  project: string;
  /** For the detection of damage. Undefined for native sessions. */
  expected?: ExpectedTranscript | undefined;
}

export interface Sources {
  /** Undefined if there is no such session, or its hand-off is off. */
  of(target: CaptureTarget): Promise<CaptureSource | undefined>;
  /** Any window of a session, even a closed one. */
  ofWindow(entry: SessionEntry, window: Window): Promise<CaptureSource>;
  /** The current project of a session. */
  project(entry: SessionEntry): Promise<string>;
  nativeProject(cwd: string): Promise<string>;
}

export interface SourceOptions {
  agent: AgentHandle;
  /** See `ProjectPlace`. */
  defaultWorkspace: string;
  git?: GitOptions | undefined;
}

export function createSources(options: SourceOptions): Sources {
  const { agent } = options;
  const projectOf = createProjectCache(options);
  const folderOf = (entry: SessionEntry): string => entry.projectFolder ?? agent.workspace;
  const project = async (entry: SessionEntry): Promise<string> => await projectOf(folderOf(entry), entry.project);
  const source = async (
    entry: SessionEntry,
    own: Pick<CaptureSource, "sessionKey" | "sessionId" | "path" | "expected">,
  ): Promise<CaptureSource> => ({
    ...own,
    kind: "session",
    sessionKey: canonicalSessionKey(own.sessionKey, agent),
    file: basename(own.path),
    cwd: folderOf(entry),
    project: await project(entry),
  });

  return {
    async of(target) {
      if (target.kind === "native") {
        const { kind, sessionId, transcriptPath: path, cwd } = target;
        const sessionKey = canonicalSessionKey(nativeSessionKey(agent.agentId, sessionId), agent);
        return { kind, sessionKey, sessionId, path, file: path, cwd, project: await projectOf(cwd) };
      }
      const { sessionKey } = target;
      const entry = target.entry ?? (await agent.store.get(sessionKey));
      if (entry === undefined || entry.handoff === "off") return undefined;
      const { sessionId } = entry;
      if (target.sessionId !== undefined && target.sessionId !== sessionId) return undefined;
      const path = await transcriptPath(agent, entry);
      return await source(entry, { sessionKey, sessionId, path, expected: expectedTranscript(entry) });
    },
    async ofWindow(entry, window) {
      const { key: sessionKey, sessionId } = window;
      const path = await locateWindowTranscript(agent, window);
      return await source(entry, { sessionKey, sessionId, path, expected: expectedOfWindow(window, entry) });
    },
    project,
    nativeProject: async (cwd) => await projectOf(cwd),
  };
}

const PROJECT_CACHE_MS = 60_000;
const MAX_PROJECTS = 200;

/** Captures are far more frequent than changes of remotes, so git runs once a minute for each folder. */
function createProjectCache(options: SourceOptions): (folder: string, named?: string) => Promise<string> {
  const { agent, defaultWorkspace, git } = options;
  const known = new Map<string, { name: Promise<string>; made: string; until: number }>();
  return async (folder, named) => {
    const now = agent.clock.now();
    const id = JSON.stringify([folder, named]);
    const made = await identityOf(folder);
    const item = known.get(id);
    if (item !== undefined && now < item.until && item.made === made) return await item.name;
    if (known.size >= MAX_PROJECTS) known.clear();
    const name = projectName({ named, folder, agentId: agent.agentId, defaultWorkspace }, git);
    known.set(id, { name, made, until: now + PROJECT_CACHE_MS });
    return await name;
  };
}

/** Changes when the folder is replaced or becomes a repo, and with the configuration of the repo. */
async function identityOf(folder: string): Promise<string> {
  const parts = [folder, join(folder, ".git"), join(folder, ".git", "config")].map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    return found === undefined ? "" : `${found.ino}:${path === folder ? "" : found.mtimeMs}`;
  });
  return (await Promise.all(parts)).join(" ");
}
