/**
 * `/model …`: the model that a person asks for by name. Names of the configuration count first, as they do
 * behind `/new`; any other `provider/model` is taken when the provider can be reached at all.
 */
import { HoldfastError } from "../base/errors.ts";
import { closestMatch } from "../base/suggest.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type ModelName, resolveModelName } from "../models/model-name.ts";
import { resolveProvider } from "../models/provider-access.ts";
import { type ModelSelection, resolveModelHint } from "./model-hint.ts";

export interface ModelChoice extends ModelSelection {
  /** False: the configuration does not list it, so nobody knows whether it exists. */
  isListed: boolean;
}

export interface ModelChoiceOptions extends Pick<HoldfastConfig, "models" | "providers"> {
  /** `provider/model`. */
  defaultModel: string | undefined;
  /** Whose model a bare name is. Left out: only well-known names can stand alone. */
  bareNamesOf?: string;
}

/** Refused with kind `usage` when the text names no model. */
export function chooseModel(wanted: string, options: ModelChoiceOptions): ModelChoice {
  const text = wanted.trim();
  if (text.length > LONGEST_NAME) throw unknownModel(`${text.slice(0, 20)}…`, options);
  const listed = resolveModelHint(text, options.models, options.defaultModel);
  // Behind /new a message may follow; here every word belongs to the name.
  if (listed !== undefined && listed.cleanedBody.trim() === "") return { ...listed.selection, isListed: true };

  const { provider, model } = nameOf(text, options);
  assertProvider(provider, options);
  const isDefault = options.defaultModel?.toLowerCase() === `${provider}/${model}`.toLowerCase();
  return { provider, model, isDefault, isListed: false };
}

/** Anything longer is no name, and comparing it with all names would take its time. */
const LONGEST_NAME = 200;

function nameOf(text: string, options: ModelChoiceOptions): ModelName {
  try {
    return resolveModelName(text, options.models);
  } catch (error) {
    const isBareName = /^[\w.:[\]-]{1,100}$/.test(text);
    if (options.bareNamesOf !== undefined && isBareName) return { provider: options.bareNamesOf, model: text };
    throw unknownModel(text, options, error);
  }
}

function assertProvider(provider: string, { providers }: ModelChoiceOptions): void {
  try {
    // Whether there is a key is for the engine to say, which knows the environment.
    resolveProvider(provider, providers, {});
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "model-provider-unknown") throw error;
  }
}

function unknownModel(text: string, { models }: ModelChoiceOptions, cause?: unknown): HoldfastError {
  const names = Object.entries(models).flatMap(([id, { alias }]) => [
    ...(alias === undefined ? [] : [alias]),
    id,
    id.slice(id.indexOf("/") + 1),
  ]);
  const near = closestMatch(text, names);
  return new HoldfastError("usage", "model-unknown", `No model is called "${text}".`, {
    hint: near === undefined ? "Write provider/model, or a name that /model shows." : `Did you mean ${near}?`,
    data: { model: text },
    cause,
  });
}
