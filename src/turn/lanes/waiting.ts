/**
 * What lanes wait for: a slot to run a turn in, and a bell that wakes them.
 *
 * Slots limit how many turns run at the same time, in total and per agent. Within an agent, slots are
 * granted in the order of the requests. Between agents, the one with the fewest running turns goes first,
 * so that a busy agent delays another by one turn at most.
 *
 * A turn that runs alone keeps its place in the line. Once it is first, no other turn starts: the running
 * ones end, it runs, and the line continues. Of several such turns, the one with the fewest deaths goes first.
 */
export type Slots = ReturnType<typeof createSlots>;
export type SlotTicket = ReturnType<Slots["request"]>;

export function createSlots({ total, perAgent }: { total: number; perAgent: (agentId: string) => number }) {
  const running = new Map<string, number>();
  const lines = new Map<string, Set<Waiting>>();
  let used = 0;
  let isOneAlone = false;
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
      if (used >= total || isOneAlone) return;
      const first = firstOf(lines, (agentId) =>
        runningOf(agentId) < perAgent(agentId) ? runningOf(agentId) : undefined,
      );
      if (first === undefined || (first.alone !== undefined && used > 0)) return;
      isOneAlone = first.alone !== undefined;
      leave(lines, first);
      count(first.agentId, 1);
      first.grant();
    }
  };

  return {
    /** Granted at once if a slot is free. With `alone`, only while no other turn runs. */
    request: (agentId: string, alone?: { deaths: number }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let state: "waiting" | "granted" | "released" = "waiting";
      const waiting: Waiting = {
        agentId,
        number: next++,
        alone,
        grant: () => {
          state = "granted";
          resolve();
        },
      };
      const line = lines.get(agentId) ?? new Set();
      lines.set(agentId, line.add(waiting));
      grantAll();
      return {
        isAlone: alone !== undefined,
        get isGranted(): boolean {
          return state === "granted";
        },
        granted: promise,
        release: (): void => {
          if (state === "waiting") leave(lines, waiting);
          if (state === "granted") {
            count(agentId, -1);
            if (alone !== undefined) isOneAlone = false;
          }
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
  alone: { deaths: number } | undefined;
  grant(): void;
}

/** Of the heads of all lines: the one whose agent has the lowest load, then the oldest request. */
function firstOf(lines: ReadonlyMap<string, ReadonlySet<Waiting>>, loadOf: (agentId: string) => number | undefined) {
  let best: { waiting: Waiting; load: number } | undefined;
  for (const [agentId, line] of lines) {
    const load = loadOf(agentId);
    const head = headOf(line);
    if (head === undefined || load === undefined) continue;
    const isBetter =
      best === undefined || load < best.load || (load === best.load && head.number < best.waiting.number);
    if (isBetter) best = { waiting: head, load };
  }
  return best?.waiting;
}

function headOf(line: ReadonlySet<Waiting>): Waiting | undefined {
  const [head] = line;
  if (head?.alone === undefined) return head;
  const alone = [...line].filter((waiting) => waiting.alone !== undefined);
  return alone.reduce((best, one) => ((one.alone?.deaths ?? 0) < (best.alone?.deaths ?? 0) ? one : best));
}

function leave(lines: Map<string, Set<Waiting>>, waiting: Waiting): void {
  const line = lines.get(waiting.agentId);
  line?.delete(waiting);
  if (line?.size === 0) lines.delete(waiting.agentId);
}

/** Wakes one waiter. A ring without a waiter counts for the next wait. */
export class Bell {
  /** Since the last `reset`. */
  hasRung = false;
  private wakeUp: (() => void) | undefined;

  ring(): void {
    this.hasRung = true;
    this.wakeUp?.();
  }

  reset(): void {
    this.hasRung = false;
  }

  /** Resolves at a ring, after the time, or when the promise settles, whichever comes first. */
  async wait({ ms, until }: Wait): Promise<void> {
    if (this.hasRung) return;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.wakeUp = () => resolve(undefined);
    const timer = ms === undefined ? undefined : setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
    void until?.then(resolve, resolve);
    await promise;
    clearTimeout(timer);
    this.wakeUp = undefined;
  }
}

export interface Wait {
  ms?: number | undefined;
  until?: Promise<unknown> | undefined;
}

/** Longer timers overflow in Node. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
