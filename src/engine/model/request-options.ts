/** Request options per provider, and the AI SDK's types under short names. */
import type { ProviderAccess, SdkModel } from "../../models/provider-access.ts";
import type { AgentTool, ToolTable } from "../tools/agent-tool.ts";

const LEVELS: readonly Reasoning[] = ["minimal", "low", "medium", "high", "xhigh"];

/** Leaves unknown levels, and servers that may know none, at their default. */
export function reasoningOptions(
  level: string | undefined,
  { protocol }: ProviderAccess,
  prompt: readonly PromptMessage[],
): Pick<CallOptions, "reasoning"> {
  const reasoning = level === "off" ? "none" : LEVELS.find((known) => known === level);
  if (reasoning === undefined || protocol === "openai-compatible") return {};
  // Anthropic requires the thinking block before a tool call to continue thinking after it.
  return { reasoning: protocol === "anthropic" && endsInThoughtlessCall(prompt) ? "none" : reasoning };
}

function endsInThoughtlessCall(prompt: readonly PromptMessage[]): boolean {
  if (prompt.at(-1)?.role !== "tool") return false;
  const asked = prompt.at(-2);
  return asked?.role === "assistant" && !asked.content.some(({ type }) => type === "reasoning");
}

/** OpenAI stores nothing; Anthropic caches the prompt. */
export function providerOptions(
  { protocol }: ProviderAccess,
  prompt: readonly PromptMessage[],
): Pick<CallOptions, "prompt" | "providerOptions"> {
  // OpenAI gives reasoning summaries only to verified organisations.
  const openai = { store: false, reasoningSummary: null };
  if (protocol === "openai") return { prompt: [...prompt], providerOptions: { openai } };
  if (protocol !== "anthropic") return { prompt: [...prompt] };
  const cached = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const last = prompt.length - 1;
  return {
    prompt: prompt.map((message, index) => {
      return message.role === "system" || index === last ? { ...message, providerOptions: cached } : message;
    }),
  };
}

export function toolOptions(tools: ToolTable, mayUse: boolean): Pick<CallOptions, "tools" | "toolChoice"> {
  if (tools.size === 0) return {};
  return { tools: [...tools.values()].map(functionTool), ...(mayUse ? {} : { toolChoice: { type: "none" } }) };
}

function functionTool({ name, description, inputSchema }: AgentTool): FunctionTool {
  return { type: "function", name, description, inputSchema };
}

export type CallOptions = Parameters<SdkModel["doStream"]>[0];
export type PromptMessage = CallOptions["prompt"][number];
export type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
export type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
export type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];
type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>;
type Reasoning = NonNullable<CallOptions["reasoning"]>;
export type StreamPart =
  Awaited<ReturnType<SdkModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type Finish = Extract<StreamPart, { type: "finish" }>;
export type ProviderMetadata = NonNullable<Finish["providerMetadata"]>;
