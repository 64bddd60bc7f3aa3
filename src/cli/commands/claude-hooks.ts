/** `holdfast hooks install|uninstall claude-code`: the one change that Holdfast makes in Claude Code's folder. */
import { dirname, join } from "node:path";
import { HoldfastError, systemErrorCode } from "../../base/errors.ts";
import { programFile } from "../../base/package.ts";
import { resolveClaudeHome, settingsFile } from "../../claude/native/layout.ts";
import { claudeLayout, resolveHome } from "../../config/layout.ts";
import type { InstallOptions, InstallOutcome } from "../../hooks/claude-code/install.ts";
import { parseChoice } from "../arguments.ts";
import { print, printJson, talk } from "../output.ts";

interface PlaceOptions {
  project?: boolean;
  json?: boolean;
}

export async function install(program: string, options: PlaceOptions): Promise<void> {
  const where = await placeOf(program, options);
  const { installHooks } = await import("../../hooks/claude-code/install.ts");
  const result = await installHooks(where);
  await compileHook();
  report(result, options, {
    installed: `Claude Code calls Holdfast from now on  (${result.path})`,
    updated: `Claude Code's hooks lead to this Holdfast now  (${result.path})`,
    unchanged: `Claude Code calls Holdfast already  (${result.path})`,
  });
  if (options.json === true) return;
  if (result.hooksOff)
    talk('Hooks are turned off there ("disableAllHooks"): nothing is called until that is taken out.');
  if (!result.isPlainJson) talk("The file has comments or trailing commas: Claude Code may ignore all of it.");
}

/** Of bin/compiled-code.js, which is plain JavaScript. */
interface CompiledCode {
  keepCompiled: (folder: string) => void;
}

/** For this Node, if another one has built Holdfast: a hook answers sooner then. It answers without, too. */
async function compileHook(): Promise<void> {
  const { createRequire } = await import("node:module");
  const { keepCompiled } = createRequire(programFile())("./compiled-code.js") as CompiledCode;
  try {
    keepCompiled(join(dirname(programFile()), "..", "dist", "bin"));
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
  }
}

export async function uninstall(program: string, options: PlaceOptions): Promise<void> {
  const where = await placeOf(program, options);
  const { uninstallHooks } = await import("../../hooks/claude-code/install.ts");
  const result = await uninstallHooks(where);
  report(result, options, {
    restored: `Claude Code's settings are what they were before  (${result.path})`,
    removed: `Claude Code does not call Holdfast any more; what others have changed there stays  (${result.path})`,
    unchanged: `Claude Code did not call Holdfast  (${result.path})`,
  });
}

async function placeOf(program: string, { project }: PlaceOptions): Promise<InstallOptions> {
  parseChoice("The program", program, ["claude-code"]);
  const home = resolveHome();
  const isChosen = (process.env["HOLDFAST_HOME"]?.trim() ?? "") !== "";
  return {
    folder: claudeLayout(home).hooksFolder,
    settings: project === true ? await projectSettings() : { path: settingsFile(resolveClaudeHome()) },
    ...(isChosen ? { home } : {}),
  };
}

/** Of the worktree: that is where Claude Code looks. */
async function projectSettings(): Promise<InstallOptions["settings"]> {
  const { findRepo } = await import("../../project/repo.ts");
  const repo = await findRepo(process.cwd());
  if (repo === undefined) {
    throw new HoldfastError("not-found", "repo-not-found", "This folder is in no git repo", {
      hint: "Go to the repo first, or leave --project out to change your own settings. Nothing was changed.",
    });
  }
  return { path: join(repo.worktreeRoot, ".claude", "settings.json"), within: repo.worktreeRoot };
}

function report(
  { path, outcome, events, hooksOff, isPlainJson }: InstallOutcome,
  { json }: PlaceOptions,
  words: Partial<Record<InstallOutcome["outcome"], string>>,
): void {
  if (json === true) return printJson({ schema: 1, ok: true, outcome, path, events, hooksOff, isPlainJson });
  print(words[outcome] ?? outcome);
}
