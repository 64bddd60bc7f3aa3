/** `holdfast cc send`: a follow-up to a session that some Holdfast process keeps open. */
import { listenForInterrupts } from "./interruption.ts";
import { type ClaudeOptions, withClaude } from "./claude-side.ts";
import { findLiveId } from "./live-session.ts";
import { createEventPrinter, printResult } from "./run-result.ts";

export async function sendText(id: string, text: string, options: ClaudeOptions): Promise<void> {
  await withClaude(options, async (side) => {
    const runner = await side.runner();
    const sessionId = await findLiveId(side, runner, id);
    using interruption = listenForInterrupts(async () => undefined);
    // Waiting ends at once when it is interrupted; the task itself is told to stop where it runs.
    const { signal } = interruption;
    signal.addEventListener("abort", () => void runner.interruptClaudeCode(sessionId).catch(() => undefined));
    const { told, onEvent } = createEventPrinter(options.json === true);
    const result = await runner.sendFollowUpAndWait(sessionId, text, { onEvent });
    printResult(result, told, options.json === true);
  });
}
