/**
 * Who started a session. An agent names itself in a line of its own at the very start of the first
 * message, because Claude Code keeps no field for it; the same text anywhere else is what somebody
 * wrote, and says nothing.
 */
import { HoldfastError } from "../base/errors.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { SessionOrigin } from "./discovered-session.ts";

/** Spawn with `CLAUDE_CODE_ENTRYPOINT` set to this: Claude Code records it in every line. */
export const HOLDFAST_ENTRYPOINT = "holdfast";

/** The first message of a spawned session. */
export function markTask(agentId: string, task: string): string {
  checkAgentId(agentId);
  return `[openclaw:agent=${agentId}]\n\n${task}`;
}

/** It becomes part of the marker, and the name of a folder. */
export function checkAgentId(agentId: string): void {
  if (agentId === normalizeAgentId(agentId)) return;
  throw new HoldfastError("usage", "invalid-agent-id", `${JSON.stringify(agentId)} cannot be an agent id`, {
    hint: "An agent id has up to 64 lower-case letters, digits, - and _, and starts with a letter or digit.",
    data: { agentId },
  });
}

const MARKER = /^\[openclaw:agent=([a-z0-9][a-z0-9_-]{0,63})\][ \t]*(?:\r?\n\s*|$)/;

export interface MarkedText {
  agentId?: string;
  /** Without the marker. */
  text: string;
}

/** `text` must be the first message of a session: in any other a marker is only text. */
export function readMarker(text: string): MarkedText {
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
  // Neither in a registry nor marked: some agent's, and nobody knows whose.
  [HOLDFAST_ENTRYPOINT]: "other-agent",
};

export interface OriginFacts {
  /** By registry, else by marker. */
  agentId?: string | undefined;
  /** Who asks. Left out: every agent is another one. */
  askingAgent?: string | undefined;
  entrypoint?: string | undefined;
}

export function sessionOrigin({ agentId, askingAgent, entrypoint = "" }: OriginFacts): SessionOrigin {
  if (agentId !== undefined) return agentId === askingAgent ? "this-agent" : "other-agent";
  return Object.hasOwn(ORIGINS, entrypoint) ? (ORIGINS[entrypoint] ?? "other") : "other";
}
