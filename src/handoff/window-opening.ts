/** How a window begins: whether a person has spoken in it, and whether that came with a hand-off. */
import { readTranscript } from "../transcript/reader.ts";
import { handoffText, isHeartbeatEntry } from "../transcript/messages.ts";

export type WindowOpening =
  /** Nobody has said anything. */
  | "new"
  | "begun"
  /** What the person said first stands behind a hand-off. */
  | "told";

/** A window whose first so many entries hold no word of a person counts as new. */
const MOST_ENTRIES = 200;

export async function readOpening(path: string): Promise<WindowOpening> {
  let entries = 0;
  try {
    for await (const item of readTranscript(path)) {
      if (item.kind !== "entry") continue;
      const { entry } = item;
      if (entry.type === "message" && entry.message.role === "user" && !isHeartbeatEntry(entry)) {
        return handoffText(entry.message.content) === undefined ? "begun" : "told";
      }
      if (++entries >= MOST_ENTRIES) break;
    }
  } catch {
    // Without a transcript nobody has said anything that could be known.
  }
  return "new";
}
