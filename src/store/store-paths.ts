/** Where a `sessions.json` lies, under the names that OpenClaw's modules have for it. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { agentLayout, resolveHome } from "../config/layout.ts";
import { normalizeAgentId } from "../keys/names.ts";

export function resolveDefaultSessionStorePath(agentId?: string): string {
  return agentLayout(resolveHome(), normalizeAgentId(agentId)).sessionsFile;
}

export function resolveSessionTranscriptsDirForAgent(agentId?: string): string {
  return agentLayout(resolveHome(), normalizeAgentId(agentId)).sessionsFolder;
}

/** A configured path with `{agentId}` and `~` filled in; the agent's own file when none is configured. */
export function resolveStorePath(store?: string, options: { agentId?: string } = {}): string {
  const path = store?.trim();
  if (path === undefined || path === "") return resolveDefaultSessionStorePath(options.agentId);
  const expanded = path.replaceAll("{agentId}", normalizeAgentId(options.agentId));
  return resolve(expanded.replace(/^~(?=$|[\\/])/, homedir()));
}
