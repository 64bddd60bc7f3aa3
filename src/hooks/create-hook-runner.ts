/**
 * Calls the hooks of one agent one after another, each within the configured time limit. Bundled hooks run in this
 * process, all others in their own. A failure is logged, counted and returned; the event that triggered the hook is not
 * affected.
 */
import { TOO_LATE, within } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { redactText, redactValue } from "../base/redact.ts";
import {
  createHookProcesses,
  type HookResult,
  checkResult,
  hookEnvironment,
  type HookCall,
  type HookProcesses,
} from "./hook-processes.ts";
import type { BundledHook, Hook, HookEvent, HookEventName, HookOutcome, HookRequest, HookRunner } from "./hook.ts";
import { loadHooks, type LoadHooksOptions, handlerFileOf, workingFolder } from "./enabled-hooks.ts";
import { printableLine } from "../base/text.ts";

export interface HookRunnerOptions extends LoadHooksOptions {
  agentId: string;
  logger: Logger;
  clock: Clock;
  /** Handlers of the bundled hooks. One without a folder is not called. */
  bundled: readonly BundledHook[];
}

/** Searches for hooks once. Hooks that are added later need a restart. */
export async function createHookRunner(options: HookRunnerOptions): Promise<HookRunner> {
  const { logger, clock } = options;
  const bundled = new Map(options.bundled.map((hook) => [hook.name, hook]));
  const hooks = (await loadHooks(options)).map((hook) => withImplementation(hook, bundled));
  const processes = createHookProcesses({ logger });
  const failures = new Map<Hook, number>();
  const cfg = redactValue(options.config);
  let isClosed = false;
  reportUnfit(hooks, logger);

  const listeners = (event: HookEventName): Hook[] =>
    isClosed ? [] : hooks.filter(({ state, events }) => state === "ready" && events.includes(event));

  const call = async (hook: Hook, event: HookEvent): Promise<HookResult | string> => {
    try {
      const own = hook.source === "bundled" ? bundled.get(hook.name) : undefined;
      if (own !== undefined) return await callInProcess(own, event, timeLimit(options));
      return await processes.call({ ...(await callOf(hook, options)), event });
    } catch (error) {
      return printableLine(redactText(errorMessage(error)), 300);
    }
  };

  const countFailure = (hook: Hook, event: HookEventName, reason: string): void => {
    const count = (failures.get(hook) ?? 0) + 1;
    failures.set(hook, count);
    logger.warn("hook failed", { hook: hook.name, source: hook.source, event, reason, failures: count });
  };

  return {
    listens: (event) => listeners(event).length > 0,
    fire: async (name, request) => {
      const given = name === "agent:bootstrap" ? (request.context.bootstrapFiles ?? []) : [];
      const outcome: HookOutcome = { messages: [], bootstrapFiles: given, failures: [] };
      for (const hook of listeners(name)) {
        if (isClosed) break;
        const result = await call(hook, toEvent(name, request, outcome, { ...options, cfg, now: clock.now() }));
        if (typeof result === "string") {
          countFailure(hook, name, result);
          outcome.failures.push({ hook: hook.name, reason: result });
          continue;
        }
        outcome.messages.push(...result.messages);
        if (name === "agent:bootstrap") outcome.bootstrapFiles = result.bootstrapFiles;
      }
      return outcome;
    },
    list: () => hooks,
    close: async () => {
      isClosed = true;
      await processes.close();
    },
  };
}

/** A bundled hook without a handler in this version cannot run. */
function withImplementation(hook: Hook, bundled: ReadonlyMap<string, BundledHook>): Hook {
  if (hook.source !== "bundled" || hook.state !== "ready" || bundled.has(hook.name)) return hook;
  return { ...hook, state: "broken", problem: "this version of Holdfast has no handler for it" };
}

/** An enabled hook that cannot run is worth a warning. */
function reportUnfit(hooks: readonly Hook[], logger: Logger): void {
  for (const { name, source, state, problem } of hooks) {
    const isExpected = source === "bundled" || state === "ready" || state === "off" || state === "overridden";
    if (isExpected) continue;
    logger.warn("hook skipped", { hook: name, source, state, reason: problem });
  }
}

function toEvent(
  name: HookEventName,
  { sessionKey, context }: HookRequest,
  soFar: HookOutcome,
  { agentId, workspace, cfg, now }: { agentId: string; workspace: string; cfg: unknown; now: number },
): HookEvent {
  const [type = "", action = ""] = name.split(":");
  const { bootstrapFiles: _given, ...rest } = context;
  const files = name === "agent:bootstrap" ? { cfg, bootstrapFiles: [...soFar.bootstrapFiles] } : {};
  return {
    type,
    action,
    sessionKey,
    timestamp: new Date(now).toISOString(),
    context: { ...rest, agentId, workspaceDir: workspace, ...files },
    messages: [],
  };
}

async function callInProcess(hook: BundledHook, given: HookEvent, timeoutMs: number): Promise<HookResult | string> {
  const event = structuredClone(given);
  if ((await within(timeoutMs, hook.handle(event))) === TOO_LATE) return `took longer than ${timeoutMs / 1000} s`;
  return checkResult(event.messages, event.context.bootstrapFiles ?? given.context.bootstrapFiles ?? []);
}

function timeLimit({ config }: Pick<LoadHooksOptions, "config">): number {
  return config.hooks.timeoutSeconds * 1000;
}

async function callOf(hook: Hook, options: LoadHooksOptions): Promise<HookCall> {
  return {
    hook: hook.name,
    handlerFile: await handlerFileOf(hook, options.home),
    cwd: await workingFolder(options),
    env: hookEnvironment(options.env, hook.variables),
    timeoutMs: timeLimit(options),
  };
}

/** Loads the handlers of ready hooks, which runs their top-level code. `ok`: it would run, or is not supposed to. */
export async function checkHooks(hooks: readonly Hook[], options: CheckOptions) {
  const processes = createHookProcesses(options);
  const checked: (Hook & { ok: boolean })[] = [];
  for (const hook of hooks) {
    const problem = hook.state === "ready" ? await loadingProblem(hook, options, processes) : undefined;
    const isMeantToRun = hook.state !== "off" && hook.state !== "overridden";
    if (problem === undefined) checked.push({ ...hook, ok: hook.state === "ready" || !isMeantToRun });
    else checked.push({ ...hook, ok: false, state: "broken", problem });
  }
  await processes.close();
  return checked;
}

type CheckOptions = LoadHooksOptions & { logger: Logger };

async function loadingProblem(hook: Hook, options: CheckOptions, processes: HookProcesses) {
  if (hook.source === "bundled") return undefined;
  try {
    const answer = await processes.call(await callOf(hook, options));
    return typeof answer === "string" ? answer : undefined;
  } catch (error) {
    return printableLine(errorMessage(error), 300);
  }
}
