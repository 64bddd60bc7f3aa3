/** Which kills a run makes: every fault point of a store in turn, and every fourth time a random instant. */
import { FAULT_POINTS, type FaultPoint } from "../base/faults.ts";
import type { StoreKind } from "../store/store.ts";
import type { OperationName } from "./operations.ts";

export interface Kill {
  /** Left out: at a random instant. */
  point?: FaultPoint;
  lean?: Lean;
  /** Leave half a line at the end of a transcript first. */
  tearFirst: boolean;
  /** Leave locks as they are afterwards, for the next kill to find. */
  leaveLocks: boolean;
  /** A kill that must have happened in the same home just before. */
  before?: Kill;
}

type Lean = readonly [OperationName, ...OperationName[]];

/** The doctor works on stores that are lost already; turns and hand-offs need more than a store. All have crash tests of their own. */
const ELSEWHERE = /^(?:doctor|inbox|turn|delivery|handoff)\./;

/** The fault points that a working process with this store can come to. */
export function pointsOf(kind: StoreKind): FaultPoint[] {
  const others = kind === "sqlite" ? "json." : "sqlite.";
  return FAULT_POINTS.filter((point) => !point.startsWith(others) && !ELSEWHERE.test(point));
}

const RANDOM_EVERY = 4;

/** The kills of one store in order, without end. */
export function* planKills(kind: StoreKind): Generator<Kill, never> {
  const points = pointsOf(kind);
  for (let index = 0; ; index++) {
    if (index % RANDOM_EVERY === RANDOM_EVERY - 1) {
      yield { tearFirst: false, leaveLocks: false };
      continue;
    }
    const point = points[(index - Math.floor(index / RANDOM_EVERY)) % points.length] ?? points[0];
    if (point === undefined) continue;
    // A lock is taken over only from a process that died with it.
    const before = point === "lock.takeover.claimed" ? killAt("lock.created", kind, { leaveLocks: true }) : undefined;
    yield { ...killAt(point, kind), ...(before === undefined ? {} : { before }) };
  }
}

function killAt(point: FaultPoint, kind: StoreKind, { leaveLocks = false } = {}): Kill {
  const lean = leanOf(point, kind);
  const tearFirst = point.startsWith("transcript.torn.");
  return { point, tearFirst, leaveLocks, ...(lean === undefined ? {} : { lean }) };
}

/** What leads to a fault point; undefined when nearly everything does. */
export function leanOf(point: FaultPoint, kind: StoreKind): Lean | undefined {
  const [area] = point.split(".");
  if (point.startsWith("transcript.rewrite.") || area === "lock") return ["append", "compact", "compact"];
  if (point === "transcript.created" || area === "window") return ["reset"];
  if (area === "transcript" || area === "lease") return ["append"];
  if (area === "archive") return ["archive", "count"];
  if (point.startsWith("sqlite.view.") || (area === "file" && kind === "sqlite")) return ["count", "reopen"];
  return undefined;
}
