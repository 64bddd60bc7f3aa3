/**
 * Several processes contend for one session. The holder of the lease is killed or paused while it writes; exactly one
 * other process must take over, and a paused holder that wakes must be refused. Afterwards every acknowledged write must
 * be in the files once, in the order of epochs.
 *
 * A holder that is paused inside a transaction blocks everybody until it wakes, because SQLite's write lock and
 * `sessions.json.lock` belong to a live process. Such pauses are counted separately and tried again.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { closing } from "../base/async.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import { openWindow } from "../session/window.ts";
import type { StoreKind } from "../store/store.ts";
import { readTranscript } from "../transcript/reader.ts";
import { walkPath } from "../transcript/walk.ts";
import type { LeaseLine } from "./lease-child.ts";
import { SESSION_KEYS, type CountedEntry, createRandom } from "./operations.ts";
import { type Child, compileCacheIn, openHome, startChild } from "./run-child.ts";
import { messageText } from "../transcript/messages.ts";

export interface LeaseOptions {
  /** An existing folder. Files are created below it and removed unless something failed. */
  folder: string;
  seed: string;
  kind: StoreKind;
  /** Half from killed holders, half from paused ones. */
  takeovers: number;
}

/** Short, because every takeover from a paused holder waits for it. */
const TTL_MS = 400;
const CONTENDERS = 4;
/** Beyond the time to live; well below the 10 s after which a store gives up waiting. */
const BLOCKED_AFTER_MS = 1500;
const PATIENCE_MS = 30_000;
const MAX_TENURE_MS = 150;

export async function runLeaseRounds(options: LeaseOptions) {
  const { folder, seed, kind, takeovers } = options;
  const [key] = SESSION_KEYS;
  const home = join(folder, `leases-${kind}`);
  await mkdir(home, { recursive: true });
  const random = createRandom(seed, kind);
  const result = { kind, killed: 0, paused: 0, blocked: 0, acknowledged: 0, problems: [] as string[] };
  await createSession(home, kind, key);

  const all: Contender[] = [];
  const failures: string[] = [];
  const start = (): void => {
    const task = { home, kind, key, seed: `${seed}/${all.length}`, ttlMs: TTL_MS };
    const contender: Contender = startChild("lease-child", task, { compileCache: compileCacheIn(folder) });
    contender.ended.catch((error: unknown) => failures.push(String(error)));
    all.push(contender);
  };
  const newestHolder = (epoch: number): Tenure | undefined => {
    const [failure] = failures;
    if (failure !== undefined) throw new Error(failure);
    return newestTenure(all, epoch);
  };
  for (let count = 0; count < CONTENDERS; count++) start();
  try {
    // Epoch of the last holder that lost the lease.
    let epoch = 0;
    while (result.killed + result.paused < takeovers) {
      const tenure = await waitFor("a holder", () => newestHolder(epoch));
      await delay(random.whole(0, MAX_TENURE_MS));
      if (result.killed <= result.paused) {
        await kill(tenure.holder);
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
    await waitFor("the last takeover", () => newestHolder(epoch));
  } catch (error) {
    result.problems.push(String(error));
  } finally {
    await Promise.all(all.map(kill));
  }

  const lines = all.flatMap((contender) => contender.lines);
  result.problems.push(...failures);
  const history = await checkLeaseHistory(home, kind, key, lines);
  result.acknowledged = history.acknowledged;
  result.problems.push(...history.problems);
  if (result.problems.length === 0) await rm(home, { recursive: true, force: true });
  return result;
}

type Contender = Child<LeaseLine>;

/** Also ends a paused one. */
async function kill(contender: Contender): Promise<void> {
  contender.signal("SIGKILL");
  await contender.ended.catch(() => undefined);
}

type Tenure = NonNullable<ReturnType<typeof newestTenure>>;

/** The newest tenure, if it began after `epoch` and its holder keeps the lease until it is killed or loses it. */
function newestTenure(all: readonly Contender[], epoch: number) {
  const tenures = all.flatMap((holder) => acquisitions(holder).map((line) => ({ ...line, holder })));
  const newest = tenures.toSorted((a, b) => b.epoch - a.epoch).at(0);
  return newest !== undefined && newest.epoch > epoch && newest.holds ? newest : undefined;
}

function acquisitions({ lines }: Contender): Extract<LeaseLine, { say: "acquired" }>[] {
  return lines.filter((line) => line.say === "acquired");
}

/** False if no other process could take over before the holder woke. */
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

async function createSession(home: string, kind: StoreKind, key: string): Promise<void> {
  const agent = await openHome(home, kind, { view: false });
  await using _closing = closing(agent.store);
  await openWindow(agent, { key, previous: undefined, reason: "initial" });
}

async function checkLeaseHistory(home: string, kind: StoreKind, key: string, lines: readonly LeaseLine[]) {
  const agent = await openHome(home, kind, { view: false });
  await using _closing = closing(agent.store);
  const entry: CountedEntry | undefined = await agent.store.get(key);
  if (entry === undefined) return { acknowledged: 0, problems: ["the session is gone"] };
  const path = await transcriptPath(agent, entry);
  const appended = lines.flatMap((line) => (line.say === "appended" ? [line.text] : []));
  const updates = lines.filter(({ say }) => say === "updated").length;
  const tenures = lines.filter(({ say }) => say === "acquired").map(({ epoch }) => epoch);
  const problems = [
    ...lines.flatMap((line) => (line.say === "violation" ? [`epoch ${line.epoch}: ${line.what}`] : [])),
    ...(new Set(tenures).size < tenures.length ? ["one epoch was given to two holders"] : []),
    ...(await checkFile(path, new Set(appended))),
    ...(await checkConversation(path, appended)),
    ...checkCount(entry.selftest?.count ?? 0, updates, tenures.length),
  ];
  return { acknowledged: appended.length + updates, problems };
}

/** Refused lines may be anywhere: they are side branches. */
async function checkFile(path: string, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const reading = readTranscript(path);
  const problems: string[] = [];
  const found = new Set<string>();
  let newest = 0;
  for await (const item of reading) {
    if (item.kind !== "entry" || item.entry.type !== "message") continue;
    const text = messageText(item.entry.message);
    if (!acknowledged.has(text)) continue;
    if (found.has(text)) problems.push(`append ${text} is there twice`);
    found.add(text);
    const epoch = item.entry.leaseEpoch ?? 0;
    if (epoch < newest) problems.push(`append ${text} follows one of epoch ${newest}`);
    newest = Math.max(newest, epoch);
  }
  for (const text of acknowledged) if (!found.has(text)) problems.push(`append ${text} is lost`);
  return [...problems, ...reading.report.problems.map(({ reason, line }) => `line ${line ?? "?"}: ${reason}`)];
}

/** Acknowledged appends must be on the path from the newest entry to the first, which a model sees. */
async function checkConversation(path: string, acknowledged: readonly string[]): Promise<string[]> {
  const said = new Set<string>();
  const problems: string[] = [];
  for await (const { entry } of walkPath(path, { onProblem: ({ reason }) => problems.push(reason) })) {
    if (entry.type === "message") said.add(messageText(entry.message));
  }
  const missing = acknowledged.filter((text) => !said.has(text));
  return [...problems, ...missing.map((text) => `append ${text} is not part of the conversation`)];
}

/** Each tenure may have ended after an update that was not acknowledged. */
function checkCount(count: number, updates: number, tenures: number): string[] {
  if (count >= updates && count <= updates + tenures) return [];
  return [`${updates} updates were acknowledged, ${count} are there`];
}
