/** What a handler gets and gives. Its parameters are checked before it is called. */
import type { CheckedParamsOf, MethodName, ResultOf } from "./contract.ts";
import type { Permission } from "./frames.ts";
import type { RpcParts } from "./rpc-parts.ts";

export interface RpcCall {
  parts: RpcParts;
  /** What the caller may do; enough for the method. */
  permission: Permission;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Chooses what this connection is told of. Left out: the caller cannot be told anything. */
  subscribe?: (choice: EventChoice) => void;
}

export interface EventChoice {
  /** Canonical keys. Left out: of all sessions. */
  sessionKeys?: readonly string[];
  /** Left out: all of them. */
  events?: readonly string[];
}

export type Handler<Name extends MethodName> = (
  params: CheckedParamsOf<Name>,
  call: RpcCall,
) => Promise<ResultOf<Name>>;

export type HandlersOf<Prefix extends MethodName> = { [Name in Prefix]: Handler<Name> };
