/** `holdfast agents`: who there is, in OpenClaw's JSON shape, and a new one. */
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { engineNameOf } from "../../compose-agents.ts";
import { listAgentIds } from "../../compose.ts";
import { configuredAccounts } from "../../config/channel-accounts.ts";
import { ENGINE_NAMES, type AgentConfig, type EngineName, type HoldfastConfig } from "../../config/config.ts";
import { agentLayout, configFile } from "../../config/layout.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { parseChoice } from "../arguments.ts";
import { type Setup, assertAgentId, loadSetup } from "../context.ts";
import { tellIfGatewayRuns } from "../idle-accounts.ts";
import { print, printJson, printTable, talk } from "../output.ts";

export interface ListedAgent {
  id: string;
  name?: string;
  workspace: string;
  agentDir: string;
  engine: EngineName;
  model?: string;
  /** Accounts of channels that this agent answers. */
  bindings: number;
  isDefault: boolean;
  routes: string[];
}

export async function listAgents(options: { json?: boolean }): Promise<void> {
  const agents = await describeAgents(await loadSetup());
  if (options.json === true) return printJson(agents);
  printTable(
    [
      { title: "AGENT" },
      { title: "NAME" },
      { title: "ENGINE" },
      { title: "MODEL" },
      { title: "CHANNELS" },
      { title: "WORKSPACE", flexible: true },
    ],
    agents.map(({ id, name, engine, model, routes, workspace, isDefault }) => [
      isDefault ? `${id} *` : id,
      name ?? "",
      engine,
      model ?? "",
      routes.join(", "),
      workspace,
    ]),
  );
}

/** Those that are configured and those that have a folder; the default one is always among them. */
export async function describeAgents(setup: Setup): Promise<ListedAgent[]> {
  const { config } = setup;
  const configured = Object.keys(config.agents).map((id) => normalizeAgentId(id));
  const ids = [normalizeAgentId(config.defaultAgent), ...configured, ...(await listAgentIds(setup.home))];
  return [...new Set(ids)].toSorted().map((id) => describeAgent(id, setup));
}

function describeAgent(id: string, { home, config }: Setup): ListedAgent {
  const { name, model, workspace } = config.agents[id] ?? {};
  const layout = agentLayout(home, id);
  const isDefault = id === normalizeAgentId(config.defaultAgent);
  const bound = configuredAccounts(config).filter(
    ({ settings }) => normalizeAgentId(settings.agent ?? config.defaultAgent) === id,
  );
  const routes = bound.map(({ name: channel, accountId }) =>
    accountId === "default" ? channel : `${channel} (${accountId})`,
  );
  return {
    id,
    ...(name === undefined ? {} : { name }),
    workspace: workspace ?? layout.workspace,
    agentDir: layout.root,
    engine: engineNameOf(config, id),
    ...(model === undefined ? {} : { model }),
    bindings: bound.length,
    isDefault,
    routes: isDefault && routes.length === 0 ? ["default (no explicit rules)"] : routes,
  };
}

export interface AddOptions {
  json?: boolean;
  name?: string;
  model?: string;
  engine?: string;
  workspace?: string;
}

export async function addAgent(rawId: string, options: AddOptions): Promise<void> {
  assertAgentId(rawId);
  const id = normalizeAgentId(rawId);
  const setup = await loadSetup();
  await refuseKnown(id, setup);
  const settings = await toSettings(options, setup);
  const workspace = settings.workspace ?? agentLayout(setup.home, id).workspace;
  const path = configFile(setup.home);
  const { setConfigValue } = await import("../../config/edit.ts");
  await setConfigValue({ path, key: `agents.${id}`, rawValue: JSON.stringify(settings) });
  // The folder last: an agent that is configured gets one anyway when it is first needed.
  const { ensureWorkspace } = await import("../../engine/workspace/ensure-workspace.ts");
  await ensureWorkspace(workspace);
  const added = describeAgent(id, await loadSetup());
  await tellIfGatewayRuns(setup.home);
  if (options.json === true) return printJson({ schema: 1, ok: true, path, agent: added });
  print(`Agent ${id} is there: it works in ${workspace} and is answered by ${describeEngine(added)}.`);
  talk(`Talk to it: holdfast chat --agent ${id}`);
}

async function refuseKnown(id: string, { home, config }: Setup): Promise<void> {
  const known = [...Object.keys(config.agents).map((name) => normalizeAgentId(name)), ...(await listAgentIds(home))];
  if (!known.includes(id)) return;
  throw new HoldfastError("conflict", "agent-exists", `There is an agent "${id}" already`, {
    hint: `Change it with \`holdfast config set agents.${id}.model …\`, or choose another name.`,
    data: { agentId: id },
  });
}

async function toSettings({ name, model, engine, workspace }: AddOptions, { config }: Setup): Promise<AgentConfig> {
  // Claude Code has names of its own for models.
  const chosen = model === undefined || engine === "claude-code" ? model : await modelName(model, config.models);
  return {
    ...(name === undefined ? {} : { name }),
    ...(engine === undefined ? {} : { engine: parseChoice("--engine", engine, ENGINE_NAMES) }),
    ...(chosen === undefined ? {} : { model: chosen }),
    ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
  };
}

async function modelName(spec: string, models: HoldfastConfig["models"]): Promise<string> {
  const { resolveModelName } = await import("../../models/model-name.ts");
  const { provider, model } = resolveModelName(spec, models);
  return `${provider}/${model}`;
}

function describeEngine({ engine, model }: ListedAgent): string {
  if (engine === "echo") return "the echo engine, as it has no model";
  return model === undefined ? `the ${engine} engine` : `the ${engine} engine with ${model}`;
}
