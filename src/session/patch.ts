/** What people and programs may set on a session by hand. */
import { HoldfastError } from "../base/errors.ts";
import { closestMatch } from "../base/suggest.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";
import { parseSessionLabel } from "./label.ts";
import { assertExpected, sessionNotFound } from "./window.ts";

/** Fields that describe the person's wishes. The rest is bookkeeping that patching would corrupt. */
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

type PatchableField = (typeof PATCHABLE_FIELDS)[number];

/** `null` takes a field away. */
export type SessionPatch = { [Field in PatchableField]?: SessionEntry[Field] | null };

/** Whether it says what is worked on, or takes that away. */
export function changesProject(patch: SessionPatch): boolean {
  return patch.project !== undefined || patch.projectFolder !== undefined;
}

export async function patchSession(
  agent: AgentHandle,
  key: string,
  patch: SessionPatch,
  options: { expectedSessionId?: string; lease?: Lease } = {},
): Promise<SessionEntry> {
  const checked = checkPatch(patch);
  const updated = await agent.store.update(
    key,
    (entry) => {
      if (entry === undefined) return undefined;
      assertExpected(key, entry, options.expectedSessionId);
      return applyPatch(entry, checked, agent.clock.now());
    },
    options.lease === undefined ? {} : { lease: options.lease },
  );
  if (updated === undefined) throw sessionNotFound(key);
  return updated;
}

function checkPatch(patch: SessionPatch): SessionPatch {
  const unknown = Object.keys(patch).find((field) => !(PATCHABLE_FIELDS as readonly string[]).includes(field));
  if (unknown !== undefined) {
    const suggestion = closestMatch(unknown, PATCHABLE_FIELDS);
    throw new HoldfastError("usage", "unknown-field", `A session has no field "${unknown}" that can be set`, {
      hint: suggestion === undefined ? `Known fields: ${PATCHABLE_FIELDS.join(", ")}` : `Did you mean "${suggestion}"?`,
      data: { field: unknown },
    });
  }
  if (patch.label === undefined || patch.label === null) return patch;
  const label = parseSessionLabel(patch.label);
  if (!label.ok) {
    throw new HoldfastError("usage", "invalid-label", label.error, {
      hint: "A label is text of 1 to 64 characters; null takes it away.",
    });
  }
  return { ...patch, label: label.label };
}

function applyPatch(entry: SessionEntry, patch: SessionPatch, now: number): SessionEntry {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  const next: SessionEntry = { ...entry, ...Object.fromEntries(changes), updatedAt: now };
  for (const [field, value] of changes) if (value === null) delete next[field as PatchableField];
  return next;
}
