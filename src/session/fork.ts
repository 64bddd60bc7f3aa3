/** Threads begin where their parent stands: the new transcript refers to the parent's leaf. */
import { join } from "node:path";
import { ensurePrivateFolder, fileExists } from "../base/files.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { forkTranscript } from "../transcript/fork.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { type AgentHandle, transcriptPath } from "./agent-handle.ts";

/** A new transcript that continues the parent's; null when the parent has none. */
export async function forkSessionFromParent(params: {
  agent: AgentHandle;
  parentEntry: SessionEntry;
}): Promise<{ sessionId: string; sessionFile: string } | null> {
  const { agent } = params;
  const parentPath = transcriptPath(agent, params.parentEntry);
  if (!(await fileExists(parentPath))) return null;
  const sessionId = agent.ids.uuid();
  const sessionFile = join(agent.sessionsFolder, transcriptFileName(sessionId));
  await ensurePrivateFolder(agent.sessionsFolder);
  const log = await forkTranscript({
    parentPath,
    path: sessionFile,
    sessionId,
    cwd: agent.workspace,
    clock: agent.clock,
    durability: agent.durability,
  });
  await log.close();
  return { sessionId, sessionFile };
}
