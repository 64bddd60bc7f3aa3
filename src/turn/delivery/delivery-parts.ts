/** What all deliverers of a process share. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { TurnEvents } from "../turn-events.ts";

export interface DeliveryShared {
  clock: Clock;
  logger: Logger;
  events: TurnEvents;
  counts: DeliveryCounts;
  /** How long a channel may take to send. Left out: a minute. */
  sendTimeoutMs?: number | undefined;
}

export interface DeliveryCounts {
  delivered: number;
  /** Attempts of which nobody knew whether an earlier one had arrived. */
  mayRepeat: number;
  failed: number;
}
