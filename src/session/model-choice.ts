/**
 * Resolves model names that people write: after `/new`, where only configured names count, so that ordinary text
 * is never taken for one; and in `/model`, which accepts any `provider/model` of a known provider.
 */
import { HoldfastError, hasCode } from "../base/errors.ts";
import type { HoldfastConfig, ModelConfig } from "../config/config.ts";
import type { MessageContext } from "../keys/message-context.ts";
import { resolveProvider } from "../models/provider-access.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { AgentHandle } from "./agent-handle.ts";
import { closestMatch } from "../base/text.ts";
import { type ModelName, resolveModelName } from "../models/model-info.ts";
import type { Lease } from "../store/queues.ts";

interface ModelChoiceOptions extends Pick<HoldfastConfig, "models" | "providers"> {
  /** `provider/model`. */
  defaultModel: string | undefined;
  /** The provider of a bare name. Undefined: only well-known names may be bare. */
  bareNamesOf?: string | undefined;
}

/** A model that is not listed may not exist. Throws with kind `usage` if its provider is unknown or the name is wrong. */
export function chooseModel(wanted: string, options: ModelChoiceOptions) {
  const text = wanted.trim();
  if (text.length > MAX_NAME) throw unknownModel(`${text.slice(0, 20)}…`, options);
  const listed = resolveModelHint(text, options.models, options.defaultModel);
  // Unlike /new, no message follows the name.
  if (listed !== undefined && listed.cleanedBody.trim() === "") return { ...listed.selection, isListed: true };

  const { provider, model } = nameOf(text, options);
  assertProvider(provider, options);
  const isDefault = options.defaultModel?.toLowerCase() === `${provider}/${model}`.toLowerCase();
  return { provider, model, isDefault, isListed: false };
}

/** Longer texts are not names, and comparing them would be slow. */
const MAX_NAME = 200;

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
    // A missing key is reported by the engine, which knows the environment.
    resolveProvider(provider, providers, {});
  } catch (error) {
    if (hasCode(error, "model-provider-unknown")) throw error;
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

export interface ModelSelection {
  provider: string;
  model: string;
  isDefault: boolean;
  alias?: string | undefined;
}

export async function applyResetModelOverride(params: {
  agent: AgentHandle;
  sessionKey: string;
  /** Known models by `provider/model`. */
  models: Readonly<Record<string, ModelConfig>>;
  /** `provider/model`; choosing it clears the override. */
  defaultModel: string | undefined;
  resetTriggered: boolean;
  bodyStripped?: string | undefined;
  /** Receives the cleaned text in `BodyStripped` and `BodyForCommands`. */
  sessionCtx?: MessageContext | undefined;
  lease?: Lease | undefined;
}) {
  if (!params.resetTriggered || !params.bodyStripped) return {};
  const hint = resolveModelHint(params.bodyStripped, params.models, params.defaultModel);
  if (hint === undefined) return {};

  const { selection, cleanedBody } = hint;
  if (params.sessionCtx !== undefined) {
    params.sessionCtx.BodyStripped = cleanedBody;
    params.sessionCtx.BodyForCommands = cleanedBody;
  }
  const sessionEntry = await params.agent.store.update(
    params.sessionKey,
    (entry) => (entry === undefined ? undefined : withModel(entry, selection, params.agent.clock.now())),
    { lease: params.lease },
  );
  return { selection, cleanedBody, sessionEntry };
}

/** The configured model named by the first one or two words, and the rest of the text. */
function resolveModelHint(
  text: string,
  models: Readonly<Record<string, ModelConfig>>,
  defaultModel: string | undefined,
): { selection: ModelSelection; cleanedBody: string } | undefined {
  const known = Object.entries(models).map(([id, { alias }]) => ({ ...splitModelId(id), alias }));
  const [first = "", second = ""] = text.trim().split(/\s+/, 2);
  const inProvider = known.filter(({ provider }) => same(provider, first));

  const named =
    known.find(({ alias }) => alias !== undefined && same(alias, first)) ??
    known.find(({ provider, model }) => same(`${provider}/${model}`, first) || same(model, first));
  const ofProvider = inProvider.find(
    ({ model, alias }) => second !== "" && (same(model, second) || same(alias, second)),
  );
  const chosen = named ?? ofProvider ?? inProvider[0];
  if (chosen === undefined) return undefined;

  const words = named === undefined && ofProvider !== undefined ? 2 : 1;
  const cleanedBody = text.trim().replace(new RegExp(`^(?:\\S+\\s*){${words}}`), "");
  const isDefault = defaultModel !== undefined && same(defaultModel, `${chosen.provider}/${chosen.model}`);
  const usedAlias = named?.alias !== undefined && same(named.alias, first) ? { alias: named.alias } : {};
  return { selection: { provider: chosen.provider, model: chosen.model, isDefault, ...usedAlias }, cleanedBody };
}

function withModel(entry: SessionEntry, selection: ModelSelection, now: number): SessionEntry {
  const { providerOverride: _provider, modelOverride: _model, ...rest } = entry;
  if (selection.isDefault) return { ...rest, updatedAt: now };
  return { ...rest, providerOverride: selection.provider, modelOverride: selection.model, updatedAt: now };
}

function splitModelId(id: string): { provider: string; model: string } {
  const slash = id.indexOf("/");
  return { provider: id.slice(0, Math.max(0, slash)), model: id.slice(slash + 1) };
}

function same(a: string | undefined, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}
