/**
 * The tools over sessions, for chats that Claude Code answers. The gateway runs them in the name of the linked
 * conversation, so the rules of lineage and ownership are the same as for every other engine.
 */
import { z } from "zod";
import { HoldfastError } from "../../base/errors.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import type { McpConfig } from "../../config/claude-code.ts";
import { SESSION_TOOLS, type SessionTool } from "../../engine/tools/session-tools.ts";
import { type Bridge, type BridgeTool, toFailure, toResult } from "../bridge-tool.ts";
import { asData } from "../model-text.ts";
import { findConversation } from "../privacy.ts";

const FLAGS: Partial<Record<SessionTool["name"], keyof McpConfig>> = {
  sessions_history: "exposeConversation",
  project_status: "projectStatusEnabled",
};

export const sessionTools: readonly BridgeTool[] = SESSION_TOOLS.map((tool) => ({
  name: tool.name,
  title: tool.name.replaceAll("_", " "),
  description: tool.description,
  flag: FLAGS[tool.name],
  writes: tool.starts,
  input: z.fromJSONSchema({ ...tool.inputSchema }) as z.ZodObject,
  answer: async (args, bridge) => {
    try {
      return await ask(tool, args, bridge);
    } catch (error) {
      return toFailure(error, tool.name, bridge);
    }
  },
}));

async function ask(tool: SessionTool, args: unknown, bridge: Bridge) {
  const link = await findConversation(bridge);
  if (!link.linked) {
    throw new HoldfastError("not-found", "no-conversation", `Nothing was done. ${link.reason}`, {
      hint: "Do the work yourself, or ask the person.",
    });
  }
  const { text, isError } = await bridge.callSessionTool({
    tool: tool.name,
    input: isRecord(args) ? args : {},
    sessionKey: link.key,
    agentId: bridge.agentId,
    idempotencyKey: bridge.ids.uuid(),
  });
  const answer = isError ? undefined : parseJson(text);
  if (isRecord(answer)) return toResult(answer);
  return { content: [{ type: "text" as const, text: String(asData(text)) }], isError };
}
