/**
 * After how many days Claude Code deletes transcripts. Its settings may hold secrets (an environment, a
 * helper that prints a key): the one number is picked out of the bytes, nothing else is decoded or kept.
 */
import { openNativeFile, settingsFile } from "../native/layout.ts";
import { createObjectSkimmer } from "../native/object-skimmer.ts";

const DEFAULT_DAYS = 30;
const MAX_SETTINGS_BYTES = 4 * 1024 * 1024;

export async function readCleanupPeriodDays(claudeHome: string): Promise<number> {
  await using handle = await openNativeFile(settingsFile(claudeHome));
  if (handle === undefined || (await handle.stat()).size > MAX_SETTINGS_BYTES) return DEFAULT_DAYS;
  const bytes = await handle.readFile();
  const settings = createObjectSkimmer(["cleanupPeriodDays"]);
  const isObject = settings.skim(bytes, 0, bytes.length) !== -1;
  const days = isObject ? settings.parse(settings.slots.cleanupPeriodDays) : undefined;
  bytes.fill(0);
  return typeof days === "number" && Number.isFinite(days) && days >= 0 ? days : DEFAULT_DAYS;
}
