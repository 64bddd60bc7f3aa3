/**
 * Several processes contend for one session. Whoever holds the lease is killed or paused in the
 * middle of its writing; somebody else must take over, exactly one, and a paused holder that wakes
 * must be refused whatever it tries to write. Afterwards the history is compared with the files:
 * every acknowledged write is there once, and none stands behind one of a later epoch.
 *
 * A holder can be paused in the middle of a store's transaction. Then nobody can proceed until it
 * wakes: SQLite's write lock belongs to a living process, and so does `sessions.json.lock`. That is
 * how it must be, because nobody could tell what the half of a transaction means. Such a pause is
 * counted apart and tried again; with a stopped process it lasts until somebody ends that process.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { silentLogger } from "../base/log.ts";
import { openAgent } from "../compose.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { openWindow } from "../session/window.ts";
import type { StoreKind } from "../store/store.ts";
import { checkLeaseHistory } from "./check-lease-history.ts";
import type { LeaseLine } from "./lease-child.ts";
import { type Contender, startContender } from "./lease-contender.ts";
import { SESSION_KEYS } from "./operations.ts";
import { createRandom } from "./random.ts";
import { compileCacheIn } from "./run-child.ts";

export interface LeaseOptions {
  /** An existing folder; everything is made below it and removed again, except what failed. */
  folder: string;
  seed: string;
  kind: StoreKind;
  /** Half of them from killed holders, half from paused ones. */
  takeovers: number;
  /** Left out: 4. */
  contenders?: number;
}

export interface LeaseResult {
  kind: StoreKind;
  /** Takeovers from killed holders. */
  killed: number;
  /** Takeovers from paused holders, each refused when it woke. */
  paused: number;
  /** Pauses inside a transaction, during which nobody could take over. */
  blocked: number;
  /** Writes that were acknowledged and found. */
  acknowledged: number;
  problems: string[];
}

/** Short, because every takeover from a paused holder waits for it. */
const TTL_MS = 400;
const CONTENDERS = 4;
/** Beyond the time to live; well below the 10 s after which a store gives up waiting. */
const BLOCKED_AFTER_MS = 1500;
const PATIENCE_MS = 30_000;
const LONGEST_TENURE_MS = 150;

export async function runLeaseRounds(options: LeaseOptions): Promise<LeaseResult> {
  const { folder, seed, kind, takeovers } = options;
  const [key] = SESSION_KEYS;
  const home = join(folder, `leases-${kind}`);
  const compileCache = compileCacheIn(folder);
  await mkdir(home, { recursive: true });
  const random = createRandom(seed, kind);
  const result: LeaseResult = { kind, killed: 0, paused: 0, blocked: 0, acknowledged: 0, problems: [] };
  await foundSession(home, kind, key);

  const all: Contender[] = [];
  const start = (): void => {
    const task = { home, kind, key, seed: `${seed}/${all.length}`, ttlMs: TTL_MS };
    all.push(startContender(task, compileCache));
  };
  for (let count = 0; count < (options.contenders ?? CONTENDERS); count++) start();
  try {
    /** Of the last holder that was killed or taken over from. */
    let epoch = 0;
    while (result.killed + result.paused < takeovers) {
      const tenure = await waitFor("a holder", () => newestTenure(all, epoch));
      await delay(random.whole(0, LONGEST_TENURE_MS));
      if (result.killed <= result.paused) {
        await tenure.holder.kill();
        result.killed++;
        start();
      } else if (await pauseUntilTakenOver(all, tenure)) {
        result.paused++;
      } else {
        result.blocked++;
        continue;
      }
      epoch = tenure.epoch;
    }
    await waitFor("the last takeover", () => newestTenure(all, epoch));
  } catch (error) {
    result.problems.push(String(error));
  } finally {
    await Promise.all(all.map(async (contender) => await contender.kill()));
  }

  const lines = all.flatMap((contender) => contender.lines);
  result.problems.push(...all.flatMap(({ failure }) => failure ?? []));
  await withHome(home, kind, async (agent) => {
    const history = await checkLeaseHistory(agent, key, lines);
    result.acknowledged = history.acknowledged;
    result.problems.push(...history.problems);
  });
  if (result.problems.length === 0) await rm(home, { recursive: true, force: true });
  return result;
}

interface Tenure {
  holder: Contender;
  epoch: number;
}

/** The newest tenure after `epoch` that will not end by itself. */
function newestTenure(all: readonly Contender[], epoch: number): Tenure | undefined {
  const failed = all.find(({ failure }) => failure !== undefined);
  if (failed?.failure !== undefined) throw new Error(failed.failure);
  const tenures = all.flatMap((holder) =>
    acquisitions(holder).map(({ epoch: own, holds }) => ({ holder, own, holds })),
  );
  const newest = tenures.toSorted((a, b) => b.own - a.own).at(0);
  if (newest === undefined || newest.own <= epoch || !newest.holds) return undefined;
  return { holder: newest.holder, epoch: newest.own };
}

function acquisitions({ lines }: Contender): Extract<LeaseLine, { say: "acquired" }>[] {
  return lines.filter((line) => line.say === "acquired");
}

/** False when nobody could take over before the holder woke. */
async function pauseUntilTakenOver(all: readonly Contender[], { holder, epoch }: Tenure): Promise<boolean> {
  const others = all.filter((contender) => contender !== holder);
  holder.signal("SIGSTOP");
  try {
    const isTakenOver = (): true | undefined =>
      others.some((other) => acquisitions(other).some((line) => line.epoch > epoch)) || undefined;
    if ((await poll(isTakenOver, TTL_MS + BLOCKED_AFTER_MS)) === undefined) return false;
  } finally {
    holder.signal("SIGCONT");
  }
  for (const what of ["append", "update"] as const) {
    await waitFor(`the refusal of the woken holder's ${what}`, () =>
      holder.lines.find((line) => line.say === "refused" && line.epoch === epoch && line.what === what),
    );
  }
  return true;
}

async function waitFor<T>(what: string, look: () => T | undefined): Promise<T> {
  const found = await poll(look, PATIENCE_MS);
  if (found === undefined) throw new Error(`Waited ${PATIENCE_MS} ms for ${what}`);
  return found;
}

async function poll<T>(look: () => T | undefined, patienceMs: number): Promise<T | undefined> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = look();
    if (found !== undefined || performance.now() >= deadline) return found;
    await delay(2);
  }
}

async function foundSession(home: string, kind: StoreKind, key: string): Promise<void> {
  await withHome(home, kind, async (agent) => {
    await openWindow(agent, { key, previous: undefined, reason: "initial" });
  });
}

async function withHome(home: string, kind: StoreKind, task: (agent: AgentHandle) => Promise<void>): Promise<void> {
  const config = { ...DEFAULT_CONFIG, store: { kind, view: false } };
  const agent = await openAgent({ home, config, logger: silentLogger });
  try {
    await task(agent);
  } finally {
    await agent.store.close();
  }
}
