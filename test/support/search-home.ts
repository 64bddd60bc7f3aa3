/**
 * Files to be searched, and an index over them:
 *
 *   await using home = await createSearchHome();
 *   await home.memory("main", "MEMORY.md", "# Likes\n\nTea.");
 *   const index = await home.refreshed();
 */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import { agentLayout, searchIndexFile } from "../../src/config/layout.ts";
import { type SearchIndex, createSearchIndex } from "../../src/memory/search-index.ts";
import type { SearchSources } from "../../src/memory/sources.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { HEADER, messageLine } from "./transcripts.ts";
import type { SearchFilter } from "../../src/memory/source-filter.ts";

export interface SearchHome extends AsyncDisposable {
  home: string;
  claudeHome: string;
  indexPath: string;
  sources(native?: Partial<NonNullable<SearchSources["native"]>>): SearchSources;
  /** These return the path of the written file. */
  memory(agentId: string, name: string, text: string): Promise<string>;
  transcript(agentId: string, sessionId: string, texts: readonly string[], more?: readonly unknown[]): Promise<string>;
  native(cwd: string, sessionId: string, lines: readonly unknown[]): Promise<string>;
  subagent(cwd: string, sessionId: string, name: string, lines: readonly unknown[]): Promise<string>;
  open(): Promise<SearchIndex>;
  /** Opened and up to date. */
  refreshed(): Promise<SearchIndex>;
}

const AGENTS = ["main", "other"];
export const REPO = "/repos/shop";
export const SESSION = "11111111-0000-4000-8000-000000000001";
export const SESSION_2 = "11111111-0000-4000-8000-000000000002";

export async function createSearchHome(): Promise<SearchHome> {
  const folder = await temporaryFolder();
  const home = folder.join("holdfast");
  const claudeHome = folder.join("claude");
  const opened: SearchIndex[] = [];
  const project = (cwd: string): string => join(claudeHome, "projects", projectFolderName(cwd));
  const self: SearchHome = {
    home,
    claudeHome,
    indexPath: searchIndexFile(home),
    sources: (native) => ({
      agents: AGENTS.map((agentId) => {
        const { workspace, sessionsFolder, archiveFolder } = agentLayout(home, agentId);
        return { agentId, workspace, sessionsFolder, archiveFolder };
      }),
      native: { claudeHome, ...native },
    }),
    memory: async (agentId, name, text) => await put(join(agentLayout(home, agentId).workspace, name), text),
    transcript: async (agentId, sessionId, texts, more = []) => {
      const lines = [{ ...HEADER, id: sessionId }, ...texts.map((text, index) => messageLine(`e${index}`, null, text))];
      const path = join(agentLayout(home, agentId).sessionsFolder, `${sessionId}.jsonl`);
      return await put(path, toLines([...lines, ...more]));
    },
    native: async (cwd, sessionId, lines) => await put(join(project(cwd), `${sessionId}.jsonl`), toLines(lines)),
    subagent: async (cwd, sessionId, name, lines) =>
      await put(join(project(cwd), sessionId, "subagents", `agent-${name}.jsonl`), toLines(lines)),
    open: async () => {
      const index = await createSearchIndex({ path: self.indexPath, clock: systemClock, logger: silentLogger });
      opened.push(index);
      return index;
    },
    refreshed: async () => {
      const index = await self.open();
      await index.refresh({ sources: self.sources() });
      return index;
    },
    [Symbol.asyncDispose]: async () => {
      for (const index of opened) index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
  return self;
}

async function put(path: string, content: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

/** A line of a person's prompt in Claude Code's format. */
export function prompt(cwd: string, text: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "user", uuid: `u-${text.length}`, cwd, ...AT, message: { role: "user", content: text }, ...more };
}

export function answer(cwd: string, text: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const message = { id: "msg", model: "m", role: "assistant", content: [{ type: "text", text }] };
  return { type: "assistant", uuid: `a-${text.length}`, cwd, ...AT, message, ...more };
}

export async function appendLines(path: string, lines: readonly unknown[]): Promise<void> {
  await appendFile(path, toLines(lines));
}

/** Writes strings unchanged and everything else as JSON. */
function toLines(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
}

const AT = { timestamp: "2026-11-01T10:00:00.000Z", entrypoint: "cli", sessionId: SESSION };

/** Names of the hits. Default: as the main agent, in its repo. */
export function found(
  index: SearchIndex,
  text: string,
  query: SearchFilter & { agentId?: string; repoRoots?: string[] } = {},
): string[] {
  return index.search({ text, agentId: "main", repoRoots: [REPO], ...query }).hits.map(({ name }) => name);
}
