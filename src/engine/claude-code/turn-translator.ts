/**
 * Translates the wire messages of Claude Code into engine events. One translator per turn.
 *
 * - Claude Code sends each block of a message on its own line. The translator joins them again and yields
 *   the message when the model has finished it, before any tool result.
 * - Messages of subagents are dropped; they stay in Claude Code's own transcript.
 * - After an interruption, `end` yields the text that had arrived.
 */
import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/json-record.ts";
import type { ContentBlock as WireBlock, OutboundMessage, TokenUsage } from "../../claude/protocol/messages.ts";
import { mcpToolNames } from "../../claude/runner/run-files.ts";
import { type AssistantMessage, type ContentBlock, NO_COST } from "../../transcript/entries.ts";
import type { EngineEvent, EngineUsage } from "../engine.ts";
import { capped, toolResultMessage } from "../tools/agent-tool.ts";

type StopReason = NonNullable<AssistantMessage["stopReason"]>;

interface Draft {
  messageId: string | undefined;
  model: string | undefined;
  blocks: ContentBlock[];
  partial: string;
  usage: TokenUsage | undefined;
  stopReason: StopReason | undefined;
}

/** Claude Code speaks Anthropic's protocol, on every cloud. */
const PROVIDER = "anthropic";
/** Claude Code's model name for its own messages. */
const SYNTHETIC = "<synthetic>";

export class TurnTranslator {
  hasSaid = false;
  /** Claude Code's name for an API error: `authentication_failed`, `rate_limit`, … */
  apiError: string | undefined;
  /** Tokens in the context now. Undefined: no request was made. */
  usage: EngineUsage | undefined;
  private readonly clock: Clock;
  private draft: Draft | undefined;
  private sessionId: string | undefined;
  private model: string | undefined;
  private isCompacting = false;
  private readonly tools = new Map<string, Pick<WireBlock & { type: "tool_use" }, "name" | "input">>();
  private readonly streamed = new Set<string>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  read(message: OutboundMessage): EngineEvent[] {
    switch (message.type) {
      case "init":
        this.model = message.model ?? this.model;
        return this.sessionEvents(message.sessionId);
      case "stream_event":
        return message.parentToolUseId === undefined ? this.readStream(message.event) : [];
      case "assistant":
        return message.parentToolUseId === undefined ? this.readAssistant(message) : [];
      case "user":
        return message.parentToolUseId === undefined ? this.readResults(message.blocks) : [];
      case "status":
        return this.readStatus(message);
      case "compact_boundary":
        return this.readBoundary(message);
      default:
        return [];
    }
  }

  end(reason: StopReason): EngineEvent[] {
    if (this.draft !== undefined) this.draft.stopReason = reason;
    return this.finishDraft();
  }

  /** Text of Claude Code itself, such as the answer to a slash command. */
  say(text: string): EngineEvent[] {
    if (text.trim() === "") return [];
    this.draft = { ...newDraft(undefined, SYNTHETIC), blocks: [{ type: "text", text }] };
    return [{ type: "text", text }, ...this.finishDraft()];
  }

  private sessionEvents(id: string | undefined): EngineEvent[] {
    if (id === undefined || id === this.sessionId) return [];
    this.sessionId = id;
    return [{ type: "session", id }];
  }

  private readStream(event: (OutboundMessage & { type: "stream_event" })["event"]): EngineEvent[] {
    switch (event.kind) {
      case "message-start": {
        const before = this.finishDraft();
        this.draft = { ...newDraft(event.messageId, event.model), usage: event.usage };
        return before;
      }
      case "text":
        this.draft ??= newDraft(undefined, this.model);
        if (this.draft.messageId !== undefined) this.streamed.add(this.draft.messageId);
        this.draft.partial += event.text;
        return [{ type: "text", text: event.text }];
      case "message-end":
        if (this.draft === undefined) return [];
        this.draft.usage = latestUsage(this.draft.usage, event.usage);
        this.draft.stopReason = toStopReason(event.stopReason) ?? this.draft.stopReason;
        return [];
      case "message-stop":
        return this.finishDraft();
      default:
        return [];
    }
  }

  private readAssistant(message: OutboundMessage & { type: "assistant" }): EngineEvent[] {
    if (message.apiError !== undefined) {
      this.apiError = message.apiError;
      return [];
    }
    const events: EngineEvent[] = [];
    if (this.draft !== undefined && this.draft.messageId !== message.messageId) events.push(...this.finishDraft());
    this.draft ??= newDraft(message.messageId, message.model);
    const wasStreamed = message.messageId !== undefined && this.streamed.has(message.messageId);
    for (const block of message.blocks) events.push(...this.addBlock(this.draft, block, wasStreamed));
    return events;
  }

  private addBlock(draft: Draft, block: WireBlock, wasStreamed: boolean): EngineEvent[] {
    switch (block.type) {
      case "text":
        draft.partial = "";
        if (block.text === "") return [];
        draft.blocks.push({ type: "text", text: block.text });
        return wasStreamed ? [] : [{ type: "text", text: block.text }];
      case "thinking":
        if (block.text !== "") draft.blocks.push({ type: "thinking", thinking: block.text });
        return [];
      case "tool_use":
        draft.blocks.push({ type: "toolCall", id: block.id, name: block.name, arguments: block.input });
        this.tools.set(block.id, block);
        return [{ type: "tool-start", id: block.id, name: block.name, input: block.input }];
      default:
        return [];
    }
  }

  private readResults(blocks: readonly WireBlock[]): EngineEvent[] {
    return blocks.flatMap((block) => {
      if (block.type !== "tool_result") return [];
      const before = this.finishDraft();
      const { toolUseId: id, isError } = block;
      const { name = "tool", input } = this.tools.get(id) ?? {};
      this.tools.delete(id);
      const text = capped(block.text, MAX_CHARACTERS);
      const message = toolResultMessage({ id, name, text, isError }, this.clock.now());
      const sent = isError || name !== ANNOUNCE ? [] : announced(input);
      return [...before, { type: "message", message }, ...sent, { type: "tool-end", id, name, isError }];
    });
  }

  private readStatus(message: OutboundMessage & { type: "status" }): EngineEvent[] {
    if (message.compactError !== undefined) {
      this.isCompacting = false;
      return [{ type: "notice", text: `Claude Code could not shorten the conversation: ${message.compactError}` }];
    }
    return message.status === "compacting" ? this.beginCompaction() : [];
  }

  private beginCompaction(): EngineEvent[] {
    if (this.isCompacting) return [];
    this.isCompacting = true;
    return [...this.finishDraft(), { type: "compaction", phase: "start" }];
  }

  private readBoundary({ preTokens, postTokens }: OutboundMessage & { type: "compact_boundary" }): EngineEvent[] {
    const begun = this.beginCompaction();
    this.isCompacting = false;
    if (postTokens !== undefined) this.usage = toUsage(this.model, { ...NO_TOKENS, inputTokens: postTokens });
    return [...begun, { type: "compaction", phase: "end", tokensBefore: preTokens, tokensAfter: postTokens }];
  }

  private finishDraft(): EngineEvent[] {
    const { draft } = this;
    this.draft = undefined;
    if (draft === undefined) return [];
    const said: ContentBlock[] = draft.partial === "" ? [] : [{ type: "text", text: draft.partial }];
    const content = [...draft.blocks, ...said];
    const usage = this.noteUsage(draft);
    if (content.length === 0) return usage === undefined ? [] : [{ type: "usage", usage }];
    this.hasSaid = true;
    const hasCalls = content.some(({ type }) => type === "toolCall");
    const model = draft.model ?? this.model;
    const message: AssistantMessage = {
      role: "assistant",
      content,
      api: "anthropic-messages",
      provider: PROVIDER,
      model,
      usage: usage === undefined ? undefined : toMessageUsage(usage),
      stopReason: draft.stopReason ?? (hasCalls ? "toolUse" : "stop"),
      timestamp: this.clock.now(),
    };
    return [{ type: "message", message }, ...(usage === undefined ? [] : [{ type: "usage" as const, usage }])];
  }

  private noteUsage(draft: Draft): EngineUsage | undefined {
    if (draft.usage === undefined || draft.model === SYNTHETIC) return undefined;
    this.usage = toUsage(draft.model ?? this.model, draft.usage);
    return this.usage;
  }
}

const [ANNOUNCE] = mcpToolNames(["openclaw_announce"]);

/** The person has read it, so the answer need not repeat it. */
function announced(input: unknown): EngineEvent[] {
  const text = isRecord(input) ? input["message"] : undefined;
  return typeof text === "string" ? [{ type: "sent", text }] : [];
}

const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

function newDraft(messageId: string | undefined, model: string | undefined): Draft {
  return { messageId, model, blocks: [], partial: "", usage: undefined, stopReason: undefined };
}

/** The last event of a message may count only the output. */
function latestUsage(before: TokenUsage | undefined, now: TokenUsage): TokenUsage {
  if (before === undefined || now.inputTokens + now.cacheReadTokens + now.cacheWriteTokens > 0) return now;
  return { ...before, outputTokens: now.outputTokens };
}

function toStopReason(reason: string | undefined): StopReason | undefined {
  if (reason === undefined) return undefined;
  if (reason === "tool_use") return "toolUse";
  return reason === "max_tokens" ? "length" : "stop";
}

function toUsage(model: string | undefined, tokens: TokenUsage): EngineUsage {
  return {
    provider: PROVIDER,
    model: model ?? "unknown",
    input: tokens.inputTokens,
    output: tokens.outputTokens,
    cacheRead: tokens.cacheReadTokens,
    cacheWrite: tokens.cacheWriteTokens,
  };
}

/** Claude Code reports the cost of a turn, not of a message. */
function toMessageUsage({ input, output, cacheRead, cacheWrite }: EngineUsage): NonNullable<AssistantMessage["usage"]> {
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, cost: NO_COST };
}

/** Claude Code's own tools stay below this; tools of MCP servers may not. */
const MAX_CHARACTERS = 100_000;
