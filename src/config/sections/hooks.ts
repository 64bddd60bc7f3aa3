/** What is called when something happens. */

export interface HooksConfig {
  /** A hook that takes longer is given up. */
  timeoutSeconds: number;
  /** By name. */
  entries: Record<string, { enabled?: boolean }>;
}

export const DEFAULT_HOOKS: HooksConfig = { timeoutSeconds: 10, entries: {} };
