/** `holdfast hooks`: lists, turns on, turns off and checks hooks, and installs Holdfast as a hook of Claude Code. */
import { join } from "node:path";
import { ERROR_KINDS, HoldfastError } from "../../base/errors.ts";
import { createLogger } from "../../base/log.ts";
import { resolveClaudeHome, settingsFile } from "../../claude/native/layout.ts";
import { formatKeyPath } from "../../config/key-path.ts";
import { agentLayout, configFile, claudeLayout, resolveHome } from "../../config/layout.ts";
import type { InstallOptions, InstallOutcome } from "../../hooks/claude-code/install.ts";
import { type Hook } from "../../hooks/hook.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { type Flags, type Texts, parseChoice } from "../command.ts";
import { type Setup, assertAgentId, loadSetup } from "../context.ts";
import { flexible, print, printJson, printTable, talk } from "../output.ts";
import { closestMatch } from "../../base/text.ts";

type HookOptions = Flags<"json"> & Texts<"agent">;

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
  const { checkHooks } = await import("../../hooks/create-hook-runner.ts");
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
      ? "All hooks can run."
      : `${unfit} of ${hooks.length} hooks ${unfit === 1 ? "is" : "are"} turned on but cannot run.`,
  );
}

export async function enableHook(
  name: string,
  options: HookOptions & { source?: Hook["source"] | undefined },
): Promise<void> {
  const setup = await loadSetup();
  const hook = chooseOne(name, named(name, await load(setup, options)), options.source);
  if (hook.state === "broken") throw brokenHook(hook);
  // The content first: until the hook is turned on, it does not run.
  const content = hook.source === "workspace" ? await keepContent(setup, hook) : {};
  const path = await turn(setup, name, true);
  const { source, folder } = hook;
  if (options.json === true) return printJson({ schema: 1, ok: true, path, name, source, folder, ...content });
  print(`${name} is turned on  (${path})`);
  if (content.files !== undefined) {
    print(`Pinned to the current files: ${content.files.join(", ")} in ${folder}. After a change, enable it again.`);
  }
  if (hook.missing.length > 0) talk(`It cannot run yet: it needs ${hook.missing.join(", ")}.`);
  talk("Restart a running gateway to use it: holdfast gateway restart");
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
  talk("Restart a running gateway to stop using it: holdfast gateway restart");
}

async function load(setup: Setup, options: HookOptions): Promise<Hook[]> {
  const { loadHooks } = await import("../../hooks/enabled-hooks.ts");
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

/** An agent could give its hook the name of another hook, so an ambiguous name needs `--source`. */
function chooseOne(name: string, hooks: readonly Hook[], source: Hook["source"] | undefined): Hook {
  const fitting = hooks.filter((hook) => source === undefined || hook.source === source);
  const last = fitting.findLast((hook) => hook.state !== "broken") ?? fitting.at(-1);
  if (last === undefined) {
    throw new HoldfastError("not-found", "hook-not-found", `There is no ${source} hook "${name}"`, {
      hint: `It exists as: ${hooks.map((hook) => hook.source).join(", ")}.`,
      data: { name, source },
    });
  }
  const ofWorkspace = fitting.filter((hook) => hook.source === "workspace").length;
  if (ofWorkspace === 0 || ofWorkspace === fitting.length) return last;
  throw new HoldfastError("usage", "hook-ambiguous", `Several hooks are named "${name}"`, {
    hint: `Read both, then choose one: --source ${hooks.map((hook) => hook.source).join(" or --source ")}.`,
    data: { name, folders: hooks.map((hook) => hook.folder) },
  });
}

function brokenHook({ name, folder, problem }: Hook): HoldfastError {
  return new HoldfastError(
    "unsupported",
    "hook-broken",
    `The hook "${name}" cannot be used: ${problem ?? "it is broken"}`,
    {
      hint: `Fix it in ${folder}. Nothing was changed.`,
      data: { name, folder },
    },
  );
}

async function keepContent(
  { home }: Setup,
  { name, folder }: Hook,
): Promise<{ files?: string[] | undefined; digest?: string | undefined }> {
  const { keepEnabledHook, readHookContent } = await import("../../hooks/enabled-hooks.ts");
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
    ["HOOK", "FROM", "STATE", "EVENTS", flexible("")],
    hooks.map(({ name, source, state, events, description, problem }) => [
      name,
      source,
      state,
      events.join(", "),
      problem ?? description,
    ]),
  );
}

type PlaceOptions = Flags<"json" | "project">;

const OUTCOMES: Readonly<Record<InstallOutcome["outcome"], string>> = {
  installed: "Claude Code now calls Holdfast",
  updated: "Claude Code now calls this installation of Holdfast",
  unchanged: "Claude Code already calls Holdfast",
  restored: "Claude Code's settings are restored",
  removed: "Claude Code no longer calls Holdfast; other changes to the file stay",
};

export async function install(program: string, options: PlaceOptions): Promise<void> {
  const { installHooks } = await import("../../hooks/claude-code/install.ts");
  const result = await installHooks(await placeOf(program, options));
  report(result, options, OUTCOMES[result.outcome]);
  if (options.json === true) return;
  if (result.hooksOff) talk('This file turns all hooks off: remove "disableAllHooks" to use them.');
  if (!result.isPlainJson) talk("The file has comments or trailing commas: Claude Code may ignore it.");
}

export async function uninstall(program: string, options: PlaceOptions): Promise<void> {
  const { uninstallHooks } = await import("../../hooks/claude-code/install.ts");
  const result = await uninstallHooks(await placeOf(program, options));
  const { outcome } = result;
  report(result, options, outcome === "unchanged" ? "Claude Code did not call Holdfast" : OUTCOMES[outcome]);
}

async function placeOf(program: string, { project }: PlaceOptions): Promise<InstallOptions> {
  parseChoice("The program", program, ["claude-code"]);
  const home = resolveHome();
  const isChosen = (process.env["HOLDFAST_HOME"]?.trim() ?? "") !== "";
  return {
    folder: claudeLayout(home).hooksFolder,
    settings: project === true ? await projectSettings() : { path: settingsFile(resolveClaudeHome()) },
    home: isChosen ? home : undefined,
  };
}

/** Claude Code reads the settings of the worktree. */
async function projectSettings(): Promise<InstallOptions["settings"]> {
  const { findRepo } = await import("../../project/repo.ts");
  const repo = await findRepo(process.cwd());
  if (repo === undefined) {
    throw new HoldfastError("not-found", "repo-not-found", "This folder is not in a git repo", {
      hint: "Change to the repo first, or omit --project to change your own settings. Nothing was changed.",
    });
  }
  return { path: join(repo.worktreeRoot, ".claude", "settings.json"), within: repo.worktreeRoot };
}

function report(result: InstallOutcome, { json }: PlaceOptions, text: string): void {
  const { path, outcome, events, hooksOff, isPlainJson } = result;
  if (json === true) printJson({ schema: 1, ok: true, outcome, path, events, hooksOff, isPlainJson });
  else print(`${text}  (${path})`);
}
