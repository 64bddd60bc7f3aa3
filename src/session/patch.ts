/** The fields of a session that people and programs may set. */
import { HoldfastError } from "../base/errors.ts";
import { QUEUE_MODES, THINKING_LEVELS, VERBOSE_LEVELS } from "../config/choices.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { AgentHandle } from "./agent-handle.ts";
import { assertExpected, sessionNotFound } from "./window.ts";
import { closestMatch } from "../base/text.ts";
import type { Lease } from "../store/queues.ts";

/** The person's settings. All other fields are bookkeeping. */
const PATCHABLE_FIELDS = [
  "label",
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "responseUsage",
  "ttsAuto",
  "sendPolicy",
  "groupActivation",
  "providerOverride",
  "modelOverride",
  "authProfileOverride",
  "execHost",
  "execSecurity",
  "execAsk",
  "execNode",
  "queueMode",
  "queueDebounceMs",
  "queueCap",
  "queueDrop",
  "displayName",
  "subject",
  "project",
  "projectFolder",
  "handoff",
] as const satisfies readonly (keyof SessionEntry)[];

/** An entry may have other values, from another program. A person who sets one would wait for an effect in vain. */
const CHOICES: Partial<Record<PatchableField, readonly string[]>> = {
  thinkingLevel: THINKING_LEVELS,
  verboseLevel: VERBOSE_LEVELS,
  queueMode: QUEUE_MODES,
};

/** Settings of OpenClaw features that Holdfast does not have. They are kept, so that OpenClaw finds them again. */
const KEPT_FIELDS: readonly string[] = [
  "elevatedLevel",
  "ttsAuto",
  "authProfileOverride",
  "execHost",
  "execSecurity",
  "execAsk",
  "execNode",
] satisfies PatchableField[];

/** Sentences about settings in the patch that change nothing here. */
export function patchNotes(patch: SessionPatch): string[] {
  return Object.keys(patch)
    .filter((field) => KEPT_FIELDS.includes(field))
    .map((field) => `${field} is kept for OpenClaw and has no effect in Holdfast.`);
}

type PatchableField = (typeof PATCHABLE_FIELDS)[number];

/** `null` removes a field. */
export type SessionPatch = { [Field in PatchableField]?: SessionEntry[Field] | null };

export function changesProject(patch: SessionPatch): boolean {
  return patch.project !== undefined || patch.projectFolder !== undefined;
}

export async function patchSession(
  agent: AgentHandle,
  key: string,
  patch: SessionPatch,
  options: { expectedSessionId?: string | undefined; lease?: Lease | undefined } = {},
): Promise<SessionEntry> {
  const checked = checkPatch(patch);
  let before: SessionEntry | undefined;
  const updated = await agent.store.update(
    key,
    (entry) => {
      if (entry === undefined) return undefined;
      assertExpected(key, entry, options.expectedSessionId);
      before = entry;
      return applyPatch(entry, checked, agent.clock.now());
    },
    { lease: options.lease },
  );
  if (updated === undefined) throw sessionNotFound(key);
  if (before !== undefined) await tellModel(agent, key, before, updated);
  return updated;
}

/** The agent may otherwise be surprised by what it said as another model. */
async function tellModel(agent: AgentHandle, key: string, before: SessionEntry, after: SessionEntry): Promise<void> {
  const { providerOverride, modelOverride } = after;
  if (before.modelOverride === modelOverride && before.providerOverride === providerOverride) return;
  const name = [providerOverride, modelOverride].filter((part) => part !== undefined).join("/");
  const text = name === "" ? "The model was switched back to the default." : `The model was switched to ${name}.`;
  await agent.store.systemEvents.enqueueSystemEvent(key, text);
}

function checkPatch(patch: SessionPatch): SessionPatch {
  const unknown = Object.keys(patch).find((field) => !(PATCHABLE_FIELDS as readonly string[]).includes(field));
  if (unknown !== undefined) {
    const suggestion = closestMatch(unknown, PATCHABLE_FIELDS);
    throw new HoldfastError("usage", "unknown-field", `A session has no settable field "${unknown}"`, {
      hint: suggestion === undefined ? `Known fields: ${PATCHABLE_FIELDS.join(", ")}` : `Did you mean "${suggestion}"?`,
      data: { field: unknown },
    });
  }
  for (const [field, choices] of Object.entries(CHOICES)) checkChoice(field, choices, patch[field as PatchableField]);
  if (patch.label === undefined || patch.label === null) return patch;
  const label = parseSessionLabel(patch.label);
  if (!label.ok) {
    throw new HoldfastError("usage", "invalid-label", label.error, {
      hint: "A label has 1 to 64 characters; null removes it.",
    });
  }
  return { ...patch, label: label.label };
}

function checkChoice(field: string, choices: readonly string[], value: unknown): void {
  if (value === undefined || value === null) return;
  if (typeof value === "string" && choices.includes(value)) return;
  throw new HoldfastError("usage", "invalid-value", `${field} cannot be ${JSON.stringify(value)}`, {
    hint: `Give one of ${choices.join(", ")}. Nothing was changed.`,
    data: { field },
  });
}

function applyPatch(entry: SessionEntry, patch: SessionPatch, now: number): SessionEntry {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  const next: SessionEntry = { ...entry, ...Object.fromEntries(changes), updatedAt: now };
  for (const [field, value] of changes) if (value === null) delete next[field as PatchableField];
  // The next turn tells the agent.
  if (next.groupActivation !== entry.groupActivation) next.groupActivationNeedsSystemIntro = true;
  return next;
}

const SESSION_LABEL_MAX_LENGTH = 64;

type ParsedSessionLabel = { ok: true; label: string } | { ok: false; error: string };

export function parseSessionLabel(raw: unknown): ParsedSessionLabel {
  if (typeof raw !== "string") return { ok: false, error: "invalid label: must be a string" };
  const label = raw.trim();
  if (label === "") return { ok: false, error: "invalid label: empty" };
  if (label.length > SESSION_LABEL_MAX_LENGTH) {
    return { ok: false, error: `invalid label: too long (max ${SESSION_LABEL_MAX_LENGTH})` };
  }
  return { ok: true, label };
}
