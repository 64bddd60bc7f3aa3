/**
 * Named steps at which crash tests stop, pause or fail the process. Each one is between two effects on disk whose order
 * matters. Without an installed action, a fault point does nothing.
 */

export const FAULT_POINTS = [
  "file.temp-written",
  "file.temp-synced",
  "file.renamed",
  "transcript.created",
  "transcript.append.written",
  "transcript.append.synced",
  "transcript.torn.saved",
  "transcript.torn.cut",
  "transcript.rewrite.archived",
  "transcript.rewrite.replaced",
  "sqlite.batch.begun",
  "sqlite.batch.applied",
  "sqlite.batch.committed",
  "sqlite.view.collected",
  "sqlite.view.written",
  "lock.created",
  "lock.takeover.claimed",
  "json.loaded",
  "json.sidecar.written",
  "json.written",
  "lease.read",
  "lease.taken",
  "window.transcript-ready",
  "window.moved",
  "inbox.admitted",
  "turn.claimed",
  "turn.initialised",
  "turn.message-written",
  "turn.flushed",
  "turn.shortening",
  "turn.shortened",
  "turn.engine-spoke",
  "block.queued",
  "block.edited",
  "turn.answered",
  "turn.finished",
  "delivery.started",
  "delivery.sent",
  "delivery.marked",
  "task.stored",
  "task.running",
  "task.ended",
  "task.told",
  "handoff.kept",
  "handoff.files-written",
  "archive.written",
  "doctor.rebuilt",
  "doctor.set-aside",
  "doctor.replaced",
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];

/** May throw (an injected I/O error) or never return (a killed process). */
export type FaultAction = (point: FaultPoint) => void;

let installed: FaultAction | undefined;

export function installFaultAction(action: FaultAction | undefined): void {
  installed = action;
}

export function faultPoint(point: FaultPoint): void {
  installed?.(point);
}
