/** A scratch home and workspace with hooks in them. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createLogger } from "../../src/base/log.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { hooksFolder, workspaceHooksFolder } from "../../src/config/layout.ts";
import { type HookRunnerOptions, createHookRunner } from "../../src/hooks/create-hook-runner.ts";
import type { HookEventName, HookRunner, HookSource, HookEvent } from "../../src/hooks/hook.ts";
import type { AgentParts } from "../../src/turn/pipeline.ts";
import type { AgentHome } from "./agent-home.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";

export interface HookHome extends AsyncDisposable {
  home: string;
  workspace: string;
  folder: TemporaryFolder;
  /** Logged lines. */
  log: string[];
  /** Writes a hook and returns its folder. */
  add(where: HookSource, name: string, files: Record<string, string>): Promise<string>;
  open(options?: Partial<HookRunnerOptions> & { hooks?: Partial<HoldfastConfig["hooks"]> }): Promise<HookRunner>;
}

export async function createHookHome(): Promise<HookHome> {
  const folder = await temporaryFolder();
  const home = folder.join("home");
  const workspace = folder.join("workspace");
  const places: Record<HookSource, string> = {
    bundled: folder.join("bundled"),
    home: hooksFolder(home),
    workspace: workspaceHooksFolder(workspace),
  };
  const log: string[] = [];
  const opened: HookRunner[] = [];
  return {
    home,
    workspace,
    folder,
    log,
    add: async (where, name, files) => {
      const hook = join(places[where], name);
      await mkdir(hook, { recursive: true });
      for (const [file, text] of Object.entries(files)) await writeFile(join(hook, file), text);
      return hook;
    },
    open: async ({ hooks, ...options } = {}) => {
      const runner = await createHookRunner({
        config: { ...DEFAULT_CONFIG, hooks: { ...DEFAULT_CONFIG.hooks, ...hooks } },
        home,
        workspace,
        agentId: "main",
        env: { PATH: process.env["PATH"] },
        logger: createLogger({ level: "debug", write: (line) => log.push(line) }),
        clock: systemClock,
        bundled: [],
        bundledFolder: places.bundled,
        ...options,
      });
      opened.push(runner);
      return runner;
    },
    [Symbol.asyncDispose]: async () => {
      for (const runner of opened) await runner.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export function hookHead(name: string, ...events: HookEventName[]): string {
  return `---\nname: ${name}\ndescription: A hook of the tests.\nevents: [${events.join(", ")}]\n---\n`;
}

export interface Listener {
  called: { event: string; context: HookEvent["context"] }[];
}

export async function listen(
  { parts, fixture }: { parts: AgentParts; fixture: AgentHome },
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
