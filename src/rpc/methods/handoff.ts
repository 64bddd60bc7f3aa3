/**
 * Hand-offs. Every request is about one session of one agent: a key of another agent is refused, and only the
 * hand-off of that session is shown. Changes emit `handoff.changed`.
 */
import { HoldfastError } from "../../base/errors.ts";
import { type FoundHandoff, type HandoffPlace, findNativeHandoff, nativeIdOf } from "../../handoff/find-handoff.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import { type HandoffView, handoffView } from "../../handoff/handoff-view.ts";
import { renderMarkdown } from "../../handoff/render.ts";
import type { SessionState } from "../../handoff/state.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { sessionNotFound } from "../../session/window.ts";
import type { CheckedParamsOf } from "../contract.ts";
import type { handoffMethods } from "../contract/handoff.ts";
import type { HandlersOf, RpcParts } from "../rpc-parts.ts";
import { openTarget } from "./target.ts";
import type { AgentParts } from "../../turn/pipeline.ts";

type Named = CheckedParamsOf<"handoff.capture">;

export const handoffHandlers: HandlersOf<keyof typeof handoffMethods> = {
  "handoff.status": async ({ verify, ...named }, { parts }) => {
    const opened = await openNamed(parts, named);
    const { handoff } = opened;
    if (handoff === undefined) return { enabled: false, isOff: false };
    const key = await keyToShow(parts, { ...opened, handoff }, named);
    const state = key === undefined ? undefined : await handoff.get(key);
    const isOff = key !== undefined && (await opened.agent.store.get(key))?.handoff === "off";
    const known = { enabled: true, isOff, sessionKey: key };
    if (state === undefined) return known;
    const remarks = verify ? await handoff.verify(state) : new Map<never, never>();
    const shown = handoffView(state, parts.clock.now(), remarks);
    return {
      ...known,
      handoff: isOff ? { ...shown, willBeOffered: false } : shown,
      markdown: renderMarkdown(state, remarks),
    };
  },

  "handoff.list": async ({ agentId, project, limit }, { parts }) => {
    const ids = agentId === undefined ? await parts.agents.list() : [normalizeAgentId(agentId)];
    const found: HandoffView[] = [];
    for (const id of ids) {
      const { handoff } = await parts.agents.open(id);
      const states = (await handoff?.list({ cleared: true })) ?? [];
      found.push(...states.map((state) => handoffView(state, parts.clock.now())));
    }
    const fitting = found
      .filter((view) => project === undefined || view.project === project)
      .toSorted((a, b) => b.capturedAt - a.capturedAt);
    const handoffs = fitting.slice(0, limit);
    return { count: handoffs.length, total: fitting.length, handoffs };
  },

  "handoff.capture": async (named, { parts }) => {
    const { handoff, key, target } = await requireNamed(parts, named);
    const state = target === undefined ? undefined : await handoff.capture(target, "asked");
    return { ok: true, sessionKey: key, captured: state !== undefined, ...viewOf(parts, state) };
  },

  "handoff.clear": async (named, { parts }) => {
    const { handoff, key } = await requireNamed(parts, named);
    const before = await handoff.get(key);
    const cleared = await handoff.clear(key);
    return { ok: true, sessionKey: key, cleared, ...viewOf(parts, cleared ? before : undefined) };
  },

  "handoff.resume": async ({ name, ...named }, { parts }) => {
    const { handoff, key, target } = await requireNamed(parts, named);
    // A session of Claude Code may not have been captured yet.
    if (target?.kind === "native") await handoff.capture(target, "found");
    const answer = await handoff.resume(key, name);
    if (answer.kind === "none") return { ok: true, sessionKey: key, outcome: "none" };
    const { kind: outcome, state } = answer;
    const asked = outcome === "ready" ? { ...state, forced: true } : state;
    return { ok: true, sessionKey: key, outcome, ...viewOf(parts, asked), markdown: renderMarkdown(state) };
  },
};

type Opened = AgentParts & { key?: string | undefined };

async function openNamed(parts: RpcParts, { sessionKey, nativeId, agentId }: Named): Promise<Opened> {
  if (sessionKey !== undefined && nativeId !== undefined) throw oneSession();
  if (sessionKey !== undefined) return await openTarget(parts, { key: sessionKey, agentId });
  return await parts.agents.open(normalizeAgentId(agentId ?? parts.config.defaultAgent));
}

async function keyToShow(parts: RpcParts, opened: Opened & { handoff: Handoff }, { nativeId }: Named) {
  if (nativeId !== undefined) return (await findNativeHandoff(placeOf(parts, opened), nativeId)).key;
  return opened.key ?? (await opened.handoff.list())[0]?.sessionKey;
}

async function requireNamed(parts: RpcParts, named: Named): Promise<FoundHandoff & { handoff: Handoff }> {
  const opened = await openNamed(parts, named);
  const { agent, handoff, key } = opened;
  const native = named.nativeId ?? (key === undefined ? undefined : nativeIdOf(agent, key));
  if (key === undefined && native === undefined) throw oneSession();
  if (handoff === undefined) {
    throw new HoldfastError("conflict", "handoff-off", "Hand-offs are turned off: handoff.enabled is false", {
      hint: "`holdfast config set handoff.enabled true` turns them on; `holdfast handoff clear` deletes a stored one.",
    });
  }
  if (key === undefined || native !== undefined) {
    return { handoff, ...(await findNativeHandoff(placeOf(parts, { agent, handoff }), native ?? "")) };
  }
  if ((await agent.store.get(key)) === undefined) throw sessionNotFound(key);
  return { handoff, key, target: { kind: "session", sessionKey: key } };
}

function placeOf(parts: RpcParts, { agent, handoff }: { agent: AgentParts["agent"]; handoff: Handoff }): HandoffPlace {
  const { agentId } = agent;
  if (agentId !== parts.config.defaultAgent) return { agent, handoff };
  return { agent, handoff, findNative: async (idOrPrefix) => await parts.claude(agentId).find(idOrPrefix) };
}

function viewOf(parts: RpcParts, state: SessionState | undefined): { handoff?: HandoffView | undefined } {
  return state === undefined ? {} : { handoff: handoffView(state, parts.clock.now()) };
}

function oneSession(): HoldfastError {
  return new HoldfastError("usage", "invalid-params", "Exactly one of sessionKey and nativeId is needed", {
    hint: "`handoff.list` lists sessions with a hand-off.",
  });
}
