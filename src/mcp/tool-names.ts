/** The tools that the bridge can offer, by their names on the wire. */
export const TOOL_NAMES = [
  "openclaw_conversation_context",
  "openclaw_memory_search",
  "openclaw_announce",
  "openclaw_session_info",
  "openclaw_project_status",
  "openclaw_session_list",
  "openclaw_session_search",
  "openclaw_decide_session",
  "openclaw_handoff",
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];
