/** A home with conversations in it and a real gateway in front, for tests that look at the page. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { webFolder } from "../../src/base/package.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { initSessionState } from "../../src/session/init.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import { patchSession } from "../../src/session/patch.ts";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { openTurnLog } from "../../src/turn/run/turn-record.ts";
import { type OpenedGateway, openGateway } from "../../src/compose/turns.ts";
import { openAgent } from "../../src/compose/agent.ts";

export interface SeededSession {
  key: string;
  entries?: readonly DraftEntry[];
  label?: string;
}

export interface WebStage extends AsyncDisposable {
  home: string;
  readonly gateway: OpenedGateway;
  /** Ends the gateway; the page is left alone with itself. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

export async function createWebStage(
  sessions: readonly SeededSession[] = [],
  changes: Partial<HoldfastConfig> = {},
): Promise<WebStage> {
  if (!existsSync(join(webFolder(), "index.html"))) throw new Error("The page is not built: run `npm run build`.");
  const folder = await temporaryFolder();
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, log: { level: "silent" }, ...changes };
  await seedSessions(folder.path, config, sessions);
  const open = async (port: number): Promise<OpenedGateway> =>
    await openGateway({ home: folder.path, config, port, channels: false, logger: silentLogger });
  let gateway = await open(0);
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (isOpen) await gateway.close();
    isOpen = false;
  };
  return {
    home: folder.path,
    get gateway() {
      return gateway;
    },
    stop,
    start: async () => {
      gateway = await open(gateway.port);
      isOpen = true;
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function seedSessions(home: string, config: HoldfastConfig, sessions: readonly SeededSession[]): Promise<void> {
  if (sessions.length === 0) return;
  const agent = await openAgent({ home, config, logger: silentLogger });
  try {
    for (const { key, entries = [], label } of sessions) {
      const { sessionEntry } = await initSessionState({
        agent,
        ctx: { SessionKey: key, Body: "hello" },
        cfg: config,
      });
      if (entries.length > 0) {
        await withSessionLease(agent, key, {}, async (held) => {
          await using log = await openTurnLog({ agent }, held, sessionEntry);
          await log.append([...entries]);
          await log.sync();
        });
      }
      if (label !== undefined) await patchSession(agent, key, { label });
    }
  } finally {
    await agent.store.close();
  }
}
