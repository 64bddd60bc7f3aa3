/**
 * How many turns run at the same time, over all agents and for each. Who asks first goes first within an
 * agent; between agents the one with the fewest running turns goes first, so that a busy agent never keeps
 * another one waiting for more than one turn.
 */
export interface Slots {
  /** Granted at once where there is room. */
  request(agentId: string): SlotTicket;
  /** Whether anybody would get a slot that is given back now. */
  isContended(): boolean;
}

export interface SlotTicket {
  readonly isGranted: boolean;
  readonly granted: Promise<void>;
  /** Gives the slot back, or leaves the line. */
  release(): void;
}

export interface SlotLimits {
  total: number;
  perAgent: (agentId: string) => number;
}

export function createSlots({ total, perAgent }: SlotLimits): Slots {
  const running = new Map<string, number>();
  const lines = new Map<string, Set<Waiting>>();
  let used = 0;
  let next = 0;

  const runningOf = (agentId: string): number => running.get(agentId) ?? 0;
  const count = (agentId: string, by: 1 | -1): void => {
    used += by;
    const left = runningOf(agentId) + by;
    if (left === 0) running.delete(agentId);
    else running.set(agentId, left);
  };
  const grantAll = (): void => {
    for (;;) {
      if (used >= total) return;
      const first = firstOf(lines, (agentId) =>
        runningOf(agentId) < perAgent(agentId) ? runningOf(agentId) : undefined,
      );
      if (first === undefined) return;
      leave(lines, first);
      count(first.agentId, 1);
      first.grant();
    }
  };

  return {
    request: (agentId) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let state: "waiting" | "granted" | "released" = "waiting";
      const waiting: Waiting = {
        agentId,
        number: next++,
        grant: () => {
          state = "granted";
          resolve();
        },
      };
      const line = lines.get(agentId) ?? new Set();
      lines.set(agentId, line.add(waiting));
      grantAll();
      return {
        get isGranted() {
          return state === "granted";
        },
        granted: promise,
        release: () => {
          if (state === "waiting") leave(lines, waiting);
          if (state === "granted") count(agentId, -1);
          state = "released";
          grantAll();
        },
      };
    },
    isContended: () => lines.size > 0,
  };
}

interface Waiting {
  agentId: string;
  number: number;
  grant(): void;
}

/** The one at the head of its line whose agent has the lowest load, then the one that came first. */
function firstOf(
  lines: ReadonlyMap<string, ReadonlySet<Waiting>>,
  loadOf: (agentId: string) => number | undefined,
): Waiting | undefined {
  let best: { waiting: Waiting; load: number } | undefined;
  for (const [agentId, [head]] of lines) {
    const load = loadOf(agentId);
    if (head === undefined || load === undefined) continue;
    const isBetter =
      best === undefined || load < best.load || (load === best.load && head.number < best.waiting.number);
    if (isBetter) best = { waiting: head, load };
  }
  return best?.waiting;
}

function leave(lines: Map<string, Set<Waiting>>, waiting: Waiting): void {
  const line = lines.get(waiting.agentId);
  line?.delete(waiting);
  if (line?.size === 0) lines.delete(waiting.agentId);
}
