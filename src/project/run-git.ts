/**
 * Git, asked without side effects. The repo may be hostile: its own configuration must not make git
 * start programs (fsmonitor, hooks, filters, signature checks, transports), and we never take its
 * index lock. What the person configured for the whole machine stays in force, `safe.directory` too.
 */
import { type CommandResult, runCommand } from "./run-command.ts";

export interface GitOptions {
  /** Default: this process's own. */
  env?: NodeJS.ProcessEnv;
  /** For each git command. Default 5,000. */
  gitTimeoutMs?: number;
}

export type GitSetting = readonly [key: string, value: string];

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const SAFE_SETTINGS: readonly GitSetting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  ["core.quotePath", "false"],
];

/** Where git finds its own parts and the person's configuration; every other `GIT_` variable points elsewhere. */
const KEPT_VARIABLES = new Set([
  "GIT_EXEC_PATH",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_CEILING_DIRECTORIES",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
]);

export async function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
  settings: readonly GitSetting[] = [],
): Promise<CommandResult> {
  return await runCommand("git", ["--no-pager", ...args], {
    cwd,
    env: gitEnvironment(options.env ?? process.env, settings),
    timeoutMs: options.gitTimeoutMs ?? 5_000,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  });
}

/** For git itself and for programs that call it. */
export function gitEnvironment(base: NodeJS.ProcessEnv, settings: readonly GitSetting[] = []): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(base)) {
    // PWD may name the folder by a symlink, which git would repeat.
    if (name !== "PWD" && (!name.startsWith("GIT_") || KEPT_VARIABLES.has(name))) env[name] = value;
  }
  return {
    ...env,
    ...settingVariables(base, [...SAFE_SETTINGS, ...settings]),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_PAGER: "cat",
    // A partial clone would fetch what is missing, through whatever command its configuration names.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
  };
}

/** Settings as variables take any name and value, reach git's own children, and win over every file. */
function settingVariables(base: NodeJS.ProcessEnv, settings: readonly GitSetting[]): NodeJS.ProcessEnv {
  const variables: NodeJS.ProcessEnv = {};
  const inherited = Math.min(Number(base["GIT_CONFIG_COUNT"]) || 0, 100);
  const given = Array.from({ length: inherited }, (_, index): GitSetting => {
    return [base[`GIT_CONFIG_KEY_${index}`] ?? "", base[`GIT_CONFIG_VALUE_${index}`] ?? ""];
  });
  const all = [...given.filter(([key]) => key !== ""), ...settings];
  for (const [index, [key, value]] of all.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  variables["GIT_CONFIG_COUNT"] = String(all.length);
  return variables;
}

/** The output as text; bytes that are no UTF-8 become U+FFFD. Undefined when git did not succeed. */
export function outputOf(result: CommandResult): string | undefined {
  if (result.failure !== undefined || result.exitCode !== 0) return undefined;
  return result.stdout.toString("utf8");
}

/** Why a git command gave no answer, in one line for a person. */
export function gitProblem(result: CommandResult): string {
  if (result.failure === "missing") return "git is not installed, or not on PATH";
  if (result.failure === "timeout") return "git took too long and was stopped";
  if (result.failure === "too-much-output") return "git printed more than can be read";
  const lines = result.stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((text) => /^(fatal|error):/.test(text)) ?? lines[0] ?? `exit code ${result.exitCode}`;
  if (line.includes("dubious ownership")) {
    return "git refuses this repo because it belongs to another user; allow it with `git config --global --add safe.directory <path>`";
  }
  return line.replace(/^(fatal|error): /, "").slice(0, 300);
}
