/** Whether the agent may answer here, and when it does in a group. */
import { isGroupMessage } from "../../keys/group.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { CommandRequest } from "./chat-command.ts";
import { settingCommand } from "./setting-command.ts";

export const sendCommand = settingCommand({
  name: "send",
  summary: "whether answers are sent here; inherit: as configured",
  words: { on: { sendPolicy: "allow" }, off: { sendPolicy: "deny" }, inherit: { sendPolicy: null } },
  describe: (request, entry) => `Answers here: ${sendingOf(request, entry)}.`,
});

export function sendingOf({ parts, sessionKey, ctx }: CommandRequest, entry: SessionEntry | undefined): string {
  const { Provider: channel, ChatType: chatType } = ctx;
  const policy = resolveSendPolicy({
    cfg: parts.config,
    sessionKey,
    ...(entry === undefined ? {} : { entry }),
    ...(channel === undefined ? {} : { channel }),
    ...(chatType === undefined ? {} : { chatType }),
  });
  const state = policy === "allow" ? "on" : "off";
  return entry?.sendPolicy === undefined ? `${state} (as configured)` : state;
}

export const activationCommand = settingCommand({
  name: "activation",
  summary: "in a group: answer when called, or always",
  words: { mention: { groupActivation: "mention" }, always: { groupActivation: "always" } },
  describe: (request, entry) =>
    activationOf(request, entry) === "always"
      ? "I answer every message in this group."
      : "I answer in this group when I am called by name or when somebody answers me.",
  refuse: (request, entry) =>
    isGroup(request, entry)
      ? undefined
      : "/activation is for groups. In a direct conversation every message is answered.",
});

export function activationOf(
  { parts }: Pick<CommandRequest, "parts">,
  entry: SessionEntry | undefined,
): "mention" | "always" {
  return entry?.groupActivation ?? parts.config.groups.activation;
}

export function isGroup({ ctx }: CommandRequest, entry: SessionEntry | undefined): boolean {
  return isGroupMessage(ctx) || entry?.chatType === "group" || entry?.chatType === "channel";
}
