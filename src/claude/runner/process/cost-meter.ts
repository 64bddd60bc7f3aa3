/**
 * What one turn cost, out of totals that only grow. Claude Code counts per process; newer versions start
 * a resumed or forked session with what it had cost before.
 */
import { carriesCostOver } from "../../cost-carry-over.ts";

export interface CostMeter {
  readonly totalUsd: number;
  /** Takes the next total and returns what was added to the one before. */
  add(totalUsd: number, version: string | undefined): number;
}

export function createCostMeter(resumedCostUsd: number | undefined): CostMeter {
  let total: number | undefined;
  return {
    get totalUsd() {
      return total ?? 0;
    },
    add(next, version) {
      const isCarriedOver = version !== undefined && carriesCostOver(version) !== false;
      const before = total ?? (isCarriedOver ? (resumedCostUsd ?? 0) : 0);
      total = next;
      // A total that went down was started afresh.
      return next < before ? next : next - before;
    },
  };
}
