/**
 * Tokens, counted once per message. Claude Code writes a line per content block, each with the id and
 * the whole usage of its message, and a fork copies such lines into another file. So usage is kept by
 * message id, and ledgers of several files or parts of a file are merged before anything is summed.
 */

export interface MessageUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour, which has a price of its own. */
  cacheWriteHour: number;
  model?: string;
  /** In ms. */
  at?: number;
}

/** By message id. */
export type UsageLedger = Map<string, MessageUsage>;

export interface TokenCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Lines of one message may have been written while it grew: the one with the most output is complete. */
export function recordUsage(ledger: UsageLedger, messageId: string, usage: MessageUsage): void {
  const known = ledger.get(messageId);
  if (known === undefined || usage.output > known.output) ledger.set(messageId, usage);
}

export function mergeUsage(target: UsageLedger, added: UsageLedger): void {
  for (const [messageId, usage] of added) recordUsage(target, messageId, usage);
}

export function sumUsage(ledger: UsageLedger): TokenCount {
  const total: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const usage of ledger.values()) {
    total.input += usage.input;
    total.output += usage.output;
    total.cacheRead += usage.cacheRead;
    total.cacheWrite += usage.cacheWrite;
  }
  return total;
}
