/** The files that one agent may search from one repo, for the search index. */
import type { McpParts } from "./bridge-parts.ts";
import { type AgentLayout, agentLayout, claudeLayout } from "../config/layout.ts";
import type { SearchSources } from "../memory/sources.ts";

export interface SearchPlaces {
  home: string;
  openClawHome: string;
  claudeHome: string;
  agentId: string;
  workspace: string;
}

export async function searchSourcesOf(
  places: SearchPlaces,
  want: Parameters<McpParts["searchSources"]>[0],
): Promise<SearchSources> {
  const { home, agentId, workspace } = places;
  if ("memory" in want) return { agents: [{ agentId, workspace }] };
  const { sessionsFolder, archiveFolder }: AgentLayout = agentLayout(home, agentId);
  const [{ listAllSessions }, { readArchive }] = await Promise.all([
    import("../claude/registry/registry.ts"),
    import("../claude/archive/catalogue.ts"),
  ]);
  const [registries, archive] = await Promise.all([listAllSessions(places), readArchive(home)]);
  const sessions = want.archived.flatMap((id) => archive.get(id) ?? []);
  return {
    agents: [{ agentId, sessionsFolder, archiveFolder }],
    native: {
      claudeHome: places.claudeHome,
      folders: want.nativeFolders,
      owners: new Map(registries.sessions.map(({ sessionId, agentId: owner }) => [sessionId, owner])),
      archive: { folder: claudeLayout(home).archiveFolder, sessions },
    },
  };
}
