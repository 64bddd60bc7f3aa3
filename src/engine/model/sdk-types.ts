/** The AI SDK's shapes that the engine deals in, under names of its own. */
import type { SdkModel } from "../../models/sdk-model.ts";

export type CallOptions = Parameters<SdkModel["doStream"]>[0];
export type PromptMessage = CallOptions["prompt"][number];
export type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
export type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
export type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];
export type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>;
export type Reasoning = NonNullable<CallOptions["reasoning"]>;
export type StreamPart =
  Awaited<ReturnType<SdkModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type Finish = Extract<StreamPart, { type: "finish" }>;
export type ProviderMetadata = NonNullable<Finish["providerMetadata"]>;
