/** Growing pauses between attempts, with some chance in them so that many who wait do not come at once. */
export interface BackOffOptions {
  firstMs: number;
  maxMs: number;
  /** Between 0 and 1. Left out: `Math.random`. */
  random?: () => number;
}

/** The pause after the n-th failure, counted from 1: doubled each time, between half and all of it. */
export function backOffMs(failures: number, { firstMs, maxMs, random = Math.random }: BackOffOptions): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(Math.max(0, failures - 1), 40));
  return Math.round(full / 2 + (full / 2) * random());
}
