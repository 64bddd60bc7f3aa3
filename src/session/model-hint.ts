/**
 * `/new minimax summarize this`: the first words of a reset may name a model. Only names that are
 * configured count, so that ordinary text is never mistaken for one.
 */
import type { MessageContext } from "../keys/message-context.ts";
import type { ModelConfig } from "../config/config.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";

export interface ModelSelection {
  provider: string;
  model: string;
  isDefault: boolean;
  alias?: string;
}

export interface ResetModelResult {
  selection?: ModelSelection;
  /** The text without the words that named the model. */
  cleanedBody?: string;
  sessionEntry?: SessionEntry;
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
  /** Its `BodyStripped` and `BodyForCommands` lose the hint too. */
  sessionCtx?: MessageContext;
  lease?: Lease;
}): Promise<ResetModelResult> {
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
    params.lease === undefined ? {} : { lease: params.lease },
  );
  return { selection, cleanedBody, ...(sessionEntry === undefined ? {} : { sessionEntry }) };
}

/** Which configured model the first one or two words name, and the text behind them. */
export function resolveModelHint(
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
