/**
 * What a watcher of a run receives: the events of the process, and a progress summary at intervals.
 * A slow watcher neither delays the run nor makes it use more memory: text is joined, older progress is
 * replaced, and when too many events wait, minor ones are dropped and counted.
 */
import type { JsonRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { anthropicPrice, tokenCostOf } from "../../models/model-info.ts";
import type { ContentBlock, OutboundMessage, PermissionQuestion, TokenUsage } from "../protocol/messages.ts";
import type { ClaudeEvent } from "./process/claude-process.ts";
import { mcpToolNames } from "./run-files.ts";
import type { ProgressSummary, RunnerEvent } from "./runner-contract.ts";
import { printable, printableLine } from "../../base/text.ts";

export type EventRelay = ReturnType<typeof createEventRelay>;

const MAX_WAITING = 200;
const MAX_JOINED_TEXT = 4000;

type Watcher = (event: RunnerEvent) => void | Promise<void>;

export function createEventRelay(watch: Watcher | undefined, log: Logger) {
  const waiting: RunnerEvent[] = [];
  let lost = 0;
  let isHandling = false;
  let handling = Promise.resolve();
  const drain = async (handle: Watcher): Promise<void> => {
    isHandling = true;
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      try {
        await handle(next);
      } catch (error) {
        log.warn("A watcher of a run failed", { error });
      }
    }
    isHandling = false;
  };
  const takeNext = (): RunnerEvent | undefined => {
    if (lost === 0) return waiting.shift();
    const event: RunnerEvent = { type: "dropped", count: lost };
    lost = 0;
    return event;
  };
  return {
    emit(event: RunnerEvent): void {
      if (watch === undefined) return;
      if (!join(waiting, event)) {
        if (waiting.length >= MAX_WAITING && isMinor(event)) lost += 1;
        else waiting.push(event);
      }
      if (!isHandling) handling = drain(watch);
    },
    /** Resolves when the watcher has seen all events so far. */
    async idle(): Promise<void> {
      await handling;
    },
  };
}

/** True when a waiting event absorbed the new one. */
function join(waiting: RunnerEvent[], event: RunnerEvent): boolean {
  if (event.type === "progress" || event.type === "cost") {
    const index = waiting.findIndex((other) => other.type === event.type);
    if (index === -1) return false;
    waiting[index] = event;
    return true;
  }
  const last = waiting.at(-1);
  if (event.type !== "text" || last?.type !== "text") return false;
  waiting[waiting.length - 1] = { type: "text", text: `${last.text}${event.text}`.slice(-MAX_JOINED_TEXT) };
  return true;
}

/** All other events are rare, and no later event repeats them. */
function isMinor(event: RunnerEvent): boolean {
  return event.type === "tool" || event.type === "tool-failed" || event.type === "text";
}

const [ANNOUNCE] = mcpToolNames(["openclaw_announce"]);
const LAST_TEXT = 200;
const TOOL_DETAIL = 120;

type StreamPart = (OutboundMessage & { type: "stream_event" })["event"];
type ToolUse = ContentBlock & { type: "tool_use" };
type ToolResult = ContentBlock & { type: "tool_result" };

export function createProgressTracker() {
  let startedAt = performance.now();
  let summary = emptySummary();
  /** By tool use id, until their results arrive. */
  const tools = new Map<string, ToolUse>();
  let text = "";
  /** Ids of messages whose text came in pieces, so the complete message adds nothing. */
  const streamed = new Set<string>();
  let streaming: string | undefined;
  let model: string | undefined;
  let started: TokenUsage | undefined;
  let endedUsd = 0;
  let requestsUsd = 0;

  /** What the running turn has cost, at list prices: Claude Code reports the cost when a turn ends. */
  const seeUsage = (part: StreamPart, relay: Pick<EventRelay, "emit">): void => {
    if (part.kind === "message-start") [model, started] = [part.model, part.usage];
    if (part.kind !== "message-end") return;
    requestsUsd += requestCost(model, started, part.usage);
    summary.costUsd = endedUsd + requestsUsd;
    relay.emit({ type: "cost", costUsd: summary.costUsd });
  };
  const seeText = (said: string, subagent: string | undefined, relay: Pick<EventRelay, "emit">): void => {
    if (subagent !== undefined) return;
    text = `${text}${said}`.slice(-4 * LAST_TEXT);
    relay.emit({ type: "text", text: said });
  };
  const seeTool = (tool: ToolUse, subagent: string | undefined, relay: Pick<EventRelay, "emit">): void => {
    const { id, name, input } = tool;
    const detail = toolDetail(input);
    summary.toolUses += 1;
    summary.lastTool = name;
    summary.lastToolDetail = detail;
    tools.set(id, tool);
    relay.emit({ type: "tool", name, detail, isSubagent: subagent !== undefined });
  };
  const seeToolResult = ({ toolUseId, isError, text: said }: ToolResult, relay: Pick<EventRelay, "emit">): void => {
    const { name = "tool", input } = tools.get(toolUseId) ?? {};
    tools.delete(toolUseId);
    if (isError)
      relay.emit({ type: "tool-failed", name, text: printableLine(said.slice(0, 4 * LAST_TEXT), LAST_TEXT) });
    else if (name === ANNOUNCE && typeof input?.["message"] === "string")
      relay.emit({ type: "announced", id: toolUseId, text: input["message"] });
  };

  return {
    /** Starts counting for a task and reports at intervals. Returns a function that ends the reports. */
    begin(relay: Pick<EventRelay, "emit">, everyMs: number): () => void {
      startedAt = performance.now();
      summary = emptySummary();
      endedUsd = 0;
      requestsUsd = 0;
      tools.clear();
      text = "";
      const report = (): void => {
        const lastText = printableLine(text.slice(-2 * LAST_TEXT)).slice(-LAST_TEXT) || undefined;
        const elapsedMs = Math.round(performance.now() - startedAt);
        relay.emit({ type: "progress", progress: { ...summary, elapsedMs, lastText } });
      };
      const timer = setInterval(report, everyMs).unref();
      return () => clearInterval(timer);
    },
    /** Counts one event and passes it on if watchers need it. */
    see(event: ClaudeEvent, relay: Pick<EventRelay, "emit">): void {
      switch (event.type) {
        case "init":
          streamed.clear();
          return;
        case "stream_event":
          seeUsage(event.event, relay);
          if (event.event.kind === "message-start") streaming = event.event.messageId;
          if (event.event.kind !== "text") return;
          if (streaming !== undefined) streamed.add(streaming);
          seeText(event.event.text, event.parentToolUseId, relay);
          return;
        case "assistant": {
          const isNew = event.messageId === undefined || !streamed.has(event.messageId);
          for (const block of event.blocks) {
            if (block.type === "text" && isNew) seeText(block.text, event.parentToolUseId, relay);
            if (block.type === "tool_use") seeTool(block, event.parentToolUseId, relay);
          }
          return;
        }
        case "user":
          for (const block of event.blocks) if (block.type === "tool_result") seeToolResult(block, relay);
          return;
        case "api_retry":
          summary.retries += 1;
          return;
        case "task":
          if (event.event === "started") summary.subagents += 1;
          return;
        case "turn-ended":
          endedUsd += event.turn.costUsd;
          requestsUsd = 0;
          summary.costUsd = endedUsd;
          return;
        default:
      }
    },
  };
}

/** The end of a request may count only the output. */
function requestCost(model: string | undefined, started: TokenUsage | undefined, ended: TokenUsage): number {
  const price = model === undefined ? undefined : anthropicPrice(model);
  if (price === undefined) return 0;
  const read = ended.inputTokens + ended.cacheReadTokens + ended.cacheWriteTokens > 0 ? ended : (started ?? ended);
  const { inputTokens: input, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = read;
  return tokenCostOf({ input, cacheRead, cacheWrite, output: ended.outputTokens }, price).total;
}

function emptySummary(): ProgressSummary {
  return { elapsedMs: 0, toolUses: 0, costUsd: 0, retries: 0, subagents: 0 };
}

/** Input members that describe a tool call, the most useful first. */
const DETAIL_MEMBERS = ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"] as const;

function toolDetail(input: JsonRecord): string {
  return printableLine(mainArgument(input).slice(0, 4 * TOOL_DETAIL), TOOL_DETAIL);
}

function mainArgument(input: JsonRecord): string {
  const values = DETAIL_MEMBERS.map((name) => input[name]);
  return values.find((value) => typeof value === "string" && value !== "")?.toString() ?? "";
}

/** Fits into one message of every channel. */
const ASKED_DETAIL = 1500;

/** For a person who decides: the whole command with its lines. Of a tool of an MCP server, all arguments count. */
export function askedDetail({ tool, input }: Pick<PermissionQuestion, "tool" | "input">): string {
  const known = tool.startsWith("mcp__") ? "" : mainArgument(input);
  const shown = printable(known === "" ? JSON.stringify(input) : known).trim();
  if (shown.length <= ASKED_DETAIL) return shown;
  return `${shown.slice(0, ASKED_DETAIL).toWellFormed()}… (${shown.length - ASKED_DETAIL} more characters are not shown)`;
}
