/** Events that the agent should know of, in front of the message: `System: [2026-01-12 12:19:17 PST] Model switched.` */
import { localTime } from "../../base/clock.ts";
import { printableLine } from "../../base/printable.ts";

export interface SystemEvent {
  text: string;
  /** When it happened (ms). */
  at: number;
}

/** One line per event, oldest first, and an empty line before the body. */
export function prependSystemEvents(params: {
  body: string;
  events: readonly SystemEvent[];
  /** Older events that were let go because nobody asked for them in time. */
  dropped?: number;
}): string {
  const { body, events, dropped = 0 } = params;
  const lines = events.map(systemLine);
  if (dropped > 0) lines.unshift(`System: ${dropped} earlier ${dropped === 1 ? "event was" : "events were"} left out.`);
  return lines.length === 0 ? body : `${lines.join("\n")}\n\n${body}`;
}

/** An event is one line, or the rest of it could pass for the message. */
function systemLine({ text, at }: SystemEvent): string {
  return `System: [${localTime(at)} ${zoneName(at)}] ${printableLine(text)}`;
}

/** `PST`, `GMT+1`, `UTC`. */
function zoneName(at: number): string {
  const parts = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "local time";
}
