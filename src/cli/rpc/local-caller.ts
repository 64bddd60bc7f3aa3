/** The gateway's methods in this process, for `--local`: the same turn, without a gateway and without channels. */
import { appendFileSync } from "node:fs";
import { PRIVATE_FILE, ensurePrivateFolder } from "../../base/files.ts";
import { type LogLevel, type Logger, createLogger } from "../../base/log.ts";
import { gatewayLayout } from "../../config/layout.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import type { Setup } from "../context.ts";
import type { LiveCaller } from "./live-caller.ts";

/** Whoever waits no longer does not wait for the turn either: it is put off, and the gateway goes on with it. */
const DRAIN_SECONDS = 1;

export async function openLocalCaller({ home, config }: Setup): Promise<LiveCaller> {
  const logger = await openLog(home, config.log.level);
  const [{ openTurns }, { createDispatcher }] = await Promise.all([
    import("../../compose-turns.ts"),
    import("../../rpc/dispatch.ts"),
  ]);
  const local = { ...config, turns: { ...config.turns, drainSeconds: DRAIN_SECONDS } };
  const turns = await openTurns({ home, config: local, logger, channels: false });
  const dispatcher = createDispatcher(turns);
  const leaving = new AbortController();
  let unsubscribe: (() => void) | undefined;

  return {
    call: async (method, params) =>
      (await dispatcher.call(method, params, { permission: "admin", signal: leaving.signal })) as ResultOf<
        typeof method
      >,
    watch: async (sessionKey, listener) => {
      unsubscribe?.();
      unsubscribe = turns.pipeline.events.subscribe((event) => {
        if ("sessionKey" in event && event.sessionKey === sessionKey) listener(event);
      });
      await Promise.resolve();
    },
    lost: new Promise<never>(() => undefined),
    close: async () => {
      leaving.abort();
      unsubscribe?.();
      await turns.close();
    },
  };
}

/** In a terminal, lines for programs would come between what is said: there they go to where a gateway's go. */
async function openLog(home: string, level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return createLogger({ level });
  const { logFile } = gatewayLayout(home);
  await ensurePrivateFolder(home);
  return createLogger({ level, write: (line) => appendIfPossible(logFile, line) });
}

/** A log that cannot be written must not end the conversation. */
function appendIfPossible(path: string, line: string): void {
  try {
    appendFileSync(path, line, { mode: PRIVATE_FILE });
  } catch {
    // There is nobody left to tell.
  }
}
