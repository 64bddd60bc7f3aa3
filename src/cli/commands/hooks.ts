/** `holdfast hooks list|enable|disable|check`: what is called when something happens, and whether it may be. */
import { ERROR_KINDS, HoldfastError } from "../../base/errors.ts";
import { createLogger } from "../../base/log.ts";
import { closestMatch } from "../../base/suggest.ts";
import { formatKeyPath } from "../../config/key-path.ts";
import { agentLayout, configFile } from "../../config/layout.ts";
import { HOOK_SOURCES, type Hook } from "../../hooks/hook.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { parseChoice } from "../arguments.ts";
import { type Setup, assertAgentId, loadSetup } from "../context.ts";
import { print, printJson, printTable, talk } from "../output.ts";

interface HookOptions {
  json?: boolean;
  agent?: string;
}

export async function listHooks(options: HookOptions): Promise<void> {
  const hooks = await load(await loadSetup(), options);
  if (options.json === true) return printJson({ schema: 1, count: hooks.length, hooks });
  if (hooks.length === 0) return talk("There are no hooks.");
  printHooks(hooks);
}

export async function checkHook(name: string | undefined, options: HookOptions): Promise<void> {
  const setup = await loadSetup();
  const all = await load(setup, options);
  const wanted = name === undefined ? all : named(name, all);
  const { checkHooks } = await import("../../hooks/check-hooks.ts");
  const logger = createLogger({ level: setup.config.log.level });
  const workspace = workspaceOf(setup, options);
  const hooks = await checkHooks(wanted, { ...setup, workspace, env: process.env, logger });
  const ok = hooks.every((hook) => hook.ok);
  process.exitCode = ok ? 0 : ERROR_KINDS.degraded.exitCode;
  if (options.json === true) return printJson({ schema: 1, ok, count: hooks.length, hooks });
  printHooks(hooks);
  const unfit = hooks.filter((hook) => !hook.ok).length;
  talk(
    ok
      ? "Nothing is wrong."
      : `${unfit} of ${hooks.length} cannot run though ${unfit === 1 ? "it is" : "they are"} turned on.`,
  );
}

export async function enableHook(name: string, options: HookOptions & { source?: string }): Promise<void> {
  const setup = await loadSetup();
  const hook = chooseOne(name, named(name, await load(setup, options)), options.source);
  if (hook.state === "broken") throw brokenHook(hook);
  // First what it is, then that it is on: between the two it does not run.
  const content = hook.source === "workspace" ? await keepContent(setup, hook) : {};
  const path = await turn(setup, name, true);
  const { source, folder } = hook;
  if (options.json === true) return printJson({ schema: 1, ok: true, path, name, source, folder, ...content });
  print(`${name} is turned on  (${path})`);
  if (content.files !== undefined) {
    print(
      `It runs as it is now: ${content.files.join(", ")} in ${folder}. After any change it has to be turned on again.`,
    );
  }
  if (hook.missing.length > 0) talk(`It cannot run yet: it needs ${hook.missing.join(", ")}.`);
  talk("A gateway that is running has to be started again to call it.");
}

export async function disableHook(name: string, options: HookOptions): Promise<void> {
  const setup = await loadSetup();
  const all = await load(setup, options);
  const isConfigured = Object.hasOwn(setup.config.hooks.entries, name);
  const hooks = isConfigured ? all.filter((hook) => hook.name === name) : named(name, all);
  const path = await turn(setup, name, false);
  const { keepEnabledHook } = await import("../../hooks/enabled-hooks.ts");
  for (const { source, folder } of hooks) {
    if (source === "workspace") await keepEnabledHook(setup.home, folder, undefined);
  }
  if (options.json === true) return printJson({ schema: 1, ok: true, path, name });
  print(`${name} is turned off  (${path})`);
  talk("A gateway that is running has to be started again to stop calling it.");
}

async function load(setup: Setup, options: HookOptions): Promise<Hook[]> {
  const { loadHooks } = await import("../../hooks/load-hooks.ts");
  return await loadHooks({ ...setup, workspace: workspaceOf(setup, options), env: process.env });
}

function workspaceOf({ home, config }: Setup, { agent }: HookOptions): string {
  assertAgentId(agent);
  const agentId = normalizeAgentId(agent ?? config.defaultAgent);
  return config.agents[agentId]?.workspace ?? agentLayout(home, agentId).workspace;
}

function named(name: string, hooks: readonly Hook[]): Hook[] {
  const found = hooks.filter((hook) => hook.name === name);
  if (found.length > 0) return found;
  const near = closestMatch(
    name,
    hooks.map((hook) => hook.name),
  );
  throw new HoldfastError("not-found", "hook-not-found", `There is no hook "${name}"`, {
    hint: near === undefined ? "`holdfast hooks list` shows all of them." : `Did you mean ${near}?`,
    data: { name },
  });
}

/** An agent can give its hook the name of the person's: which of them is meant, the person has to say. */
function chooseOne(name: string, hooks: readonly Hook[], rawSource: string | undefined): Hook {
  const source = rawSource === undefined ? undefined : parseChoice("--source", rawSource, HOOK_SOURCES);
  const fitting = hooks.filter((hook) => source === undefined || hook.source === source);
  const last = fitting.findLast((hook) => hook.state !== "broken") ?? fitting.at(-1);
  if (last === undefined) {
    throw new HoldfastError("not-found", "hook-not-found", `There is no hook "${name}" of ${source}`, {
      hint: `There is one of ${hooks.map((hook) => hook.source).join(" and ")}.`,
      data: { name, source },
    });
  }
  const ofWorkspace = fitting.filter((hook) => hook.source === "workspace").length;
  if (ofWorkspace === 0 || ofWorkspace === fitting.length) return last;
  throw new HoldfastError("usage", "hook-ambiguous", `Several hooks have the name "${name}"`, {
    hint: `Look at both, then say which: --source ${hooks.map((hook) => hook.source).join(" or --source ")}.`,
    data: { name, folders: hooks.map((hook) => hook.folder) },
  });
}

function brokenHook({ name, folder, problem }: Hook): HoldfastError {
  return new HoldfastError(
    "unsupported",
    "hook-broken",
    `The hook "${name}" cannot be used: ${problem ?? "it is broken"}`,
    {
      hint: `Mend it in ${folder}; nothing was changed.`,
      data: { name, folder },
    },
  );
}

async function keepContent({ home }: Setup, { name, folder }: Hook): Promise<{ files?: string[]; digest?: string }> {
  const { readHookContent } = await import("../../hooks/hook-content.ts");
  const { keepEnabledHook } = await import("../../hooks/enabled-hooks.ts");
  const { files, digest } = await readHookContent(folder);
  await keepEnabledHook(home, folder, { name, digest, enabledAt: new Date().toISOString() });
  return { files: [...files.keys()], digest };
}

async function turn({ home }: Setup, name: string, isOn: boolean): Promise<string> {
  const path = configFile(home);
  const { setConfigValue } = await import("../../config/edit.ts");
  await setConfigValue({ path, key: formatKeyPath(["hooks", "entries", name, "enabled"]), rawValue: String(isOn) });
  return path;
}

function printHooks(hooks: readonly Hook[]): void {
  printTable(
    [{ title: "HOOK" }, { title: "FROM" }, { title: "STATE" }, { title: "EVENTS" }, { title: "", flexible: true }],
    hooks.map(({ name, source, state, events, description, problem }) => [
      name,
      source,
      state,
      events.join(", "),
      problem ?? description,
    ]),
  );
}
