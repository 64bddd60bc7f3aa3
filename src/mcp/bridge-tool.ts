/** The contract of the bridge's tools, and how results and failures are returned. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { Announcer } from "./announcer.ts";
import type { BridgeSearch } from "./bridge-search.ts";
import type { McpParts, ToolName } from "./bridge-parts.ts";
import { asData } from "./model-text.ts";
import type { McpConfig } from "../config/claude-code.ts";

export interface Bridge extends McpParts {
  search: BridgeSearch;
  announcer: Announcer;
}

export interface BridgeTool {
  name: ToolName;
  title: string;
  description: string;
  /** The setting that enables the tool. Default: always enabled. */
  flag?: keyof McpConfig | undefined;
  /** Default: read-only. `records`: writes only Holdfast's own data. */
  writes?: true | "records" | undefined;
  input: z.ZodObject;
  /** Left out: not described. */
  output?: z.ZodObject | undefined;
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
        // The server has already validated the arguments.
        return toResult(await run(args as z.output<Input>, bridge));
      } catch (error) {
        return toFailure(error, tool.name, bridge);
      }
    },
  };
}

/** Models see the structured content, other clients the text. */
export function toResult(answer: object): CallToolResult {
  const structuredContent = asData(answer) as Record<string, unknown>;
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

export function toFailure(error: unknown, tool: ToolName, { logger }: Bridge): CallToolResult {
  if (!(error instanceof HoldfastError)) logger.error("MCP tool failed", { tool, error });
  const said = error instanceof HoldfastError ? error : undefined;
  const message = said === undefined ? `Unexpected error in Holdfast: ${errorMessage(error)}` : said.message;
  const text = [message, ...(said?.hint === undefined ? [] : [said.hint])].join("\n");
  return { content: [{ type: "text", text: String(asData(text)) }], isError: true };
}

export const countUpTo = (most: number, usual: number, what: string) =>
  z.int().min(1).max(most).default(usual).describe(`${what} (default ${usual})`);

const MAX_QUERY = 500;

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
export const NO_CONTROL = /^[^\u0000-\u001f\u007f]*$/;

export const searchText = z
  .string()
  .trim()
  .min(1)
  .max(MAX_QUERY)
  .regex(NO_CONTROL, "no control characters")
  .describe("What to look for");
