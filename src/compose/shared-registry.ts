/**
 * With a store of several machines, the registries of Claude Code sessions are kept in the database, one document per
 * agent and machine: the sessions that they name are on that machine's disk. The files are copies: a missing one is
 * made from the database before it is read.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { lazy } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { ensurePrivateFolder, fileExists, writeFileDurable } from "../base/files.ts";
import type { Logger } from "../base/log.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { agentLayout } from "../config/layout.ts";

export interface SharedRegistryOptions {
  home: string;
  config: HoldfastConfig;
  clock: Clock;
  logger: Logger;
}

/** Undefined for a store of one machine: its files are the registries. */
export function openSharedRegistry({ home, config, clock, logger }: SharedRegistryOptions) {
  if (config.store.kind !== "postgres") return undefined;
  const documents = lazy(async () => {
    const { openDocuments } = await import("./agent.ts");
    return await openDocuments({ home, config, clock }, join(home, "claude-code-sessions"));
  });
  const suffix = `@${hostname()}.json`;
  const restored = lazy(async () => {
    const kept = await documents.get();
    for (const name of (await kept.names()).filter((one) => one.endsWith(suffix))) {
      const path = agentLayout(home, name.slice(0, -suffix.length)).claudeRegistry;
      const text = (await fileExists(path)) ? undefined : await kept.read(name);
      if (text === undefined) continue;
      await ensurePrivateFolder(dirname(path));
      await writeFileDurable(path, text);
    }
  });
  return {
    /** Makes missing files from the database, once. */
    restore: async (): Promise<void> => {
      await restored.get().catch((error: unknown) => {
        logger.warn("The registry of Claude Code sessions could not be read from the database", { error });
      });
    },
    /** Keeps the file of an agent as it is now. If that fails, the next change keeps both. */
    save: async (agentId: string): Promise<void> => {
      const path = agentLayout(home, agentId).claudeRegistry;
      try {
        // Read in the edit: if another process was faster, the newest text is read again.
        const edit = () => ({ value: undefined, text: readFileSync(path, "utf8") });
        await (await documents.get()).update(`${agentId}${suffix}`, edit);
      } catch (error) {
        logger.warn("The registry of Claude Code sessions could not be kept in the database", { agentId, error });
      }
    },
  };
}
