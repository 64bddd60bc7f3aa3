/** Hand-offs in the sidecar. A state is kept and handed out as JSON would have it, never as the object given. */
import type { Clock } from "../../base/clock.ts";
import { checkListQuery } from "../entry-facets.ts";
import { handoffToJson } from "../handoff-state.ts";
import type { Handoffs, KeptHandoff, Window } from "../store.ts";
import { windowsOf } from "./session-windows.ts";
import type { StoreAccess } from "./store-access.ts";

export function createHandoffs(access: StoreAccess, clock: Clock): Handoffs {
  return {
    async get(sessionKey) {
      const key = access.ownKey(sessionKey);
      return copyState(access.read().sidecar.handoffs[key]?.state);
    },
    async list({ limit } = {}) {
      checkListQuery(limit === undefined ? {} : { limit });
      const own = Object.entries(access.read().sidecar.handoffs).filter(([key]) => access.owns(key));
      // Of the same instant the one that was changed later stands last, and sorting keeps that order.
      const newest = own.toReversed().toSorted(([, a], [, b]) => b.updatedAt - a.updatedAt);
      return newest
        .slice(0, limit)
        .map(([key, { updatedAt, state }]): KeptHandoff => ({ key, updatedAt, state: copyState(state) }));
    },
    async update(sessionKey, mutate, { ofWindow } = {}) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ entries, sidecar }) => {
        const before = sidecar.handoffs[key]?.state;
        const isThere = ({ sessionId }: Window): boolean => sessionId === ofWindow;
        const isGone = ofWindow !== undefined && !windowsOf(key, entries, sidecar).some(isThere);
        const returned = isGone ? undefined : mutate(copyState(before));
        if (returned === undefined) return copyState(before);
        const json = handoffToJson(returned);
        delete sidecar.handoffs[key];
        sidecar.handoffs[key] = { updatedAt: clock.now(), state: JSON.parse(json) };
        return JSON.parse(json) as unknown;
      });
    },
    async delete(sessionKey) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ sidecar }) => {
        const isThere = sidecar.handoffs[key] !== undefined;
        delete sidecar.handoffs[key];
        return isThere;
      });
    },
  };
}

/** Through text: the numbers that the file keeps digit by digit become numbers again. */
function copyState(state: unknown): unknown {
  return state === undefined ? undefined : JSON.parse(JSON.stringify(state));
}
