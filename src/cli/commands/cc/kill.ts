/** `holdfast cc kill`: ends what runs for a session, whichever process holds it. */
import { HoldfastError } from "../../../base/errors.ts";
import { print, printJson } from "../../output.ts";
import { type ClaudeOptions, withClaude } from "./claude-side.ts";
import { findLiveId } from "./live-session.ts";
import { shortId } from "./session-view.ts";

export async function kill(id: string, options: ClaudeOptions & { force?: boolean }): Promise<void> {
  await withClaude(options, async (side) => {
    const runner = await side.runner();
    const sessionId = await findLiveId(side, runner, id);
    const killed = await runner.killClaudeCode(sessionId, { force: options.force === true }).catch(withForceHint);
    if (killed.length === 0) throw nothingRuns(sessionId);
    if (options.json === true) printJson({ schema: 1, ok: true, sessionId, killed });
    else for (const { pid } of killed) print(`${shortId(sessionId)}: process ${pid} has ended`);
  });
}

function withForceHint(error: unknown): never {
  if (!(error instanceof HoldfastError) || error.code !== "session-in-use") throw error;
  throw new HoldfastError(error.kind, error.code, error.message, {
    hint: "--force ends it all the same; whoever sits there loses what is not in the transcript yet.",
    data: error.data,
    cause: error,
  });
}

function nothingRuns(sessionId: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-live", `Nothing runs for session ${sessionId}`, {
    hint: "`holdfast cc list --all --running` shows what runs.",
  });
}
