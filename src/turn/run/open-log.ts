/** The log of a session's window, written under the session's lease. */
import { basename } from "node:path";
import type { HeldLease } from "../../session/lease.ts";
import { type TranscriptLog, openTranscriptLog } from "../../transcript/log.ts";
import type { AgentParts } from "../turn.ts";

export async function openTurnLog(
  { agent, transcripts }: Pick<AgentParts, "agent" | "transcripts">,
  held: HeldLease,
  path: string,
): Promise<TranscriptLog> {
  return await openTranscriptLog({
    path,
    durability: agent.durability,
    clock: agent.clock,
    fence: () => held.fence(),
    epoch: held.lease.epoch,
    parked: transcripts,
    onProblem: (problem) => agent.logger.warn("transcript problem", { file: basename(path), ...problem }),
  });
}
