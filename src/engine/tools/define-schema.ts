import type { ToolArgument, ToolSchema } from "./agent-tool.ts";

/** In the order given; those whose name ends in `?` may be left out. */
export function toolSchema(members: Record<string, ToolArgument>): ToolSchema {
  const entries = Object.entries(members);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, argument]) => [name.replace(/\?$/, ""), argument])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}
