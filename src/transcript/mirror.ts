/** What was delivered to a person outside the model's own answer, as an assistant message. */
import { posix } from "node:path";
import type { AssistantMessage } from "./entries.ts";
import { NO_USAGE } from "./no-usage.ts";

export interface MirroredDelivery {
  text?: string;
  mediaUrls?: readonly string[];
}

/** Names of the delivered files if there are any, else the text; null, as in OpenClaw, when there is neither. */
export function resolveMirroredTranscriptText(delivery: MirroredDelivery): string | null {
  const urls = (delivery.mediaUrls ?? []).map((url) => url.trim()).filter((url) => url !== "");
  if (urls.length > 0) {
    const names = urls.map(mediaFileName).filter((name) => name !== "");
    return names.length > 0 ? names.join(", ") : "media";
  }
  return delivery.text?.trim() || null;
}

const MIRROR_MARKS = { provider: "openclaw", model: "delivery-mirror" } as const;

/** The marks by which OpenClaw's tools tell a mirrored delivery from an answer of a model. */
export function createDeliveryMirrorMessage(text: string, timestamp: number): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "openai-responses",
    ...MIRROR_MARKS,
    usage: NO_USAGE,
    stopReason: "stop",
    timestamp,
  };
}

/** No model said it, so it tells nothing about the model in use. */
export function isDeliveryMirror({ provider, model }: AssistantMessage): boolean {
  return provider === MIRROR_MARKS.provider && model === MIRROR_MARKS.model;
}

function mediaFileName(url: string): string {
  const bare = url.replace(/[?#].*$/s, "");
  const name = posix.basename(URL.canParse(bare) ? new URL(bare).pathname : bare);
  if (name === "." || name === "..") return "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
