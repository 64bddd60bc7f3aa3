/** An engine that asks a language model over the AI SDK and runs the agent's own tools. */
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ModelConfig, ProviderConfig } from "../../config/config.ts";
import type { Environment } from "../../config/layout.ts";
import { resolveContextWindow } from "../../models/context-window.ts";
import { resolveModelName } from "../../models/model-name.ts";
import { resolveModelPrice } from "../../models/prices.ts";
import { resolveProvider } from "../../models/provider-access.ts";
import type { Engine, EngineEvent, EngineTurn } from "../engine.ts";
import type { ToolTable } from "../tools/agent-tool.ts";
import type { ModelLine } from "./ask-model.ts";
import { DEFAULT_PATIENCE, type PatienceLimits } from "./patience.ts";
import { type Steering, createSteering } from "./steering.ts";
import { summarize } from "./summarize.ts";
import { runToolLoop } from "./tool-loop.ts";

export interface ModelEngineOptions {
  providers: Readonly<Record<string, ProviderConfig>>;
  models: Readonly<Record<string, ModelConfig>>;
  /** Where keys are taken from. */
  env: Environment;
  logger: Logger;
  clock: Clock;
  tools: ToolTable;
  /** How long a silent model is waited for. Left out: a minute. */
  limits?: PatienceLimits;
  /** Left out: the global one. */
  fetch?: typeof globalThis.fetch;
}

export function createModelEngine(options: ModelEngineOptions): Engine {
  const running = new Map<string, Steering>();
  return {
    name: "model",
    keepsConversation: false,
    run: (turn, signal) => run(options, running, turn, signal),
    summarize: async (request, signal) => {
      const line = openLine(options, request.model);
      return await summarize(line, request, resolveContextWindow(request.model, options.models).tokens, signal);
    },
    steer: async (sessionKey, text, mark) => {
      return (await running.get(sessionKey)?.offer({ text, ...(mark === undefined ? {} : { mark }) })) ?? false;
    },
    close: async () => {
      for (const steering of running.values()) steering.close();
      await Promise.resolve();
    },
  };
}

async function* run(
  options: ModelEngineOptions,
  running: Map<string, Steering>,
  turn: EngineTurn,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  if (signal.aborted) return;
  const line = openLine(options, turn.model);
  const price = resolveModelPrice(line.name, options.models);
  const steering = createSteering();
  // What the agent does to save its memory is shown to nobody; a person's message must not end up there.
  if (turn.kind === "flush") steering.close();
  else running.set(turn.sessionKey, steering);
  try {
    yield* runToolLoop({ line, price, steering, tools: options.tools }, turn, signal);
  } finally {
    steering.close();
    if (running.get(turn.sessionKey) === steering) running.delete(turn.sessionKey);
  }
}

function openLine(options: ModelEngineOptions, spec: string | undefined): ModelLine {
  if (spec === undefined || spec.trim() === "") throw missingModel();
  const name = resolveModelName(spec, options.models);
  return {
    name,
    access: resolveProvider(name.provider, options.providers, options.env),
    logger: options.logger,
    clock: options.clock,
    limits: options.limits ?? DEFAULT_PATIENCE,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  };
}

function missingModel(): HoldfastError {
  return new HoldfastError("usage", "model-missing", "No model is configured for this agent.", {
    hint:
      "Name one: `holdfast config set agents.main.model anthropic/claude-haiku-5-5` (with the agent's id for main), " +
      "and set the provider's key in the environment; for this conversation alone, /model.",
  });
}
