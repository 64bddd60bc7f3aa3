/** Discord's ids: numbers too large for a double, written as digits, growing with time. */

export function isSnowflake(id: string): boolean {
  return /^\d{1,20}$/.test(id);
}

export function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than);
}

/** The id just below: what lies after it includes `id` itself. */
export function idBefore(id: string): string {
  return String(BigInt(id) - 1n);
}
