/** `holdfast sessions maintain`: applies the configured limits once. */
import { maintainSessions } from "../../session/maintenance.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { print, printJson, talk } from "../output.ts";

export async function maintain(options: AgentOptions & { json?: boolean; dryRun?: boolean }): Promise<void> {
  await withAgent(options, async (agent, { config }) => {
    if (Object.keys(config.maintenance).length === 0) {
      talk("No limit is configured (maintenance.archiveAfterDays, maxSessions, maxMegabytes): nothing to do.");
    }
    const dryRun = options.dryRun === true;
    const actions = await maintainSessions(agent, config.maintenance, { dryRun });
    if (options.json === true) return printJson({ dryRun, count: actions.length, actions });
    for (const { what, key, sessionId, reason } of actions) {
      print(`${dryRun ? "would archive" : "archived"} ${what} ${key} ${sessionId.slice(0, 8)} (${reason})`);
    }
  });
}
