/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";

/** For `replace`: an expression's first group, if it has one, is kept, because it says what was removed. */
export function keepingFirstGroup(_match: string, kept: unknown): string {
  return `${typeof kept === "string" ? kept : ""}${REDACTED}`;
}
