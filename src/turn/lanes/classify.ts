/** What a queued message needs: most need a turn; some can be dealt with while one runs. */
import { isRecord } from "../../base/json-record.ts";
import { isGroupMessage } from "../../keys/group.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { detectResetTrigger } from "../../session/reset-trigger.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { InboxItem } from "../../store/store.ts";
import { isAddressed } from "../body/activation.ts";
import { commandText } from "../body/mentions.ts";
import type { ChatCommand } from "../commands/chat-command.ts";
import type { InboxPayload } from "../pipeline.ts";
import type { LaneShared } from "./lane-parts.ts";

export interface WaitingItem {
  item: InboxItem;
  ctx: MessageContext;
  deliver: boolean;
  awaited: boolean;
  need: Need;
}

export type Need =
  /** Nobody meant the agent: kept for the group's context. */
  | { what: "note" }
  | { what: "command"; command: ChatCommand; argument: string }
  /** Looks like a command and is none. */
  | { what: "answer"; text: string }
  /** `alone`: never together with other messages, because it begins something new. */
  | { what: "turn"; alone: boolean };

export function classify(
  item: InboxItem,
  entry: SessionEntry | undefined,
  { config, commands, mentionPatterns }: Pick<LaneShared, "config" | "commands" | "mentionPatterns">,
): WaitingItem {
  const { ctx, deliver, awaited } = readPayload(item);
  const text = commandText({ ctx, mentionPatterns });
  const found = commands.find(text, ctx.BotUsername);
  const { triggered } = detectResetTrigger({
    ctx,
    resetTriggers: config.session.resetTriggers,
    isGroup: isGroupMessage(ctx),
    authorized: ctx.CommandAuthorized === true,
  });
  const isMeant = isAddressed({
    ctx,
    entry,
    mentionPatterns,
    defaultActivation: config.groups.activation,
    isCommand: triggered || found !== undefined,
  });
  return { item, ctx, deliver, awaited, need: needOf() };

  function needOf(): Need {
    if (!isMeant) return { what: "note" };
    if (triggered) return { what: "turn", alone: true };
    if (found !== undefined) return { what: "command", ...found };
    const mistyped = commands.answerMistyped(text);
    return mistyped === undefined ? { what: "turn", alone: false } : { what: "answer", text: mistyped };
  }
}

/** Whoever else wrote to the inbox may have left something that is no message: it counts as an empty one. */
function readPayload({ payload }: InboxItem): InboxPayload {
  const { ctx, deliver, awaited } = isRecord(payload) ? payload : {};
  return { ctx: isRecord(ctx) ? ctx : {}, deliver: deliver !== false, awaited: awaited === true };
}

/** Whether it is dealt with at once, whatever waits before it. */
export function isQuick({ need }: WaitingItem): boolean {
  if (need.what === "command") return need.command.when === "now";
  return need.what !== "turn";
}
