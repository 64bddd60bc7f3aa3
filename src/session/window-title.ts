/** What a list of windows shows for each: the first thing that a person said in it. */
import { HoldfastError } from "../base/errors.ts";
import type { Window } from "../store/store.ts";
import { readTranscript } from "../transcript/reader.ts";
import { messageText } from "../transcript/text.ts";
import { isFlushEntry } from "../transcript/turn-mark.ts";
import { type AgentHandle, locateWindowTranscript } from "./agent-handle.ts";
import { stripStructuralPrefixes } from "./reset-trigger.ts";
import { deriveSessionTitle } from "./title.ts";

/** A window in which nobody spoke by then has no title. */
const LOOKED_AT = 32;

/** Undefined when nobody has spoken in the window, or its transcript cannot be read. */
export async function readWindowTitle(agent: AgentHandle, window: Window): Promise<string | undefined> {
  try {
    let looked = 0;
    for await (const item of readTranscript(await locateWindowTranscript(agent, window))) {
      if (++looked > LOOKED_AT) return undefined;
      if (item.kind !== "entry" || item.entry.type !== "message" || item.entry.message.role !== "user") continue;
      if (isFlushEntry(item.entry)) continue;
      const { said: written, message } = item.entry;
      const said = typeof written === "string" ? written : stripStructuralPrefixes(messageText(message));
      if (said.trim() !== "") return deriveSessionTitle({}, said);
    }
    return undefined;
  } catch (error) {
    // A list with a gap is better than none; `holdfast doctor` tells what is wrong with the file.
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}
