/** What a tool of the bridge is, and how its answer or its failure leaves the server. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { McpConfig } from "../config/config.ts";
import type { Announcer } from "./announcer.ts";
import type { BridgeSearch } from "./bridge-search.ts";
import type { McpParts } from "./bridge-parts.ts";
import { asData } from "./model-text.ts";
import type { ToolName } from "./tool-names.ts";

/** The parts of one server, with what lives as long as it does. */
export interface Bridge extends McpParts {
  search: BridgeSearch;
  announcer: Announcer;
}

export interface BridgeTool {
  name: ToolName;
  title: string;
  /** For a model: what it gets, and when to ask. */
  description: string;
  /** Off: the tool is neither listed nor callable. Left out: it is always there. */
  flag?: keyof McpConfig;
  /** Left out: the tool only reads. `records`: it writes what Holdfast keeps for itself, and nobody is told. */
  writes?: true | "records";
  input: z.ZodObject;
  output: z.ZodObject;
  answer: (args: unknown, bridge: Bridge) => Promise<CallToolResult>;
}

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> extends Omit<BridgeTool, "answer"> {
  input: Input;
  output: Output;
  run: (args: z.output<Input>, bridge: Bridge) => Promise<z.input<Output>>;
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): BridgeTool {
  const { run, ...tool } = definition;
  return {
    ...tool,
    answer: async (args, bridge) => {
      try {
        // The server has checked the arguments against `input` already.
        return toResult(await run(args as z.output<Input>, bridge));
      } catch (error) {
        return toFailure(error, tool.name, bridge);
      }
    },
  };
}

/** Models see the structured content, other clients the text: both say the same. */
function toResult(answer: object): CallToolResult {
  const structuredContent = asData(answer) as Record<string, unknown>;
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

function toFailure(error: unknown, tool: ToolName, { logger }: Bridge): CallToolResult {
  if (!(error instanceof HoldfastError)) logger.error("MCP tool failed", { tool, error });
  const said = error instanceof HoldfastError ? error : undefined;
  const message = said === undefined ? `Unexpected error in Holdfast: ${errorMessage(error)}` : said.message;
  const text = [message, ...(said?.hint === undefined ? [] : [said.hint])].join("\n");
  return { content: [{ type: "text", text: String(asData(text)) }], isError: true };
}
