/** What a run has done so far, gathered from its events, and said again and again in one line's worth. */
import { printableLine } from "../../base/printable.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import type { ClaudeEvent } from "./process/claude-process.ts";
import type { EventRelay } from "./event-relay.ts";
import type { ProgressSummary } from "./runner-contract.ts";

export interface ProgressTracker {
  /** Takes one event in and passes on what a watcher wants to know. */
  see(event: ClaudeEvent, relay: EventRelay): void;
  /** Starts counting for a task and reports every so often; returns what ends it. */
  begin(relay: EventRelay, everyMs: number): () => void;
}

const LAST_TEXT = 200;
const TOOL_DETAIL = 120;

export function createProgressTracker(): ProgressTracker {
  let startedAt = performance.now();
  let summary = emptySummary();
  /** Names by tool use, to tell which one failed; emptied with every task. */
  const tools = new Map<string, string>();
  let text = "";
  return {
    begin(relay, everyMs) {
      startedAt = performance.now();
      summary = emptySummary();
      tools.clear();
      text = "";
      const report = (): void => {
        const lastText = printableLine(text.slice(-2 * LAST_TEXT)).slice(-LAST_TEXT);
        const elapsedMs = Math.round(performance.now() - startedAt);
        relay.emit({ type: "progress", progress: { ...summary, elapsedMs, ...(lastText === "" ? {} : { lastText }) } });
      };
      const timer = setInterval(report, everyMs);
      timer.unref();
      return () => clearInterval(timer);
    },
    see(event, relay) {
      switch (event.type) {
        case "text":
          if (event.parentToolUseId !== undefined) return;
          text = `${text}${event.text}`.slice(-4 * LAST_TEXT);
          relay.emit({ type: "text", text: event.text });
          return;
        case "tool-use": {
          const detail = toolDetail(event.input);
          summary.toolUses += 1;
          summary.lastTool = event.name;
          summary.lastToolDetail = detail;
          tools.set(event.id, event.name);
          relay.emit({ type: "tool", name: event.name, detail, isSubagent: event.parentToolUseId !== undefined });
          return;
        }
        case "tool-result":
          if (event.isError) {
            const name = tools.get(event.id) ?? "tool";
            relay.emit({ type: "tool-failed", name, text: printableLine(event.text, LAST_TEXT) });
          }
          tools.delete(event.id);
          return;
        case "retry":
          summary.retries += 1;
          return;
        case "task":
          if (event.event === "started") summary.subagents += 1;
          return;
        case "turn-ended":
          summary.costUsd += event.turn.costUsd;
          return;
        case "dropped":
          relay.emit({ type: "dropped", count: event.count });
          return;
        default:
      }
    },
  };
}

function emptySummary(): ProgressSummary {
  return { elapsedMs: 0, toolUses: 0, costUsd: 0, retries: 0, subagents: 0 };
}

/** What a tool works on, whatever the tool: the members that say so, in the order of their worth. */
const TELLING = ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"] as const;

function toolDetail(input: JsonRecord): string {
  for (const name of TELLING) {
    const value = input[name];
    if (typeof value === "string" && value !== "") return printableLine(value.slice(0, 4 * TOOL_DETAIL), TOOL_DETAIL);
  }
  return "";
}
