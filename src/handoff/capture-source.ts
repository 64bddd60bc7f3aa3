/** What is captured: one window of one session, where its transcript lies and what was worked on in it. */
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { GitOptions } from "../project/run-git.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
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
  /** The window; of a native session, Claude Code's id. */
  sessionId: string;
  path: string;
  /** As a state names it. */
  file: string;
  /** The folder that is worked in. */
  cwd: string;
  project: string;
  /** What the store knows of the transcript. Optional: of native sessions it knows nothing. */
  expected?: ExpectedTranscript | undefined;
}

export interface Sources {
  /** Undefined when there is no such session, or nothing of it is to be handed over. */
  of(target: CaptureTarget): Promise<CaptureSource | undefined>;
  /** Any window of a session, also one that is closed. */
  ofWindow(entry: SessionEntry, window: Window): Promise<CaptureSource>;
  /** What is worked on in a session now. */
  project(entry: SessionEntry): Promise<string>;
  nativeProject(cwd: string): Promise<string>;
}

export interface SourceOptions {
  agent: AgentHandle;
  /** The agent's own folder, which tells nothing about what is worked on. */
  defaultWorkspace: string;
  git?: GitOptions | undefined;
}

export function createSources(options: SourceOptions): Sources {
  const { agent } = options;
  const projects = createProjectCache(options);
  const folderOf = (entry: SessionEntry): string => entry.projectFolder ?? agent.workspace;
  const projectOf = async (entry: SessionEntry): Promise<string> => await projects(folderOf(entry), entry.project);
  const source = async (
    entry: SessionEntry,
    { key, sessionId, path, expected }: Pick<CaptureSource, "sessionId" | "path" | "expected"> & { key: string },
  ): Promise<CaptureSource> => ({
    kind: "session",
    sessionKey: canonicalSessionKey(key, agent),
    sessionId,
    path,
    file: basename(path),
    cwd: folderOf(entry),
    project: await projectOf(entry),
    expected,
  });

  return {
    async of(target) {
      if (target.kind === "native") {
        const { sessionId, transcriptPath: path, cwd } = target;
        const sessionKey = canonicalSessionKey(nativeSessionKey(agent.agentId, sessionId), agent);
        return { kind: "native", sessionKey, sessionId, path, file: path, cwd, project: await projects(cwd) };
      }
      const entry = target.entry ?? (await agent.store.get(target.sessionKey));
      if (entry === undefined || entry.handoff === "off") return undefined;
      if (target.sessionId !== undefined && target.sessionId !== entry.sessionId) return undefined;
      const { sessionKey: key } = target;
      const { sessionId } = entry;
      return await source(entry, {
        key,
        sessionId,
        path: transcriptPath(agent, entry),
        expected: expectedTranscript(entry),
      });
    },
    async ofWindow(entry, window) {
      const { key, sessionId } = window;
      const path = await locateWindowTranscript(agent, window);
      return await source(entry, { key, sessionId, path, expected: expectedOfWindow(window, entry) });
    },
    project: projectOf,
    nativeProject: async (cwd) => await projects(cwd),
  };
}

const PROJECT_CACHE_MS = 60_000;
const MOST_PROJECTS = 200;

/** Git is asked once a minute for each folder: sessions are captured far more often than remotes change. */
function createProjectCache(options: SourceOptions): (folder: string, named?: string) => Promise<string> {
  const { agent, defaultWorkspace, git } = options;
  const known = new Map<string, { name: Promise<string>; made: string; until: number }>();
  return async (folder, named) => {
    const now = agent.clock.now();
    const id = JSON.stringify([folder, named]);
    const made = await identityOf(folder);
    let item = known.get(id);
    if (item === undefined || now >= item.until || item.made !== made) {
      const name = projectName({ named, folder, agentId: agent.agentId, defaultWorkspace }, git);
      item = { name, made, until: now + PROJECT_CACHE_MS };
      // A failure is not kept.
      name.catch(() => known.delete(id));
      known.delete(id);
      known.set(id, item);
      for (const oldest of Array.from(known.keys()).slice(0, Math.max(0, known.size - MOST_PROJECTS))) {
        known.delete(oldest);
      }
    }
    return await item.name;
  };
}

/** Another folder under the same name, or one that has become a repo, is asked about at once. */
async function identityOf(folder: string): Promise<string> {
  const parts = [folder, join(folder, ".git"), join(folder, ".git", "config")].map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    return found === undefined ? "" : `${found.ino}:${path === folder ? "" : found.mtimeMs}`;
  });
  return (await Promise.all(parts)).join(" ");
}
