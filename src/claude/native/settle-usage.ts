/**
 * Adds the messages of newly read lines to the sums of a scan. The lines of one message can lie on both
 * sides of the place where the last scan stopped, so a scan remembers its latest messages. Older ones it
 * has forgotten: a line that may repeat one of them, which its instant tells, cannot be added.
 */
import type { SessionScan } from "./session-scan.ts";
import { type UsageLedger, addToDay, fromRecent, toRecent } from "./usage.ts";

/** Lines of a message follow each other; only parallel writers come between them. */
const RECENT_MESSAGES = 5;

/** False when the sums could become wrong: then the file has to be read from its start. */
export function settleUsage(scan: SessionScan, ledger: UsageLedger): boolean {
  const recent: UsageLedger = new Map(scan.recent.map((message) => [message[0], fromRecent(message)]));
  const startsAfresh = scan.usage.length === 0;
  for (const [messageId, usage] of ledger) {
    const known = recent.get(messageId);
    if (known !== undefined && usage.output <= known.output) continue;
    if (known !== undefined) addToDay(scan.usage, known, -1);
    else if (!startsAfresh && (usage.at ?? 0) <= scan.settledAt) return false;
    addToDay(scan.usage, usage, 1);
    recent.set(messageId, usage);
  }
  if (ledger.size === 0) return true;
  scan.usage = scan.usage.filter((sum) => sum[7] > 0).sort((a, b) => (a[0] + a[1] < b[0] + b[1] ? -1 : 1));
  const messages = [...recent];
  const forgotten = messages.slice(0, -RECENT_MESSAGES);
  for (const [, { at = Number.MAX_SAFE_INTEGER }] of forgotten) scan.settledAt = Math.max(scan.settledAt, at);
  scan.recent = messages.slice(-RECENT_MESSAGES).map(([messageId, usage]) => toRecent(messageId, usage));
  return true;
}
