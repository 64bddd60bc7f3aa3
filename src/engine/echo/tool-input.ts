/** What stands behind a tool's name in a script, as arguments: an object in JSON, or the text of the first one. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import type { AgentTool } from "../tools/agent-tool.ts";

/** What is no sensible argument is left to the tool, which says so. */
export function toolInput(tool: AgentTool | undefined, argument: string): JsonRecord {
  if (argument === "") return {};
  const written = argument.startsWith("{") ? parsed(argument) : undefined;
  if (isRecord(written)) return written;
  const [first = "input"] = Object.keys(tool?.inputSchema.properties ?? {});
  return { [first]: argument };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
