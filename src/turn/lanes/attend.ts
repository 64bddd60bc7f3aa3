/** Looks after messages that come while a turn of their session runs. */
import type { HoldfastError } from "../../base/errors.ts";
import type { TakenLease } from "../../session/lease.ts";
import { type WaitingItem, isQuick } from "./classify.ts";
import type { LaneContext, RunningStep } from "./lane-context.ts";
import { look } from "./look.ts";
import { doQuickWork } from "./quick-work.ts";
import { shedItems } from "./shed.ts";
import { canSteer, steerItems } from "./steer.ts";
import { turnInterrupted } from "./turn-errors.ts";

/** Several calls before the first look are one. */
export function attend(lane: LaneContext, running: RunningStep): void {
  if (running.isAttendDue || running.isEnding) return;
  running.isAttendDue = true;
  running.attending = running.attending
    .then(async () => {
      running.isAttendDue = false;
      const { taken } = lane.state;
      if (!running.isEnding && taken !== undefined) await attendOnce(lane, running, taken);
    })
    .catch((error: unknown) => {
      lane.shared.logger.warn("Messages that came during a turn must wait for it", { key: lane.key, error });
    });
}

/** Stops the turn that runs; false when none does. */
export function abortRunning({ state }: LaneContext, reason: HoldfastError): boolean {
  if (state.running === undefined || state.running.isEnding) return false;
  state.running.abort.abort(reason);
  return true;
}

async function attendOnce(lane: LaneContext, running: RunningStep, taken: TakenLease): Promise<void> {
  const { shed, quick, queued, settings, next } = await look(lane);
  if (quick.length > 0) {
    startQuickWork(lane, taken, quick).catch((error: unknown) => {
      lane.shared.logger.warn("A message that needs no turn must wait for it", { key: lane.key, error });
    });
  }
  if (shed.length > 0) await shedItems(lane, shed, settings.drop);
  if (settings.mode === "interrupt" && next.some(({ need }) => need.what === "turn")) {
    abortRunning(lane, turnInterrupted());
  }
  if (settings.mode !== "steer" || !canSteer(lane.parts.engine, running.items)) return;
  const inOrder = queued.filter((item) => !isQuick(item) && !shed.includes(item));
  for await (const steered of steerItems(lane, taken.held, running.items, inOrder)) {
    lane.state.mine.add(steered.item.id);
    running.items.push(steered);
  }
}

/** Resolves when all of it is written; goes on beside whatever else the lane does. */
export function startQuickWork(lane: LaneContext, { held }: TakenLease, items: readonly WaitingItem[]): Promise<void> {
  const { mine, quickWork } = lane.state;
  const ids = items.map(({ item }) => item.id);
  for (const id of ids) mine.add(id);
  const work = doQuickWork(lane, held, items).finally(() => {
    for (const id of ids) mine.delete(id);
    quickWork.delete(tracked);
  });
  // Whoever lets go waits for the end of it and not for its success.
  const tracked = work.catch(() => undefined);
  quickWork.add(tracked);
  return work;
}
