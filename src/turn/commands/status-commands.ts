/** /status, /model, /label and /whoami: the session, its window, its model and settings, and who is speaking. */
import { localTime } from "../../base/clock.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import { resolveGroupSessionKey } from "../../keys/group.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import { chooseModel } from "../../session/model-choice.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { modelOf } from "../run/turn-record.ts";
import {
  type CommandSpec,
  type CommandRequest,
  currentEntry,
  type Row,
  counted,
  layOut,
  shortCount,
  shown,
  changeSession,
} from "./command.ts";
import { thinkingOf, verboseOf, queueLine, queueOf, activationOf, isGroup, sendingOf } from "./setting-commands.ts";
import { resolveContextWindow } from "../../models/model-info.ts";
import { readWindowCost } from "../../session/window-summary.ts";

export const statusCommand: CommandSpec = {
  usage: "/status",
  summary: "this session, its model and settings",
  when: "now",
  run: async (request) => {
    const entry = await currentEntry(request);
    const rows = [...(await sessionRows(request, entry)), ...settingRows(request, entry), ...laneRows(request, entry)];
    return layOut(request.ctx, rows);
  },
};

async function sessionRows(request: CommandRequest, entry: SessionEntry | undefined): Promise<Row[]> {
  const { parts, sessionKey } = request;
  const label = entry?.label === undefined ? "" : `  "${shown(entry.label)}"`;
  const engine: Row[] = [
    ["engine", parts.engine.name],
    ["model", modelLine(request, entry)],
  ];
  const session: Row = ["session", `${shown(sessionKey, 200)}${label}`];
  if (entry === undefined) return [session, ["window", "none: no message yet"], ...engine];
  return [session, ["window", await windowLine(request, entry)], ...engine, ...(await fillRows(request, entry))];
}

async function windowLine({ parts, sessionKey }: CommandRequest, entry: SessionEntry): Promise<string> {
  const windows = await parts.agent.store.windows(sessionKey);
  const openedAt = windows.at(-1)?.openedAt;
  const since = openedAt === undefined ? "" : `, since ${localTime(openedAt)}`;
  return `number ${Math.max(1, windows.length)} (${shown(entry.sessionId)})${since}`;
}

async function fillRows(request: CommandRequest, entry: SessionEntry): Promise<Row[]> {
  const cost = await readWindowCost(await transcriptPath(request.parts.agent, entry));
  const compactions = counted(entry.compactionCount ?? 0, "compaction");
  const context: Row = ["context", `${contextFill(request, entry)}, ${compactions}`];
  if (cost === undefined || cost.usd === 0) return [context];
  const dollars = cost.usd.toFixed(cost.usd < 0.01 ? 4 : 2);
  return [context, ["cost", `${cost.complete ? "" : "more than "}$${dollars} in this window`]];
}

/** `12k of 200k (6%)`. */
function contextFill(request: CommandRequest, entry: SessionEntry): string {
  const used = entry.totalTokens ?? 0;
  const known = resolveContextWindow(currentModel(request, entry), request.parts.config.models);
  const reported = entry.contextTokens ?? 0;
  const size = known.source === "assumed" && reported > 0 ? reported : known.tokens;
  const assumed = known.source === "assumed" && reported === 0 ? "an assumed " : "";
  return `${shortCount(used)} of ${assumed}${shortCount(size)} (${Math.round((used / size) * 100)}%)`;
}

function settingRows(request: CommandRequest, entry: SessionEntry | undefined): Row[] {
  return [
    ["thinking", thinkingOf(entry)],
    ["verbose", verboseOf(entry)],
    ...optional("reasoning", entry?.reasoningLevel),
    ...optional("usage", entry?.responseUsage),
    ["send", sendingOf(request, entry)],
    ...(isGroup(request, entry) ? [["activation", activationOf(request, entry)] satisfies Row] : []),
  ];
}

function laneRows(request: CommandRequest, entry: SessionEntry | undefined): Row[] {
  const { queued, runningSince } = request.lane.state();
  const idle = entry?.abortedLastRun === true ? "nothing; the last answer was stopped" : "nothing";
  return [
    ["queue", queueLine(queueOf(request, entry), queued)],
    ["running", runningSince === undefined ? idle : `since ${localTime(runningSince)}`],
  ];
}

export const modelCommand: CommandSpec = {
  usage: "/model [name|default]",
  summary: "show or choose the model of this session",
  when: "in-order",
  run: async (request) => {
    const wanted = request.argument;
    if (wanted === "") return describeModels(request, await currentEntry(request));
    if (wanted.toLowerCase() === "default") {
      const entry = await changeSession(request, { providerOverride: null, modelOverride: null });
      return `Model: ${modelLine(request, entry)}.`;
    }
    return await choose(request, wanted);
  },
};

async function choose(request: CommandRequest, wanted: string): Promise<string> {
  const { config, engine } = request.parts;
  const { provider, model, isDefault, isListed } = chooseModel(wanted, {
    models: config.models,
    providers: config.providers,
    defaultModel: defaultModel(request),
    // Claude Code has its own short names, such as `opus`.
    bareNamesOf: engine.name === "claude-code" ? "anthropic" : undefined,
  });
  const entry = await changeSession(
    request,
    isDefault ? { providerOverride: null, modelOverride: null } : { providerOverride: provider, modelOverride: model },
  );
  return `Model: ${modelLine(request, entry)}.${modelWarning(request, isListed || isDefault)}`;
}

function modelWarning({ parts: { agent, engine } }: CommandRequest, isKnown: boolean): string {
  if (engine.name === "echo") {
    return ` The echo engine answers here and uses no model. Set agents.${agent.agentId}.model in the configuration.`;
  }
  return isKnown ? "" : " The configuration does not list it; the next answer shows whether it works.";
}

function describeModels(request: CommandRequest, entry: SessionEntry | undefined): string {
  const known = knownModels(request.parts.config);
  return [
    `Model: ${modelLine(request, entry)}.`,
    ...(known.length === 0 ? [] : ["Known:", ...known]),
    "Choose one with /model <name> or provider/model; /model default restores the default.",
  ].join("\n");
}

const MAX_MODELS = 30;

function knownModels({ models }: HoldfastConfig): string[] {
  const all = Object.entries(models);
  const lines = all
    .slice(0, MAX_MODELS)
    .map(([id, { alias }]) => (alias === undefined ? shown(id) : `${shown(id)} (${shown(alias, 40)})`));
  return all.length > MAX_MODELS ? [...lines, `and ${all.length - MAX_MODELS} more`] : lines;
}

/** `anthropic/claude-x (chosen for this session)`. */
function modelLine(request: CommandRequest, entry: SessionEntry | undefined): string {
  const model = currentModel(request, entry);
  if (model === undefined) return "the engine's own";
  return entry?.modelOverride === undefined ? shown(model) : `${shown(model)} (chosen for this session)`;
}

/** The model of the next turn, else the one that answered last. */
function currentModel(request: CommandRequest, entry: SessionEntry | undefined): string | undefined {
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

export const labelCommand: CommandSpec = {
  usage: "/label [name]",
  summary: "name this session; without a name, remove the label",
  when: "in-order",
  run: async (request) => {
    const { label } = await changeSession(request, { label: request.argument === "" ? null : request.argument });
    return label === undefined ? "The label was removed." : `This session is now called "${shown(label)}".`;
  },
};

export const whoamiCommand: CommandSpec = {
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
    return layOut(ctx, rows);
  },
};

function optional(name: string, value: string | undefined): Row[] {
  return value === undefined || value.trim() === "" ? [] : [[name, shown(value)]];
}
