/**
 * The connection to the gateway. It reconnects with growing pauses; `onOpen` then reads the missed messages. A
 * refused token ends it.
 */
import { HoldfastError, errorMessage } from "../../src/base/errors.ts";
import { type RpcCaller, type RpcClient, connectRpc } from "../../src/rpc/client.ts";
import type { RpcEvent } from "../../src/rpc/protocol.ts";

export type Link =
  | { state: "connecting" }
  | { state: "open"; version: string }
  /** Tries again at `retryAt`. */
  | { state: "waiting"; retryAt: number; reason: string }
  | { state: "refused"; reason: string };

interface ConnectionListener {
  onLink(link: Link): void;
  /** Called for each connection, before the link is `open`. */
  onOpen(caller: RpcCaller): Promise<void>;
  onEvent(event: RpcEvent): void;
}

export type Connection = ReturnType<typeof openConnection>;

const PAUSES_MS = [400, 1000, 2000, 4000, 8000, 15_000] as const;
/** A connection that ends sooner counts as failed, so the pauses keep growing. */
const STABLE_MS = 5000;

export function openConnection(token: string, listener: ConnectionListener) {
  let client: RpcClient | undefined;
  let isClosed = false;
  let failures = 0;
  let endPause: (() => void) | undefined;

  const run = async (): Promise<void> => {
    for (;;) {
      listener.onLink({ state: "connecting" });
      const startedAt = performance.now();
      const reason = await once();
      if (isClosed) return;
      if (reason.isFinal) {
        listener.onLink({ state: "refused", reason: reason.text });
        return;
      }
      failures = performance.now() - startedAt > STABLE_MS ? 1 : failures + 1;
      await pause(reason.text);
      if (isClosed) return;
    }
  };

  /** Runs one connection; returns why it ended. */
  const once = async (): Promise<{ text: string; isFinal: boolean }> => {
    try {
      client = await connectRpc({ url: location.origin, token, client: { name: "web" } });
      if (isClosed) client.close();
      client.onEvent((event) => listener.onEvent(event));
      await listener.onOpen(client);
      listener.onLink({ state: "open", version: client.hello.server.version });
      const { reason } = await client.closed;
      return { text: reason === "" ? "The connection ended" : reason, isFinal: false };
    } catch (error) {
      client?.close();
      const isFinal = error instanceof HoldfastError && (error.kind === "forbidden" || error.kind === "unsupported");
      return { text: errorMessage(error), isFinal };
    } finally {
      client = undefined;
    }
  };

  const pause = async (reason: string): Promise<void> => {
    const longest = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? PAUSES_MS[0];
    // Jitter, so that several pages do not reconnect at the same moment.
    const ms = longest * (0.8 + Math.random() * 0.4);
    listener.onLink({ state: "waiting", retryAt: Date.now() + ms, reason });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    endPause = undefined;
  };

  const retryNow = (): void => endPause?.();
  const onVisible = (): void => {
    if (document.visibilityState === "visible") retryNow();
  };
  window.addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", onVisible);
  void run();

  const caller: RpcCaller = {
    call: async (method, params, options) => {
      if (client === undefined) throw notConnected();
      return await client.call(method, params, options);
    },
  };
  return {
    ...caller,
    /** Ends the current pause. */
    retryNow,
    close: (): void => {
      isClosed = true;
      client?.close();
      retryNow();
      window.removeEventListener("online", retryNow);
      document.removeEventListener("visibilitychange", onVisible);
    },
  };
}

/** Such an error is not shown: the link bar shows it, and everything is read again afterwards. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "unavailable" && error.code === "connection-lost";
}

function notConnected(): HoldfastError {
  return new HoldfastError("unavailable", "connection-lost", "Cannot reach the gateway right now", {
    hint: "The page reconnects automatically.",
  });
}
