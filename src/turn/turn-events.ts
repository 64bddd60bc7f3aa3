/**
 * What happens to messages and turns, told to whoever watches: the gateway's clients, the log, the
 * figures of `health`. Nothing depends on being told; everything that must survive is in the store.
 */
import type { ErrorReport } from "../base/errors.ts";
import type { ChannelStatus } from "../channels/channel.ts";
import type { EngineUsage } from "../engine/engine.ts";

export type TurnEvent =
  | { type: "message.admitted"; agentId: string; sessionKey: string; itemId: number; queued: number }
  /** Shed, visibly: the sender is told too. */
  | { type: "message.dropped"; agentId: string; sessionKey: string; itemIds: number[]; reason: string }
  | ({ type: "turn.started"; sessionId?: string; attempt: number } & TurnName)
  | ({ type: "turn.text"; text: string } & TurnName)
  | ({ type: "turn.tool"; phase: "start" | "end"; id: string; name: string; isError?: boolean } & TurnName)
  | ({ type: "turn.notice"; text: string } & TurnName)
  | ({ type: "turn.compaction"; phase: "start" | "end" } & TurnName)
  | ({ type: "turn.ended" } & TurnEnd)
  | { type: "session.changed"; agentId: string; sessionKey: string }
  | { type: "handoff.changed"; agentId: string; sessionKey: string }
  | { type: "delivery.sent"; agentId: string; sessionKey: string; outboxId: number; deliveredId?: string }
  /** `mayRepeat`: nobody knows whether the platform has it from an earlier attempt. */
  | { type: "delivery.started"; agentId: string; sessionKey: string; outboxId: number; mayRepeat: boolean }
  | { type: "delivery.delayed"; agentId: string; sessionKey: string; outboxId: number; dueAt: number; reason: string }
  | { type: "delivery.failed"; agentId: string; sessionKey: string; outboxId: number; reason: string }
  | { type: "channel.status"; channel: string; accountId: string; status: ChannelStatus };

export interface TurnName {
  agentId: string;
  sessionKey: string;
  /** The newest of the inbox items that the turn answers. */
  itemId: number;
}

export type TurnOutcome =
  /** There is a reply, or the engine chose silence. */
  | "answered"
  | "silent"
  /** A chat command was obeyed, or a bare reset. */
  | "command"
  /** Kept for the group's context; nobody meant the agent. */
  | "noted"
  /** Stopped by a person, or by a message that interrupts. */
  | "aborted"
  | "failed"
  /** Shed from a full queue. */
  | "dropped";

export interface TurnEnd extends TurnName {
  outcome: TurnOutcome;
  sessionId?: string;
  /** What is delivered, as one text. */
  text?: string;
  usage?: EngineUsage;
  error?: ErrorReport;
  durationMs: number;
}

export interface TurnEvents {
  emit(event: TurnEvent): void;
  /** Returns the way to stop. A listener that throws harms nobody else. */
  subscribe(listener: (event: TurnEvent) => void): () => void;
}

export function createTurnEvents(onListenerError: (error: unknown) => void): TurnEvents {
  const listeners = new Set<(event: TurnEvent) => void>();
  return {
    emit: (event) => {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          onListenerError(error);
        }
      }
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
