/** Waiting on behalf of a run: within its limits, and with word to the person about whom it waits for. */
import { HoldfastError } from "../../base/errors.ts";
import type { EventRelay } from "./event-relay.ts";
import { type RunRecord, readRuns } from "./live-runs.ts";
import type { Holder } from "./runner-contract.ts";
import type { LeaseWait } from "./session-lease.ts";

export interface Queue {
  locksFolder: string;
  relay: EventRelay;
  signal: AbortSignal;
  /** On the scale of `performance.now()`. */
  deadline: number;
}

const REPEAT_MS = 30_000;

/** Tells who has what `wait` waits for, when the wait begins and then every so often. */
export async function queueFor<T>(
  queue: Queue,
  reason: string,
  isHolder: (run: RunRecord) => boolean,
  wait: (limits: LeaseWait) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const tell = async (known: Holder): Promise<void> => {
    const holder = known.kind === "person" ? known : await describeHolder(queue.locksFolder, isHolder, known.pid);
    queue.relay.emit({ type: "queued", holder, waitedMs: Math.round(performance.now() - startedAt), reason });
  };
  const onBusy = (holder: Holder): void => {
    clearInterval(timer);
    timer = setInterval(() => void tell(holder), REPEAT_MS).unref();
    void tell(holder);
  };
  try {
    return await wait({ signal: queue.signal, timeoutMs: remaining(queue), onBusy });
  } finally {
    clearInterval(timer);
  }
}

/** What the record of a run says about whoever has a lock; at least its process. */
export async function describeHolder(
  locksFolder: string,
  isHolder: (run: RunRecord) => boolean,
  pid: number,
): Promise<Holder> {
  const runs = await readRuns(locksFolder).catch(() => []);
  const run = runs.find(isHolder);
  if (run === undefined) return { kind: "holdfast", pid };
  return {
    kind: "holdfast",
    pid: run.host.pid,
    ...(run.sessionId === undefined ? {} : { sessionId: run.sessionId }),
    agentId: run.agentId,
    task: run.task,
    since: run.startedAt,
    heldMs: Math.max(0, Date.now() - Date.parse(run.startedAt)),
    status: run.state,
  };
}

export function remaining(queue: Queue): number {
  return Math.max(0, queue.deadline - performance.now());
}

/** The process that has what could not be had; undefined when the error is about something else. */
export function lockedBy(error: unknown): number | undefined {
  if (!(error instanceof HoldfastError) || error.kind !== "locked") return undefined;
  const { pid } = error.data;
  return typeof pid === "number" ? pid : 0;
}
