/** Names of sessions, in the list and above the transcript. */
import type { PageState, SessionRow } from "../state/state.ts";

export function sessionTitle(
  key: string,
  row: SessionRow | undefined,
  agents: PageState["agents"],
  unlisted = "New conversation",
): string {
  const named = row?.label ?? row?.displayName ?? row?.subject;
  if (named !== undefined && named.trim() !== "") return named;
  if (key.split(":").slice(2).join(":") === (agents?.mainKey ?? "main")) return "Main conversation";
  return row?.derivedTitle ?? (row === undefined ? unlisted : key);
}

/** From the key, unless the session is shared by all channels. */
export function sessionChannel({ key, channel, lastChannel }: SessionRow): string {
  const [head, , third, fourth, fifth] = key.split(":");
  const hasOwn = head === "agent" && fourth !== undefined && fifth !== undefined;
  return hasOwn && third !== undefined ? third : (channel ?? lastChannel ?? "web");
}

/** The gateway creates the session with its first message. */
export function newSessionKey(agentId: string): string {
  return `agent:${agentId}:web:dm:${crypto.randomUUID().slice(0, 13)}`;
}
