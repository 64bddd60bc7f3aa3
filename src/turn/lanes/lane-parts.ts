/** What all lanes of a process share. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import type { OutboxDraft } from "../../store/store.ts";
import type { ChatCommands } from "../commands/chat-command.ts";
import type { ChannelPool } from "../pools.ts";
import type { DraftRequest } from "../reply/draft-replies.ts";
import type { AgentParts, TurnRequest, TurnResult } from "../turn.ts";
import type { TurnEnd, TurnEvents } from "../turn-events.ts";
import type { Slots } from "./slots.ts";

export type RunTurn = (request: TurnRequest) => Promise<TurnResult>;

export type DraftReplies = (request: DraftRequest) => Promise<OutboxDraft[]>;

export interface LaneShared {
  config: HoldfastConfig;
  clock: Clock;
  logger: Logger;
  events: TurnEvents;
  slots: Slots;
  channels: ChannelPool;
  commands: ChatCommands;
  mentionPatterns: readonly RegExp[];
  runTurn: RunTurn;
  draftReplies: DraftReplies;
  /** Other processes may have ended messages of the session: they let go of it, or nothing is pending any more. */
  onOthersDone(parts: AgentParts, key: string): void;
  /** Called once for each item that ended here. */
  onEnded(itemIds: readonly number[], end: TurnEnd): void;
}
