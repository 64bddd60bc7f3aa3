/**
 * What an agent can do besides talking. A tool gets arguments that a model wrote, which may be anything,
 * and answers in words for that model. What goes wrong is a HoldfastError whose message and hint are
 * such words too; the turn goes on with it.
 */
import type { JsonRecord } from "../../base/json-record.ts";
import type { AttachedFiles } from "./attached-files.ts";

export interface AgentTool {
  name: string;
  /** For the model: what it does and when to use it. */
  description: string;
  /** JSON schema of the arguments: an object. The first of its properties is the one that `tool:name text` sets. */
  inputSchema: ToolSchema;
  run(input: JsonRecord, use: ToolUse): Promise<string>;
}

/** What a tool is given besides its arguments: the conversation that it is used in decides on it. */
export interface ToolUse {
  signal: AbortSignal;
  attached: AttachedFiles;
}

export interface ToolSchema {
  type: "object";
  properties: Record<string, ToolArgument>;
  required: string[];
  additionalProperties: false;
}

export interface ToolArgument {
  type: "string" | "integer" | "number" | "boolean";
  description: string;
}

/** By name. */
export type ToolTable = ReadonlyMap<string, AgentTool>;
