/** The tools of an agent. Outside of its workspace they reach only what was attached to the conversation, to read it. */
import type { AgentTool, ToolTable } from "./agent-tool.ts";
import { createConfinedFiles } from "./confined-files.ts";
import { createListFiles } from "./list-files.ts";
import { type SearchMemory, createMemorySearch } from "./memory-search.ts";
import { createReadFile } from "./read-file.ts";
import { createSearchFiles } from "./search-files.ts";
import { type ListSessions, createSessionList } from "./session-list.ts";
import { createWriteFile } from "./write-file.ts";

export interface WorkspaceToolsOptions {
  workspace: string;
  /** Left out: no `memory_search`. */
  searchMemory?: SearchMemory;
  /** Left out: no `session_list`. */
  listSessions?: ListSessions;
  /** How long a search may take. Left out: ten seconds. */
  searchDeadlineMs?: number;
}

export function createWorkspaceTools(options: WorkspaceToolsOptions): ToolTable {
  const files = createConfinedFiles(options.workspace);
  const tools: AgentTool[] = [
    createListFiles(files),
    createReadFile(files),
    createWriteFile(files),
    createSearchFiles(options.workspace, options.searchDeadlineMs),
    ...(options.searchMemory === undefined ? [] : [createMemorySearch(options.searchMemory)]),
    ...(options.listSessions === undefined ? [] : [createSessionList(options.listSessions)]),
  ];
  return new Map(tools.map((tool) => [tool.name, tool]));
}
