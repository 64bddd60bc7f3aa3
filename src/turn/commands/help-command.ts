/** The list of commands, made from the table and the configuration: each person sees what they may do. */
import type { ChatCommand } from "./chat-command.ts";
import { type Row, layOut, shown } from "./shown.ts";

/** `commands` is asked when somebody wants help, so that the list can hold this command too. */
export function createHelpCommand(commands: () => readonly ChatCommand[]): ChatCommand {
  return {
    name: "help",
    usage: "/help",
    summary: "this list",
    when: "now",
    needsAuthorization: false,
    run: async ({ parts, ctx }) => {
      const mayCommand = ctx.CommandAuthorized === true;
      const allowed = commands().filter(({ needsAuthorization }) => mayCommand || !needsAuthorization);
      const resets = mayCommand ? resetRows(parts.config.session.resetTriggers) : [];
      const rows = [...resets, ...allowed.map(({ usage, summary }): Row => [usage, summary])];
      return { text: layOut(ctx, rows, " – ") };
    },
  };
}

/** The first one is explained; the others do the same. */
function resetRows(triggers: readonly string[]): Row[] {
  const [first, ...others] = triggers.map((trigger) => shown(trigger, 40)).filter((trigger) => trigger !== "");
  if (first === undefined) return [];
  return [
    [`${first} [model] [text]`, "start a new window; the old one stays"],
    ...others.map((trigger): Row => [trigger, `the same as ${first}`]),
  ];
}
