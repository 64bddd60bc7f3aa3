/**
 * One message after another in one session, each with its end. An event may come before the answer to the
 * request that caused it, so events are kept until it is known which turn is ours.
 */
import { HoldfastError } from "../../base/errors.ts";
import { nodeCrypto } from "../../base/builtin.ts";
import type { RpcEvent } from "../../rpc/events.ts";
import type { TurnEnd } from "../../turn/turn-events.ts";
import type { LiveCaller } from "./live-caller.ts";

export interface Conversation {
  /** Resolves with the end of the turn that answers. The listener gets what happens until then. */
  say(text: string, onEvent: (event: RpcEvent) => void): Promise<TurnEnd>;
  /** Stops the turn that runs; false when none does. */
  abort(): Promise<boolean>;
}

export interface ConversationOptions {
  caller: LiveCaller;
  agentId: string;
  sessionKey: string;
}

export async function openConversation({ caller, agentId, sessionKey }: ConversationOptions): Promise<Conversation> {
  let hear: ((event: RpcEvent) => void) | undefined;
  await caller.watch(sessionKey, (event) => hear?.(event));

  return {
    say: async (text, onEvent) => {
      const ears = listenForTurn(onEvent);
      hear = ears.hear;
      try {
        const idempotencyKey = nodeCrypto().randomUUID();
        const admitted = await Promise.race([
          caller.call("chat.send", { sessionKey, agentId, message: text, idempotencyKey }),
          caller.lost,
        ]);
        ears.expect(admitted.itemId);
        return await Promise.race([ears.ended, caller.lost]);
      } finally {
        hear = undefined;
      }
    },
    abort: async () => (await caller.call("chat.abort", { sessionKey, agentId })).aborted,
  };
}

interface TurnEars {
  readonly hear: (event: RpcEvent) => void;
  /** The turn that answers has this number or a higher one. */
  readonly expect: (itemId: number) => void;
  ended: Promise<TurnEnd>;
}

function listenForTurn(onEvent: (event: RpcEvent) => void): TurnEars {
  const { promise: ended, resolve, reject } = Promise.withResolvers<TurnEnd>();
  // Somebody else's failure to wait for it is not an unhandled rejection.
  ended.catch(() => undefined);
  let early: RpcEvent[] | undefined = [];
  let ours = 0;
  const take = (event: RpcEvent): void => {
    if (event.type === "message.dropped" && event.itemIds.includes(ours)) reject(dropped(event.reason));
    if (!("itemId" in event) || event.itemId < ours) return;
    onEvent(event);
    if (event.type === "turn.ended") resolve(event);
  };
  return {
    hear: (event) => {
      if (early === undefined) take(event);
      else early.push(event);
    },
    expect: (itemId) => {
      ours = itemId;
      const waiting = early ?? [];
      early = undefined;
      for (const event of waiting) take(event);
    },
    ended,
  };
}

function dropped(reason: string): HoldfastError {
  if (reason === "stopped") {
    return new HoldfastError("unavailable", "message-dropped", "The message was not answered: somebody stopped it", {
      hint: "Send it again to have it answered.",
    });
  }
  return new HoldfastError("unavailable", "message-dropped", `The message was not answered: ${reason}`, {
    hint: "Too many messages are waiting in this session. Try again when it is quieter.",
  });
}
