/** A hook of Holdfast's own kind that notes what it is called for; real in everything but its handler. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createHookRunner } from "../../src/hooks/create-hook-runner.ts";
import type { HookEvent, HookEventName } from "../../src/hooks/hook.ts";
import type { TestAgent } from "./test-agent.ts";
import type { AgentParts } from "../../src/turn/pipeline.ts";

export interface Listener {
  called: { event: string; context: HookEvent["context"] }[];
}

export async function listen(
  { parts, fixture }: { parts: AgentParts; fixture: TestAgent },
  events: readonly HookEventName[],
  handle: (event: HookEvent) => void | Promise<void> = () => undefined,
): Promise<Listener> {
  const { home, agent, config } = fixture;
  const bundledFolder = join(home, "bundled");
  await mkdir(join(bundledFolder, "listener"), { recursive: true });
  const names = events.map((event) => `"${event}"`).join(", ");
  const head = `---\nname: listener\ndescription: Listens.\nevents: [${names}]\n---\n`;
  await writeFile(join(bundledFolder, "listener", "HOOK.md"), head);
  const called: Listener["called"] = [];
  const { agentId, workspace, logger, clock } = agent;
  const listener = {
    name: "listener",
    handle: async (event: HookEvent): Promise<void> => {
      called.push({ event: `${event.type}:${event.action}`, context: event.context });
      await handle(event);
    },
  };
  const options = { config, home, workspace, agentId, env: {}, logger, clock, bundledFolder };
  parts.hooks = await createHookRunner({ ...options, bundled: [listener] });
  return { called };
}
