/** What each provider has to be told besides the conversation. */
import type { ProviderAccess } from "../../models/provider-access.ts";
import type { AgentTool, ToolTable } from "../tools/agent-tool.ts";
import type { CallOptions, FunctionTool, PromptMessage, Reasoning } from "./sdk-types.ts";

const LEVELS: Record<string, Reasoning> = {
  off: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
};

/** How hard the model is to think. Other levels, and servers that may not know any, are left to themselves. */
export function reasoningOptions(
  level: string | undefined,
  { protocol }: ProviderAccess,
  prompt: readonly PromptMessage[],
): Pick<CallOptions, "reasoning"> {
  const reasoning = level !== undefined && Object.hasOwn(LEVELS, level) ? LEVELS[level] : undefined;
  if (reasoning === undefined || protocol === "openai-compatible") return {};
  // Anthropic refuses to go on thinking after a tool call without the thought that led to it.
  return { reasoning: protocol === "anthropic" && endsInThoughtlessCall(prompt) ? "none" : reasoning };
}

function endsInThoughtlessCall(prompt: readonly PromptMessage[]): boolean {
  if (prompt.at(-1)?.role !== "tool") return false;
  const asked = prompt.at(-2);
  return asked?.role === "assistant" && !asked.content.some(({ type }) => type === "reasoning");
}

/** Nothing is left with OpenAI, and what Anthropic has read once is read from its cache the next time. */
export function providerOptions(
  { protocol }: ProviderAccess,
  prompt: readonly PromptMessage[],
): Pick<CallOptions, "prompt" | "providerOptions"> {
  // Summaries of thoughts are refused to organisations that OpenAI has not verified.
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
