/** What hooks add to what the agent is told about itself: delimited, and no more than an agent can read. */
import { delimited } from "../../base/delimited.ts";
import { printable, printableLine } from "../../base/printable.ts";
import type { BootstrapFile } from "../../hooks/hook.ts";
import type { WorkspacePrompt } from "../turn.ts";
import { type HookCall, fireHooks } from "./hook-calls.ts";

const MOST_FILES = 20;
const MOST_OF_FILE = 20_000;
const MOST_OF_ALL = 40_000;

/** Waits for the hooks, which have a time limit: what they add is for this very turn. */
export async function bootstrapHooks(
  call: Omit<HookCall, "event">,
  prompt: WorkspacePrompt,
): Promise<{ prompt: WorkspacePrompt; messages: string[] }> {
  const fired = await fireHooks({ ...call, event: "agent:bootstrap" });
  if (fired === undefined) return { prompt, messages: [] };
  const system = [prompt.system, ...describeFiles(fired.bootstrapFiles)].filter((part) => part !== "").join("\n\n");
  return { prompt: { ...prompt, system }, messages: fired.messages };
}

function describeFiles(files: readonly BootstrapFile[]): string[] {
  let left = MOST_OF_ALL;
  return files.slice(0, MOST_FILES).flatMap(({ name, content }) => {
    const text = printable(content).trim();
    const shown = text.slice(0, Math.min(MOST_OF_FILE, left)).toWellFormed();
    if (shown === "") return [];
    left -= shown.length;
    const label = printableLine(name, 80).replace(/[^\w.-]+/g, "_") || "file";
    return [delimited(label, shown.length < text.length ? `${shown}\n[cut here]` : shown)];
  });
}
