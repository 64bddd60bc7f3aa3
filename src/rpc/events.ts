/** The events that the gateway tells its clients. The payload of each is the whole event. */
import type { TurnEvent } from "../turn/turn-events.ts";

export type RpcEvent =
  | TurnEvent
  /** The last event of a connection: the gateway stops. */
  | { type: "gateway.closing"; reason: string };

export type RpcEventName = RpcEvent["type"];

/** Every name once; the compiler sees to it that none is missing. */
const EVENT_SUMMARIES: Record<RpcEventName, string> = {
  "message.admitted": "A message is durable and waits for its turn.",
  "message.dropped": "Messages were shed from a full queue; their sender is told too.",
  "turn.started": "A turn begins; `attempt` counts up when it is begun again after a crash.",
  "turn.text": "The next piece of the answer.",
  "turn.tool": "A tool is called (`phase` `start`) or has answered (`end`).",
  "turn.notice": "Something the person has to know besides the answer.",
  "turn.compaction": "The context is being shortened.",
  "turn.ended": "A turn is over: `outcome`, the whole `text`, `usage`, `error`.",
  "session.changed": "The entry or the windows of a session changed.",
  "handoff.changed": "What a session leaves for its next window was captured, cleared, told or asked for.",
  "delivery.started": "A reply goes out; `mayRepeat` says that nobody knows whether it went out before.",
  "delivery.sent": "The platform has the reply.",
  "delivery.delayed": "The platform refused for now; tried again at `dueAt`.",
  "delivery.failed": "Given up, for the reason that it says.",
  "channel.status": "A channel account connected, failed, or tries again.",
  "gateway.closing": "The gateway stops; connect again when it is back.",
};

export const EVENTS = Object.entries(EVENT_SUMMARIES).map(([name, summary]) => ({
  name: name as RpcEventName,
  summary,
}));

export const EVENT_NAMES: readonly RpcEventName[] = EVENTS.map(({ name }) => name);

/** Where an event belongs; undefined for what concerns no single session. */
export function eventSession(event: RpcEvent): { agentId: string; sessionKey: string } | undefined {
  return "sessionKey" in event ? { agentId: event.agentId, sessionKey: event.sessionKey } : undefined;
}
