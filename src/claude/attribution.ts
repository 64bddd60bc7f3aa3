/**
 * Who started a session. Claude Code has no field for the agent, so the first line of the first message
 * names it. The same text in any other place is ordinary text.
 */
import { HoldfastError } from "../base/errors.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { SessionOrigin } from "./discovered-session.ts";

/** Value of `CLAUDE_CODE_ENTRYPOINT` for tasks. Claude Code records it in every line. */
export const HOLDFAST_ENTRYPOINT = "holdfast";

/** The same for chats; copies of a transcript keep it. */
export const CHAT_ENTRYPOINT = "holdfast-chat";

/** Environment variable that tells Holdfast's hooks the purpose of a session: `task`, or `chat`. */
export const RUN_KIND_VARIABLE = "HOLDFAST_RUN";

export function isChatEntrypoint(entrypoint: string | undefined): boolean {
  return entrypoint === CHAT_ENTRYPOINT;
}

export function isHoldfastEntrypoint(entrypoint: unknown): boolean {
  return entrypoint === HOLDFAST_ENTRYPOINT || entrypoint === CHAT_ENTRYPOINT;
}

export function markTask(agentId: string, task: string): string {
  checkAgentId(agentId);
  return `[openclaw:agent=${agentId}]\n\n${task}`;
}

/** The id becomes part of the marker and the name of a folder. */
export function checkAgentId(agentId: string): void {
  if (agentId === normalizeAgentId(agentId)) return;
  throw new HoldfastError("usage", "invalid-agent-id", `${JSON.stringify(agentId)} cannot be an agent id`, {
    hint: "An agent id has up to 64 lower-case letters, digits, - and _, and starts with a letter or digit.",
    data: { agentId },
  });
}

const MARKER = /^\[openclaw:agent=([a-z0-9][a-z0-9_-]{0,63})\][ \t]*(?:\r?\n\s*|$)/;

/** `text` must be the first message of a session. It is returned without the marker. */
export function readMarker(text: string): { agentId?: string | undefined; text: string } {
  const marker = MARKER.exec(text);
  const agentId = marker?.[1];
  return marker === null || agentId === undefined ? { text } : { agentId, text: text.slice(marker[0].length) };
}

const ORIGINS: Readonly<Record<string, SessionOrigin>> = {
  cli: "cli",
  "claude-vscode": "vscode",
  "claude-desktop": "desktop",
  "sdk-cli": "sdk",
  "sdk-ts": "sdk",
  "sdk-py": "sdk",
  "claude-code-github-action": "github-action",
  // Without a registry entry and a marker, the agent is unknown.
  [HOLDFAST_ENTRYPOINT]: "other-agent",
  [CHAT_ENTRYPOINT]: "other-agent",
};

export interface OriginFacts {
  /** From the registry, else from the marker. */
  agentId?: string | undefined;
  /** The calling agent. Default: none; every agent then counts as another agent. */
  askingAgent?: string | undefined;
  entrypoint?: string | undefined;
}

export function sessionOrigin({ agentId, askingAgent, entrypoint = "" }: OriginFacts): SessionOrigin {
  if (agentId !== undefined) return agentId === askingAgent ? "this-agent" : "other-agent";
  return Object.hasOwn(ORIGINS, entrypoint) ? (ORIGINS[entrypoint] ?? "other") : "other";
}
