/** `events.subscribe`: only where there is a connection that can be told something. */
import { HoldfastError } from "../../base/errors.ts";
import { EVENT_NAMES } from "../events.ts";
import type { HandlersOf } from "../handler.ts";
import { openTarget } from "./target-session.ts";

export const eventHandlers: HandlersOf<"events.subscribe"> = {
  "events.subscribe": async ({ sessionKeys: named, events }, { parts, subscribe }) => {
    if (subscribe === undefined) throw noConnection();
    const sessionKeys =
      named === undefined
        ? undefined
        : await Promise.all(named.map(async (key) => (await openTarget(parts, { key })).key));
    subscribe({
      ...(sessionKeys === undefined ? {} : { sessionKeys }),
      ...(events === undefined ? {} : { events }),
    });
    return { ok: true, events: [...(events ?? EVENT_NAMES)], ...(sessionKeys === undefined ? {} : { sessionKeys }) };
  },
};

function noConnection(): HoldfastError {
  return new HoldfastError("usage", "events-need-websocket", "Events come over a WebSocket only", {
    hint: "Connect to /ws of the gateway and subscribe there.",
  });
}
