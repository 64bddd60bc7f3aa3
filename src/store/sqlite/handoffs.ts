/** Hand-offs: what sessions leave for the next, kept as JSON text and handed out as copies. */
import type { Clock } from "../../base/clock.ts";
import { checkListQuery } from "../entry-facets.ts";
import { handoffFromJson, handoffToJson } from "../handoff-state.ts";
import type { HandoffUpdateOptions, Handoffs } from "../store.ts";
import type { Gate } from "./gate.ts";
import { readHandoff } from "./handoff-rows.ts";
import type { Prepared, ReadModifyWrite, ReadModifyWriteParts } from "./read-modify-write.ts";
import { hasWindow } from "./window-rows.ts";

export interface HandoffParts extends ReadModifyWriteParts {
  gate: Gate;
  clock: Clock;
}

export function createHandoffs({ gate, clock, ...parts }: HandoffParts): Handoffs {
  const { database, executor } = parts;
  // Loaded with the first update: a command that only reads does without it.
  let change: Promise<ReadModifyWrite<"putHandoff">> | undefined;
  const openChange = async () => {
    const { createReadModifyWrite } = await import("./read-modify-write.ts");
    return createReadModifyWrite("putHandoff", parts);
  };
  const prepare = (
    key: string,
    mutate: (state: unknown) => unknown,
    { ofWindow }: HandoffUpdateOptions,
  ): Prepared<"putHandoff", unknown> => {
    const before = readHandoff(database, key);
    const isGone = ofWindow !== undefined && !hasWindow(database, key, ofWindow);
    const returned = isGone ? undefined : mutate(before && handoffFromJson(before.state));
    if (returned === undefined) return { value: before && handoffFromJson(before.state), put: undefined };
    const state = handoffToJson(returned);
    return {
      value: JSON.parse(state),
      put: { key, expectedVersion: before?.version, state, ofWindow, now: clock.now() },
    };
  };

  return {
    get: (key) =>
      gate.withKey(key, (own) => {
        const stored = readHandoff(database, own);
        return stored && handoffFromJson(stored.state);
      }),
    list: ({ limit } = {}) =>
      gate.run(async () => {
        checkListQuery(limit === undefined ? {} : { limit });
        return await executor.listHandoffs(limit);
      }),
    update: (key, mutate, choice = {}) =>
      gate.withKey(
        key,
        async (own) => await (await (change ??= openChange()))(own, () => prepare(own, mutate, choice)),
      ),
    delete: (key) => gate.withKey(key, async (own) => await executor.write("deleteHandoff", { key: own })),
  };
}
