/** Threads: `<parent key>:thread:<id>`; OpenClaw's Telegram topics use `:topic:<id>` the same way. */
import { THREAD_MARKERS, encodeId, foldCase } from "./encoding.ts";
import { isCaseSensitiveChannel } from "./key-shape.ts";
import { parseAgentSessionKey } from "./session-key.ts";

export interface ThreadKeyParams {
  baseSessionKey: string;
  threadId?: string | number | null | undefined;
  /** Passed through for a message in a thread, so that the new session can fork from it. */
  parentSessionKey?: string | undefined;
  /** False where the base key already names the thread. */
  useSuffix?: boolean | undefined;
}

export interface ThreadKeys {
  sessionKey: string;
  parentSessionKey?: string;
}

export function resolveThreadSessionKeys(params: ThreadKeyParams): ThreadKeys {
  const { baseSessionKey, parentSessionKey, useSuffix = true } = params;
  const threadId = String(params.threadId ?? "").trim();
  if (threadId === "") return { sessionKey: baseSessionKey };
  const suffix = `:thread:${encodeId(keepsCase(baseSessionKey) ? threadId : foldCase(threadId))}`;
  return {
    sessionKey: useSuffix ? baseSessionKey + suffix : baseSessionKey,
    ...(parentSessionKey === undefined ? {} : { parentSessionKey }),
  };
}

/** The key without its last thread or topic; null when it names none. */
export function resolveThreadParentSessionKey(key: string | null | undefined): string | null {
  const segments = (key ?? "").trim().split(":");
  // `agent:<agentId>:` is not a conversation, even if the agent is called `thread`.
  const firstMarker = parseAgentSessionKey(key) === null ? 1 : 3;
  for (let index = segments.length - 2; index >= firstMarker; index--) {
    if (!THREAD_MARKERS.has(foldCase(segments[index] ?? ""))) continue;
    const parent = segments.slice(0, index).join(":").trim();
    return parent === "" ? null : parent;
  }
  return null;
}

function keepsCase(baseSessionKey: string): boolean {
  const rest = parseAgentSessionKey(baseSessionKey)?.rest ?? baseSessionKey;
  return isCaseSensitiveChannel(foldCase(rest.split(":", 1)[0] ?? ""));
}
