/** What the session is called, and who is speaking. */
import { resolveGroupSessionKey } from "../../keys/group.ts";
import type { ChatCommand } from "./chat-command.ts";
import { changeSession } from "./session-settings.ts";
import { type Row, layOut, shown } from "./shown.ts";

export const labelCommand: ChatCommand = {
  name: "label",
  usage: "/label [name]",
  summary: "name this session; without a name, take the name away",
  when: "in-order",
  needsAuthorization: true,
  run: async (request) => {
    const { label } = await changeSession(request, { label: request.argument === "" ? null : request.argument });
    return { text: label === undefined ? "The label is gone." : `This session is now called "${shown(label)}".` };
  },
};

export const whoamiCommand: ChatCommand = {
  name: "whoami",
  usage: "/whoami",
  summary: "your id here, for allow lists",
  when: "now",
  needsAuthorization: false,
  run: async ({ ctx }) => {
    const group = resolveGroupSessionKey(ctx);
    const rows: Row[] = [
      ["id", shown(ctx.SenderId ?? ctx.SenderE164 ?? "not known")],
      ...optional("username", ctx.SenderUsername),
      ...optional("name", ctx.SenderName),
      ...optional("channel", ctx.OriginatingChannel ?? ctx.Provider),
      ...optional("account", ctx.AccountId),
      ...optional("group", group?.id),
      ["commands", ctx.CommandAuthorized === true ? "allowed" : "not allowed"],
    ];
    return { text: layOut(ctx, rows) };
  },
};

function optional(name: string, value: string | undefined): Row[] {
  return value === undefined || value.trim() === "" ? [] : [[name, shown(value)]];
}
