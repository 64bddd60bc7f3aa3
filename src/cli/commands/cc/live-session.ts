/** From what a person typed to the id of a session that runs; those that run need no transcript yet. */
import type { ClaudeRunner } from "../../../claude/runner/runner.ts";
import type { ClaudeSide } from "../../../compose-claude.ts";

export async function findLiveId(side: ClaudeSide, runner: ClaudeRunner, idOrPrefix: string): Promise<string> {
  const prefix = idOrPrefix.trim().toLowerCase();
  const live = await runner.getAllLiveSessions();
  const fitting = live.flatMap(({ sessionId }) => (sessionId?.startsWith(prefix) === true ? [sessionId] : []));
  const [only, second] = new Set(prefix.length < MIN_PREFIX ? [] : fitting);
  if (only !== undefined && second === undefined) return only;
  return (await side.find(idOrPrefix)).sessionId;
}

/** As everywhere else an id is asked for. */
const MIN_PREFIX = 4;
