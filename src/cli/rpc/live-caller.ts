/**
 * What `chat` and `agent` speak to: the gateway over a WebSocket, or the same methods in this process
 * (`--local`). Types only.
 */
import type { RpcCaller } from "../../rpc/client.ts";
import type { RpcEvent } from "../../rpc/events.ts";

export interface LiveCaller extends RpcCaller {
  /** Tells every event of the session from the moment it resolves. One session at a time. */
  watch(sessionKey: string, listener: (event: RpcEvent) => void): Promise<void>;
  /** Rejects when the other side is gone; never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}
