/** `holdfast agents list|add`. The list has OpenClaw's JSON shape. */
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { EngineName } from "../../config/choices.ts";
import { type HoldfastConfig, configuredAccounts } from "../../config/config.ts";
import { agentLayout, configFile } from "../../config/layout.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { Flags, Texts } from "../command.ts";
import { type Setup, assertAgentId, knownAgentIds, loadSetup } from "../context.ts";
import { flexible, print, printJson, printTable, talk } from "../output.ts";
import { suggestRestart } from "../channel-view.ts";
import { engineNameOf } from "../../compose/agent-pool.ts";
import { listAgentIds } from "../../compose/agent.ts";

export type ListedAgent = ReturnType<typeof describeAgent>;

export async function listAgents(options: Flags<"json">): Promise<void> {
  const agents = await describeAgents(await loadSetup());
  if (options.json === true) return printJson(agents);
  printTable(
    ["AGENT", "NAME", "ENGINE", "MODEL", "CHANNELS", flexible("WORKSPACE")],
    agents.map(({ id, name, engine, model, bindings, routes, workspace, isDefault }) => [
      isDefault ? `${id} *` : id,
      name ?? "",
      engine,
      model ?? "",
      isDefault && bindings === 0 ? "all unassigned" : routes.join(", "),
      workspace,
    ]),
  );
}

export async function describeAgents(setup: Setup): Promise<ListedAgent[]> {
  return (await knownAgentIds(setup)).map((id) => describeAgent(id, setup));
}

function describeAgent(id: string, { home, config }: Setup) {
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
    name,
    workspace: workspace ?? layout.workspace,
    agentDir: layout.root,
    engine: engineNameOf(config, id),
    model,
    bindings: bound.length,
    isDefault,
    routes: isDefault && routes.length === 0 ? ["default (no explicit rules)"] : routes,
  };
}

type AddOptions = Flags<"json"> & Texts<"name" | "model" | "workspace"> & { engine?: EngineName | undefined };

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
  // The folder last: if this fails, the first use of the agent creates it.
  const { ensureWorkspace } = await import("../../engine/workspace/workspace-description.ts");
  await ensureWorkspace(workspace);
  const added = describeAgent(id, await loadSetup());
  await suggestRestart(setup.home);
  if (options.json === true) return printJson({ schema: 1, ok: true, path, agent: added });
  print(`Added agent ${id}. It works in ${workspace} and uses ${describeEngine(added)}.`);
  talk(`Talk to it: holdfast chat --agent ${id}`);
}

async function refuseKnown(id: string, { home, config }: Setup): Promise<void> {
  const known = [...Object.keys(config.agents).map((name) => normalizeAgentId(name)), ...(await listAgentIds(home))];
  if (!known.includes(id)) return;
  throw new HoldfastError("conflict", "agent-exists", `Agent "${id}" already exists`, {
    hint: `Change it with \`holdfast config set agents.${id}.model …\`, or choose another name.`,
    data: { agentId: id },
  });
}

async function toSettings({ name, model, engine, workspace }: AddOptions, { config }: Setup) {
  // Claude Code uses its own model names.
  const chosen = model === undefined || engine === "claude-code" ? model : await modelName(model, config.models);
  return {
    name,
    engine,
    model: chosen,
    workspace: workspace === undefined ? undefined : resolve(workspace),
  };
}

async function modelName(spec: string, models: HoldfastConfig["models"]): Promise<string> {
  const { resolveModelName } = await import("../../models/model-info.ts");
  const { provider, model } = resolveModelName(spec, models);
  return `${provider}/${model}`;
}

function describeEngine({ engine, model }: ListedAgent): string {
  if (engine === "echo") return "the echo engine because no model is configured";
  return model === undefined ? `the ${engine} engine` : `the ${engine} engine with ${model}`;
}
