/** All lanes of this process: one per session that has something to do. */
import type { HoldfastError } from "../../base/errors.ts";
import type { AgentParts } from "../turn.ts";
import type { PipelineStatus } from "../pipeline.ts";
import { type Lane, createLane } from "./lane.ts";
import type { LaneShared } from "./lane-parts.ts";
import { turnPutOff } from "./turn-errors.ts";

export interface Lanes {
  /** There is about to be something to do for the session; `serve` says when. */
  prepare(parts: AgentParts, key: string): void;
  /** There is something to do for the session. */
  serve(parts: AgentParts, key: string): void;
  /** Something changed: only those who are at the session already care. */
  nudge(agentId: string, key: string, what: "inbox" | "lease"): void;
  has(agentId: string, key: string): boolean;
  abort(key: string, reason: HoldfastError): boolean;
  /** Messages that wait for their turn. */
  readonly queued: number;
  running(): PipelineStatus["running"];
  /** Resolves when no turn runs any more, or when those that were aborted do not end. */
  drain(graceMs: number): Promise<void>;
}

/** How long an aborted turn may take to end. */
const ABORTED_MS = 10_000;

export function createLanes(shared: LaneShared): Lanes {
  const lanes = new Map<string, Lane>();
  let isDraining = false;

  const begin = (parts: AgentParts, key: string): void => {
    const name = nameOf(parts.agent.agentId, key);
    if (isDraining || lanes.has(name)) return;
    const onEnd = (): void => {
      lanes.delete(name);
      shared.onOthersDone(parts, key);
    };
    lanes.set(name, createLane({ shared, parts, key, onEnd }));
  };

  return {
    // Whoever has to wait for a slot looks first, and would find nothing yet.
    prepare: (parts, key) => {
      if (!shared.slots.isContended()) begin(parts, key);
    },
    serve: (parts, key) => {
      const known = lanes.get(nameOf(parts.agent.agentId, key));
      if (known === undefined) begin(parts, key);
      else if (!isDraining) known.wake();
    },
    nudge: (agentId, key, what) => lanes.get(nameOf(agentId, key))?.nudge(what),
    has: (agentId, key) => lanes.has(nameOf(agentId, key)),
    abort: (key, reason) => [...lanes.values()].filter((lane) => lane.key === key && lane.abort(reason)).length > 0,
    get queued() {
      let sum = 0;
      for (const { waiting } of lanes.values()) sum += waiting;
      return sum;
    },
    running: () =>
      [...lanes.values()].flatMap(({ parts, key, running }) =>
        running === undefined ? [] : [{ agentId: parts.agent.agentId, sessionKey: key, ...running }],
      ),
    drain: async (graceMs) => {
      isDraining = true;
      const all = [...lanes.values()];
      for (const lane of all) lane.drain();
      const ended = Promise.all(all.map((lane) => lane.ended));
      if (await within(ended, graceMs)) return;
      for (const lane of all) lane.abort(turnPutOff());
      if (await within(ended, ABORTED_MS)) return;
      // Their items stay running under leases that end with this process: the next one goes on with them.
      shared.logger.error("Turns did not end although they were aborted", { sessions: [...lanes.keys()] });
    },
  };
}

/** The key `global` is every agent's. */
function nameOf(agentId: string, key: string): string {
  return `${agentId} ${key}`;
}

async function within(done: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  try {
    return await Promise.race([done.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
