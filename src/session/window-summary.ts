/** What lists and /status show of a window: its title and its cost. */
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import type { Window, WindowReason } from "../store/store.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { readTranscript } from "../transcript/reader.ts";
import { openForReading, scanEntriesBackward } from "../transcript/scan.ts";
import { type AgentHandle, locateWindowTranscript } from "./agent-handle.ts";
import { stripStructuralPrefixes } from "./reset-trigger.ts";
import { deriveSessionTitle } from "./title.ts";
import { messageText, isFlushEntry } from "../transcript/messages.ts";

/** What opened a window, for people. */
export const WINDOW_REASONS: Readonly<Record<WindowReason, string>> = {
  initial: "first",
  command: "by /new",
  daily: "new day",
  idle: "after a pause",
  fork: "branched off",
  switch: "continued",
  restore: "reopened",
};

const MAX_ENTRIES = 32;

/** The first thing a person said. Undefined: nothing said, or unreadable. */
export async function readWindowTitle(agent: AgentHandle, window: Window): Promise<string | undefined> {
  try {
    let looked = 0;
    for await (const item of readTranscript(await locateWindowTranscript(agent, window))) {
      if (++looked > MAX_ENTRIES) return undefined;
      if (item.kind !== "entry" || item.entry.type !== "message" || item.entry.message.role !== "user") continue;
      if (isFlushEntry(item.entry)) continue;
      const { said: written, message } = item.entry;
      const said = typeof written === "string" ? written : stripStructuralPrefixes(messageText(message));
      if (said.trim() !== "") return deriveSessionTitle({}, said);
    }
    return undefined;
  } catch (error) {
    // `holdfast doctor` reports the problem with the file.
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

/** Enough for thousands of answers, read in about 20 ms. */
const COUNTED_BYTES = 4 * 1024 * 1024;

/** Undefined: missing or unreadable. */
export async function readWindowCost(path: string, countedBytes = COUNTED_BYTES) {
  try {
    await using handle = await openForReading(path);
    const { size } = await handle.stat();
    const start = Math.max(0, size - countedBytes);
    let usd = 0;
    for await (const { entry } of scanEntriesBackward(handle, { start })) usd += costOf(entry);
    return { usd, complete: start === 0 };
  } catch (error) {
    if (error instanceof HoldfastError || systemErrorCode(error) !== undefined) return undefined;
    throw error;
  }
}

function costOf(entry: TranscriptEntry): number {
  if (entry.type !== "message" || entry.message.role !== "assistant") return 0;
  // Answers of other tools may have no price.
  const total: unknown = entry.message.usage?.cost?.total;
  return typeof total === "number" && Number.isFinite(total) && total > 0 ? total : 0;
}
