/** What this conversation leaves for the next: capture it, see it, forget it, turn it off. */
import type { Handoff } from "../../handoff/handoff.ts";
import type { ChatCommand, CommandAnswer, CommandRequest } from "./chat-command.ts";
import { describeFate, describeState } from "./handoff-text.ts";
import { changeSession, currentEntry } from "./session-settings.ts";
import { shown } from "./shown.ts";

export const handoffCommand: ChatCommand = {
  name: "handoff",
  usage: "/handoff [status|clear|on|off]",
  summary: "capture what this conversation leaves for the next, see it, forget it",
  when: "now",
  needsAuthorization: true,
  run: async (request) => {
    const { handoff } = request.parts;
    if (handoff === undefined) return { text: TURNED_OFF };
    const word = request.argument.toLowerCase();
    switch (word) {
      case "":
      case "status":
        return await show(request, handoff);
      case "clear":
        return await clear(request, handoff);
      case "on":
      case "off":
        return await turn(request, word);
      default:
        return { text: `/handoff does not know "${shown(word, 40)}". It takes status, clear, on, off or nothing.` };
    }
  },
};

const TURNED_OFF = "Nothing is handed over here: handoff.enabled is false in the configuration.";

/** Both capture first: what is shown is how things are now, also right after a crash. */
async function show(request: CommandRequest, handoff: Handoff): Promise<CommandAnswer> {
  const { sessionKey, parts } = request;
  const entry = await currentEntry(request);
  if (entry?.handoff === "off") return { text: "Nothing of this session is handed over. /handoff on changes that." };
  const target = { kind: "session" as const, sessionKey, ...(entry === undefined ? {} : { entry }) };
  const state = (await handoff.capture(target, "asked")) ?? (await handoff.get(sessionKey));
  if (state === undefined) return { text: "Nothing is kept of this conversation yet." };
  return { text: [describeState(state), describeFate(state, parts.agent.clock.now())].join("\n") };
}

async function clear({ sessionKey }: CommandRequest, handoff: Handoff): Promise<CommandAnswer> {
  const had = await handoff.clear(sessionKey);
  return { text: had ? "What was kept is forgotten; the transcript stays." : "Nothing was kept." };
}

async function turn(request: CommandRequest, word: "on" | "off"): Promise<CommandAnswer> {
  await changeSession(request, { handoff: word });
  if (word === "on") return { text: "What this session leaves is handed over to its next window." };
  return { text: "Nothing of this session is handed over from now on. /handoff clear forgets what was kept." };
}

/**
 * The next message gets what was kept, offered before or not. An expired one only by its name: then it is
 * shown what to type. Empty when nothing is kept, or nothing of that name.
 */
export async function bringHandoff({ parts, sessionKey }: CommandRequest, name?: string): Promise<string[]> {
  const { handoff, agent } = parts;
  if (handoff === undefined || (await agent.store.get(sessionKey))?.handoff === "off") return [];
  const answer = await handoff.resume(sessionKey, name);
  if (answer.kind === "none") return [];
  const { state } = answer;
  if (answer.kind === "ready") return [describeState(state), "Your next message brings it to the agent.", ""];
  return [`What was kept has expired. /resume ${shown(state.project)} brings it all the same.`, ""];
}
