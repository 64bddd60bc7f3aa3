import type { ChatType } from "./chat-type.ts";
import { keyShape } from "./key-shape.ts";
import { parseAgentSessionKey } from "./session-key.ts";

export type SessionKind = "direct" | "group" | "global" | "unknown";

/** What kind of conversation a canonical key names. The entry knows better where it says so. */
export function sessionKindOf(key: string, entry?: { chatType?: ChatType | undefined }): SessionKind {
  const rest = parseAgentSessionKey(key)?.rest ?? key;
  if (key === "global") return "global";
  if (rest === "unknown") return "unknown";
  if (entry?.chatType === "group" || entry?.chatType === "channel") return "group";
  const segments = rest.split(":");
  const { kind } = keyShape(segments);
  // Very old stores name a group without its channel.
  const isBareGroup = segments.length > 1 && segments[0] === "group";
  return kind === "group" || kind === "channel" || (isBareGroup && kind === "other") ? "group" : "direct";
}
