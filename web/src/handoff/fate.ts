import { fullTime } from "../parts/time.ts";
import type { Handoff } from "../state/state.ts";

/** What becomes of it, in a sentence. */
export function fateOf({ status, isAsked, expiresAt, offeredAt }: Handoff, isOff: boolean): string {
  if (isOff) return "It will not be offered: the hand-off is off for this session.";
  if (isAsked) return "Your next message brings it to the agent.";
  switch (status) {
    case "waiting":
      return `It will be offered to the next window, until ${fullTime(expiresAt)}.`;
    case "offered":
      return `The agent was told${offeredAt === undefined ? "" : ` ${fullTime(offeredAt)}`}.`;
    case "expired":
      return `It expired ${fullTime(expiresAt)}; Resume brings it all the same.`;
    case "cleared":
      return "It was cleared.";
    default:
      return status satisfies never;
  }
}
