/** What commands read and change of the session in which they were typed. */
import { initSessionState } from "../../session/init.ts";
import { type SessionPatch, patchSession } from "../../session/patch.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Lease } from "../../store/store.ts";
import type { CommandRequest } from "./chat-command.ts";

export async function currentEntry({ parts, sessionKey }: CommandRequest): Promise<SessionEntry | undefined> {
  return await parts.agent.store.get(sessionKey);
}

/** A setting may be the first thing that is said: then the session begins with it. */
export async function changeSession(request: CommandRequest, patch: SessionPatch): Promise<SessionEntry> {
  const { parts, sessionKey, ctx } = request;
  const { agent, config } = parts;
  const options = leaseOf(request);
  if ((await agent.store.get(sessionKey)) === undefined) {
    await initSessionState({ agent, ctx: { ...ctx, SessionKey: sessionKey }, cfg: config, ...options });
  }
  return await patchSession(agent, sessionKey, patch, options);
}

export function leaseOf({ held }: CommandRequest): { lease?: Lease } {
  return held === undefined ? {} : { lease: held.lease };
}
