/** Which model answers in this session. */
import type { HoldfastConfig } from "../../config/config.ts";
import { chooseModel } from "../../session/model-choice.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { modelOf } from "../run/own-entry.ts";
import type { ChatCommand, CommandRequest } from "./chat-command.ts";
import { changeSession, currentEntry } from "./session-settings.ts";
import { shown } from "./shown.ts";

export const modelCommand: ChatCommand = {
  name: "model",
  usage: "/model [name|default]",
  summary: "show or choose the model of this session",
  when: "in-order",
  needsAuthorization: true,
  run: async (request) => {
    const wanted = request.argument;
    if (wanted === "") return { text: describe(request, await currentEntry(request)) };
    if (wanted.toLowerCase() === "default") {
      const entry = await changeSession(request, { providerOverride: null, modelOverride: null });
      return { text: `Model: ${modelLine(request, entry)}.` };
    }
    return { text: await choose(request, wanted) };
  },
};

async function choose(request: CommandRequest, wanted: string): Promise<string> {
  const { config, engine } = request.parts;
  const { provider, model, isDefault, isListed } = chooseModel(wanted, {
    models: config.models,
    providers: config.providers,
    defaultModel: defaultModel(request),
    // Claude Code has short names of its own, such as `opus`.
    ...(engine.name === "claude-code" ? { bareNamesOf: "anthropic" } : {}),
  });
  const entry = await changeSession(
    request,
    isDefault ? { providerOverride: null, modelOverride: null } : { providerOverride: provider, modelOverride: model },
  );
  return `Model: ${modelLine(request, entry)}.${doubtOf(request, isListed || isDefault)}`;
}

function doubtOf({ parts: { agent, engine } }: CommandRequest, isKnown: boolean): string {
  if (engine.name === "echo") {
    return ` But the echo engine answers here and asks no model: agents.${agent.agentId}.model in the configuration gives the agent one.`;
  }
  return isKnown ? "" : " The configuration does not list it: the next answer will tell.";
}

function describe(request: CommandRequest, entry: SessionEntry | undefined): string {
  const known = knownModels(request.parts.config);
  return [
    `Model: ${modelLine(request, entry)}.`,
    ...(known.length === 0 ? [] : ["Known:", ...known]),
    "Choose one with /model <name> or provider/model; /model default goes back.",
  ].join("\n");
}

/** More than anybody reads in a chat. */
const SHOWN_MODELS = 30;

function knownModels({ models }: HoldfastConfig): string[] {
  const all = Object.entries(models);
  const lines = all
    .slice(0, SHOWN_MODELS)
    .map(([id, { alias }]) => (alias === undefined ? shown(id) : `${shown(id)} (${shown(alias, 40)})`));
  return all.length > SHOWN_MODELS ? [...lines, `and ${all.length - SHOWN_MODELS} more`] : lines;
}

/** `anthropic/claude-x (chosen for this session)`. */
export function modelLine(request: CommandRequest, entry: SessionEntry | undefined): string {
  const model = currentModel(request, entry);
  if (model === undefined) return "the engine's own";
  return entry?.modelOverride === undefined ? shown(model) : `${shown(model)} (chosen for this session)`;
}

/** As the next turn will ask for it, else the one that answered last. */
export function currentModel(request: CommandRequest, entry: SessionEntry | undefined): string | undefined {
  const { agent, config } = request.parts;
  const chosen = entry === undefined ? undefined : modelOf(entry, config, agent.agentId);
  return chosen ?? defaultModel(request) ?? lastModel(entry);
}

function defaultModel({ parts: { agent, config, engine } }: CommandRequest): string | undefined {
  const own = config.agents[agent.agentId];
  if (engine.name !== "claude-code") return own?.model;
  return own?.model ?? own?.claudeCode?.model ?? config.claudeCode.model;
}

function lastModel(entry: SessionEntry | undefined): string | undefined {
  if (entry?.model === undefined) return undefined;
  return entry.modelProvider === undefined ? entry.model : `${entry.modelProvider}/${entry.model}`;
}
