/** Whether the agent is meant. In a group it listens to everything and answers when it is asked to. */
import { isGroupMessage } from "../../keys/group.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { mentionsAgent } from "./mentions.ts";

export type GroupActivation = "mention" | "always";

export function isAddressed(params: {
  ctx: MessageContext;
  /** The group's entry; its `groupActivation` decides. */
  entry: Pick<SessionEntry, "groupActivation"> | undefined;
  mentionPatterns?: readonly RegExp[];
  /** For groups whose entry says nothing. Left out: `mention`. */
  defaultActivation?: GroupActivation;
  /** A command of somebody who may give commands needs no mention. Left out: it is none. */
  isCommand?: boolean;
}): boolean {
  const { ctx, entry, mentionPatterns = [], defaultActivation = "mention" } = params;
  if (!isGroupMessage(ctx)) return true;
  if ((entry?.groupActivation ?? defaultActivation) === "always") return true;
  if (ctx.WasMentioned === true) return true;
  if (params.isCommand === true && ctx.CommandAuthorized === true) return true;
  return mentionsAgent(ctx.RawBody ?? ctx.CommandBody ?? ctx.Body ?? "", { ctx, mentionPatterns });
}
