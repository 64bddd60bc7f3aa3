/** The connection that `chat` and `agent` use: the gateway, started if none runs, or with `--local` this process. */
import { HoldfastError } from "../../base/errors.ts";
import { ensurePrivateFolder } from "../../base/files.ts";
import { type LogLevel, type Logger, createLogger } from "../../base/log.ts";
import { gatewayLayout } from "../../config/layout.ts";
import { connectToGateway } from "../../gateway/connect-to-gateway.ts";
import type { RpcCaller } from "../../rpc/client.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { appendToLog } from "../commands/gateway-log.ts";
import type { Flags } from "../command.ts";
import type { Setup } from "../context.ts";
import { ensureGateway } from "./gateway-client.ts";
import type { RpcEvent } from "../../rpc/protocol.ts";

export interface LiveCaller extends RpcCaller {
  /** Reports every event of the session once it resolves. One session at a time. */
  watch(sessionKey: string, listener: (event: RpcEvent) => void): Promise<void>;
  /** Rejects when the gateway is gone; never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

export async function openCaller(setup: Setup, options: Flags<"local">): Promise<LiveCaller> {
  return options.local === true ? await openLocalCaller(setup) : await connect(setup);
}

async function connect(setup: Setup): Promise<LiveCaller> {
  await ensureGateway(setup);
  const client = await connectToGateway(setup);
  const lost = client.closed.then(({ reason }): never => {
    throw gatewayGone(reason);
  });
  lost.catch(() => undefined);
  let unsubscribe: (() => void) | undefined;
  return {
    call: async (method, params, options) => await client.call(method, params, options),
    watch: async (sessionKey, listener) => {
      unsubscribe?.();
      unsubscribe = client.onEvent(listener);
      await client.call("events.subscribe", { sessionKeys: [sessionKey] });
    },
    lost,
    close: async () => {
      client.close();
      await client.closed;
    },
  };
}

function gatewayGone(reason: string): HoldfastError {
  const why = reason === "" ? "" : `: ${reason}`;
  return new HoldfastError("unavailable", "gateway-gone", `The gateway is gone${why}`, {
    hint: "Your message is kept and answered when the gateway is back; `holdfast history` shows the answer.",
  });
}

/** A turn that is still running on close is handed to the gateway after this time. */
const DRAIN_SECONDS = 1;

/** Runs turns in this process, without a gateway and without channels. */
export async function openLocalCaller({ home, config }: Setup): Promise<LiveCaller> {
  const logger = await openLog(home, config.log.level);
  const [{ openTurns }, { createDispatcher }] = await Promise.all([
    import("../../compose/turns.ts"),
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

/** On a terminal, log lines would disturb the conversation, so they go to the gateway's log file. */
async function openLog(home: string, level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return createLogger({ level });
  const { logFile } = gatewayLayout(home);
  await ensurePrivateFolder(home);
  return createLogger({ level, write: (line) => appendToLog(logFile, line) });
}
