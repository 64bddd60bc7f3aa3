/** Finds `/new` and `/reset` in a message, inside the wrappers that channels add. */
import type { MessageContext } from "../keys/message-context.ts";

/** The text without wrappers on one line, where commands are searched; after a trigger, the rest with line breaks. */
export type ResetTrigger = ReturnType<typeof detectResetTrigger>;

/** Both do the same; hooks and history record which one it was. */
export type ResetWord = "new" | "reset";

/** Other configured words count as `/new`. */
export function resetWordOf({ triggerBodyNormalized }: ResetTrigger): ResetWord {
  return /^\/reset(?:\s|$)/i.test(triggerBodyNormalized) ? "reset" : "new";
}

export function detectResetTrigger(params: {
  ctx: MessageContext;
  resetTriggers: readonly string[];
  isGroup: boolean;
  /** Whether the sender may reset. Otherwise the trigger is ordinary text. */
  authorized: boolean;
}) {
  const { ctx } = params;
  const unwrapped = unwrap(ctx.BodyForCommands ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body ?? "");
  const text = params.isGroup ? unwrapped.replace(/^(?:@\S+\s+)+/, "") : unwrapped;
  const triggerBodyNormalized = oneLine(text);
  if (!params.authorized) return { triggerBodyNormalized, triggered: false };

  for (const trigger of params.resetTriggers.map((word) => word.trim()).filter((word) => word !== "")) {
    if (text.slice(0, trigger.length).toLowerCase() !== trigger.toLowerCase()) continue;
    const behind = text.slice(trigger.length);
    if (behind !== "" && !/^\s/.test(behind)) continue;
    return { triggerBodyNormalized, triggered: true, bodyStripped: behind.trim() };
  }
  return { triggerBodyNormalized, triggered: false };
}

/** `[Dec 4 17:35] Alice: /new hi` → `/new hi`, on one line. */
export function stripStructuralPrefixes(text: string): string {
  return oneLine(unwrap(text));
}

const CURRENT_MESSAGE = "[Current message - respond to this]";
// At most 8: more brackets are text, and would overflow the stack.
const BRACKETED = /^(?:\s*\[[^\]\n]{0,200}\]){1,8}\s*/;
const SENDER = /^[\p{L}\p{N}+()_. -]{1,64}:\s+/u;

function unwrap(text: string): string {
  const marker = text.lastIndexOf(CURRENT_MESSAGE);
  const current = marker === -1 ? text : text.slice(marker + CURRENT_MESSAGE.length);
  return current.trim().replace(BRACKETED, "").replace(SENDER, "").trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
