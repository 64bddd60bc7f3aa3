/** `holdfast cc info`: everything that is known of one native session. */
import { printJson } from "../../output.ts";
import { type ClaudeOptions, withClaude } from "./claude-side.ts";
import { printInfo } from "./info-view.ts";
import { progressLine } from "./progress-line.ts";
import { gatherInfo } from "./session-info.ts";

export async function showNative(id: string, options: ClaudeOptions): Promise<void> {
  const info = await withClaude(options, async (side) => {
    using progress = progressLine();
    return await gatherInfo(side, await side.find(id, { refresh: progress.refresh }));
  });
  if (options.json === true) printJson(info);
  else printInfo(info);
}
