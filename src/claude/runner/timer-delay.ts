/** A timer that is set for longer than this fires at once, which for a limit is the worst that can happen. */
const LONGEST_MS = 2 ** 31 - 1;

/** From any number that a person may configure to one that a timer takes. */
export function timerDelay(ms: number): number {
  return Number.isFinite(ms) ? Math.min(LONGEST_MS, Math.max(1, ms)) : LONGEST_MS;
}
