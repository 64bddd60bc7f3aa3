/** The engine that asks a language model through the AI SDK and runs the agent's tools. */
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ModelConfig, ProviderConfig } from "../../config/config.ts";
import type { Environment } from "../../config/layout.ts";
import { resolveProvider } from "../../models/provider-access.ts";
import type { Engine } from "../engine.ts";
import type { ToolTable } from "../tools/agent-tool.ts";
import { type ModelLine, DEFAULT_IDLE_LIMITS, type IdleLimits } from "./ask-model.ts";
import { summarize } from "./summarize.ts";
import { runToolLoop, type Steering, createSteering } from "./tool-loop.ts";
import { resolveContextWindow, resolveModelName, resolveModelPrice } from "../../models/model-info.ts";

export interface ModelEngineOptions {
  providers: Readonly<Record<string, ProviderConfig>>;
  models: Readonly<Record<string, ModelConfig>>;
  env: Environment;
  logger: Logger;
  clock: Clock;
  tools: ToolTable;
  /** How long to wait for a silent model. Default: 60 s. */
  limits?: IdleLimits | undefined;
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

export function createModelEngine(options: ModelEngineOptions): Engine {
  const running = new Map<string, Steering>();
  return {
    name: "model",
    keepsConversation: false,
    async *run(turn, signal) {
      if (signal.aborted) return;
      const line = openLine(options, turn.model);
      const price = resolveModelPrice(line.name, options.models);
      const steering = createSteering();
      // A flush is not shown to anyone, so it must not take a person's message.
      if (turn.kind === "flush") steering.close();
      else running.set(turn.sessionKey, steering);
      try {
        yield* runToolLoop({ line, price, steering, tools: options.tools }, turn, signal);
      } finally {
        steering.close();
        if (running.get(turn.sessionKey) === steering) running.delete(turn.sessionKey);
      }
    },
    summarize: async (request, signal) => {
      const line = openLine(options, request.model);
      return await summarize(line, request, resolveContextWindow(request.model, options.models).tokens, signal);
    },
    steer: async (sessionKey, text, mark) => (await running.get(sessionKey)?.offer({ text, mark })) ?? false,
    close: async () => running.forEach((steering) => steering.close()),
  };
}

function openLine(options: ModelEngineOptions, spec: string | undefined): ModelLine {
  if (spec === undefined || spec.trim() === "")
    throw new HoldfastError("usage", "model-missing", "No model is configured for this agent.", {
      hint:
        "Set one with `holdfast config set agents.main.model anthropic/claude-haiku-5-5` (replace main by the agent's id) " +
        "and put the provider's key into the environment. For this conversation only, use /model.",
    });
  const name = resolveModelName(spec, options.models);
  return {
    name,
    access: resolveProvider(name.provider, options.providers, options.env),
    logger: options.logger,
    clock: options.clock,
    limits: options.limits ?? DEFAULT_IDLE_LIMITS,
    fetch: options.fetch,
  };
}
