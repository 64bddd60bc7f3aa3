import type { SessionWindow } from "../state/state.ts";

const REASONS: Record<SessionWindow["reason"], string> = {
  initial: "first window",
  command: "begun with /new",
  daily: "begun on a new day",
  idle: "begun after a pause",
  fork: "branched off",
  switch: "continued",
  restore: "restored",
};

export function windowReason(reason: SessionWindow["reason"]): string {
  return REASONS[reason];
}
