/**
 * Whether a `claude` that resumes or forks a session starts its `total_cost_usd` with what that session
 * had cost before. Measured for two versions; undefined for those between them, and for a version that
 * nobody could read: then only the figures themselves can tell.
 */
export function carriesCostOver(cliVersion: string): boolean | undefined {
  const parts = cliVersion.split(".").map((part) => Number.parseInt(part, 10));
  if (parts.length < 3 || parts.some(Number.isNaN)) return undefined;
  if (compare(parts, CARRIES_FROM) >= 0) return true;
  return compare(parts, CARRIES_NOT_UP_TO) <= 0 ? false : undefined;
}

const CARRIES_FROM = [2, 1, 325];
const CARRIES_NOT_UP_TO = [2, 1, 197];

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < 3; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
