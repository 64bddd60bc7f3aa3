/** Commands that set one thing to one of a few words, and show it when no word is given. */
import { closestMatch } from "../../base/suggest.ts";
import type { SessionPatch } from "../../session/patch.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ChatCommand, CommandRequest } from "./chat-command.ts";
import { changeSession, currentEntry } from "./session-settings.ts";
import { shown } from "./shown.ts";

export interface Setting {
  name: string;
  summary: string;
  /** What each word changes. */
  words: Readonly<Record<string, SessionPatch>>;
  /** The state as one sentence. The entry is missing while nothing was said in the session. */
  describe(request: CommandRequest, entry: SessionEntry | undefined): string;
  /** Why it cannot be set here. Left out: it always can. */
  refuse?(request: CommandRequest, entry: SessionEntry | undefined): string | undefined;
}

export function settingCommand(setting: Setting): ChatCommand {
  const { name, summary, words } = setting;
  const choices = Object.keys(words).join("|");
  return {
    name,
    usage: `/${name} [${choices}]`,
    summary,
    when: "in-order",
    needsAuthorization: true,
    run: async (request) => {
      const entry = await currentEntry(request);
      const refusal = setting.refuse?.(request, entry);
      if (refusal !== undefined) return { text: refusal };
      const word = request.argument.toLowerCase();
      if (word === "") return { text: `${setting.describe(request, entry)}\nChange it with /${name} ${choices}` };

      const patch = Object.hasOwn(words, word) ? words[word] : undefined;
      if (patch === undefined) return { text: unknownWord(setting, word) };
      return { text: setting.describe(request, await changeSession(request, patch)) };
    },
  };
}

function unknownWord({ name, words }: Setting, word: string): string {
  const near = word.length > MAX_WORD ? undefined : closestMatch(word, Object.keys(words));
  const suggestion = near === undefined ? "" : ` Did you mean /${name} ${near}?`;
  return `/${name} does not know "${shown(word, MAX_WORD)}".${suggestion} It takes ${Object.keys(words).join(", ")}.`;
}

const MAX_WORD = 40;
