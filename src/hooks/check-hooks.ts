/** Whether hooks could be called right now: what they need is there, and the handler loads where it would run. */
import { errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { printableLine } from "../base/printable.ts";
import { handlerFileOf, workingFolder } from "./handler-file.ts";
import type { Hook } from "./hook.ts";
import { hookEnvironment } from "./hook-environment.ts";
import { type HookProcesses, createHookProcesses } from "./hook-processes.ts";
import type { LoadHooksOptions } from "./load-hooks.ts";

export interface CheckedHook extends Hook {
  /** Whether it would be called, or is not meant to be. */
  ok: boolean;
}

/** Loads the handlers of those that are ready, which runs what stands outside of their functions. */
export async function checkHooks(hooks: readonly Hook[], options: CheckOptions): Promise<CheckedHook[]> {
  const processes = createHookProcesses(options);
  const checked: CheckedHook[] = [];
  for (const hook of hooks) {
    const problem = hook.state === "ready" ? await loadingProblem(hook, options, processes) : undefined;
    const isMeantToRun = hook.state !== "off" && hook.state !== "overridden";
    if (problem === undefined) checked.push({ ...hook, ok: hook.state === "ready" || !isMeantToRun });
    else checked.push({ ...hook, ok: false, state: "broken", problem });
  }
  await processes.close();
  return checked;
}

type CheckOptions = Pick<LoadHooksOptions, "home" | "workspace" | "config" | "env"> & { logger: Logger };

async function loadingProblem(
  hook: Hook,
  options: CheckOptions,
  processes: HookProcesses,
): Promise<string | undefined> {
  if (hook.source === "bundled") return undefined;
  try {
    const answer = await processes.call({
      hook: hook.name,
      handlerFile: await handlerFileOf(hook, options.home),
      cwd: await workingFolder(options),
      env: hookEnvironment(options.env, hook.variables),
      timeoutMs: options.config.hooks.timeoutSeconds * 1000,
    });
    return typeof answer === "string" ? answer : undefined;
  } catch (error) {
    return printableLine(errorMessage(error), 300);
  }
}
