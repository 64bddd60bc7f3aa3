/**
 * Calls the hooks of one agent, one after the other. Those that come with Holdfast run in its process, all
 * others in processes of their own; every one has the time limit of the configuration. What a hook does wrong is logged,
 * counted and part of the outcome, and nothing more: what it was called for goes on.
 */
import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { printableLine } from "../base/printable.ts";
import { redactText } from "../base/redact.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { type Additions, checkAdditions } from "./additions.ts";
import { handlerFileOf, workingFolder } from "./handler-file.ts";
import type { BundledHook, Hook, HookEvent, HookEventName, HookOutcome, HookRequest, HookRunner } from "./hook.ts";
import { hookEnvironment } from "./hook-environment.ts";
import { createHookProcesses } from "./hook-processes.ts";
import { loadHooks } from "./load-hooks.ts";

export interface HookRunnerOptions {
  config: HoldfastConfig;
  home: string;
  workspace: string;
  agentId: string;
  env: Environment;
  logger: Logger;
  clock: Clock;
  /** The handlers of the bundled hooks. One without its folder is not called. */
  bundled: readonly BundledHook[];
  /** Left out: the package's own. */
  bundledFolder?: string;
}

/** Looks for hooks once: what is added later is found by the next process. */
export async function createHookRunner(options: HookRunnerOptions): Promise<HookRunner> {
  const { config, home, env, logger, clock } = options;
  const timeoutMs = config.hooks.timeoutSeconds * 1000;
  const bundled = new Map(options.bundled.map((hook) => [hook.name, hook]));
  const hooks = (await loadHooks(options)).map((hook) => withImplementation(hook, bundled));
  const processes = createHookProcesses({ logger });
  const failed = new Map<Hook, { count: number; reason: string }>();
  let isClosed = false;
  reportUnfit(hooks, logger);

  const listeners = (event: HookEventName): Hook[] =>
    isClosed ? [] : hooks.filter(({ state, events }) => state === "ready" && events.includes(event));

  const call = async (hook: Hook, event: HookEvent): Promise<Additions | string> => {
    try {
      const own = hook.source === "bundled" ? bundled.get(hook.name) : undefined;
      if (own !== undefined) return await callInProcess(own, event, timeoutMs);
      const handlerFile = await handlerFileOf(hook, home);
      return await processes.call({
        hook: hook.name,
        handlerFile,
        event,
        cwd: await workingFolder(options),
        env: hookEnvironment(env, hook.variables),
        timeoutMs,
      });
    } catch (error) {
      return inWords(error);
    }
  };

  const countFailure = (hook: Hook, event: HookEventName, reason: string): void => {
    const count = (failed.get(hook)?.count ?? 0) + 1;
    failed.set(hook, { count, reason });
    logger.warn("hook failed", { hook: hook.name, source: hook.source, event, reason, failures: count });
  };

  return {
    listens: (event) => listeners(event).length > 0,
    fire: async (name, request) => {
      const outcome: HookOutcome = { messages: [], bootstrapFiles: [], failures: [] };
      for (const hook of listeners(name)) {
        if (isClosed) break;
        const added = await call(hook, toEvent(name, request, outcome, { ...options, now: clock.now() }));
        if (typeof added === "string") {
          countFailure(hook, name, added);
          outcome.failures.push({ hook: hook.name, reason: added });
          continue;
        }
        outcome.messages.push(...added.messages);
        if (name === "agent:bootstrap") outcome.bootstrapFiles.push(...added.bootstrapFiles);
      }
      return outcome;
    },
    list: () =>
      hooks.map((hook) => {
        const failure = failed.get(hook);
        return failure === undefined ? hook : { ...hook, failed: failure };
      }),
    close: async () => {
      isClosed = true;
      await processes.close();
    },
  };
}

/** A bundled hook that this process has no handler for cannot run in it. */
function withImplementation(hook: Hook, bundled: ReadonlyMap<string, BundledHook>): Hook {
  if (hook.source !== "bundled" || hook.state !== "ready" || bundled.has(hook.name)) return hook;
  return { ...hook, state: "broken", problem: "this version of Holdfast has no handler for it" };
}

/** Somebody who turned a hook on expects it to run. */
function reportUnfit(hooks: readonly Hook[], logger: Logger): void {
  for (const { name, source, state, problem } of hooks) {
    const isExpected = source === "bundled" || state === "ready" || state === "off" || state === "overridden";
    if (isExpected) continue;
    logger.warn("hook left out", { hook: name, source, state, reason: problem });
  }
}

function toEvent(
  name: HookEventName,
  { sessionKey, context }: HookRequest,
  soFar: HookOutcome,
  { agentId, workspace, now }: { agentId: string; workspace: string; now: number },
): HookEvent {
  const [type = "", action = ""] = name.split(":");
  const { bootstrapFiles = [], ...rest } = context;
  const files = name === "agent:bootstrap" ? { bootstrapFiles: [...bootstrapFiles, ...soFar.bootstrapFiles] } : {};
  return {
    type,
    action,
    sessionKey,
    timestamp: new Date(now).toISOString(),
    context: { ...rest, agentId, workspaceDir: workspace, ...files },
    messages: [],
  };
}

async function callInProcess(hook: BundledHook, given: HookEvent, timeoutMs: number): Promise<Additions | string> {
  const event = structuredClone(given);
  const files = new Set(event.context.bootstrapFiles);
  const { promise: timeUp, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
  try {
    const late = await Promise.race([hook.handle(event), timeUp]);
    if (late !== undefined) return late;
    return checkAdditions(
      event.messages,
      (event.context.bootstrapFiles ?? []).filter((file) => !files.has(file)),
    );
  } finally {
    clearTimeout(timer);
  }
}

function inWords(error: unknown): string {
  return printableLine(redactText(errorMessage(error)), 300);
}
