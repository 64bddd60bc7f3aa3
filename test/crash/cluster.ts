/**
 * Three gateways over one PostgreSQL. People write numbered messages to many sessions, by Telegram and by RPC to any
 * node, while nodes are killed, paused and cut off, and the server restarts. Then everything runs undisturbed, and the
 * history is checked.
 */
import { rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { createRandom } from "../../src/selftest/operations.ts";
import { silentLogger } from "../../src/base/log.ts";
import { openNode } from "../../src/store/postgres/node.ts";
import { startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { message } from "../support/fake-telegram/updates.ts";
import { restartServer, startServer, stopServer, urlOf } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import {
  RECORD_LEASES,
  checkEpochs,
  checkReplies,
  checkTranscripts,
  findOverlaps,
  type Overlap,
} from "./cluster-checker.ts";
import { type ClusterNode, type Stretch, TELEGRAM, createClusterNode } from "./cluster-nodes.ts";

export const CLUSTER_FAULTS = [
  "kill",
  "pause",
  "black-hole",
  "cut",
  "terminate",
  "restart",
  "crash-server",
  "drain",
] as const;
export type ClusterFault = (typeof CLUSTER_FAULTS)[number];

export interface ClusterRun {
  faults: readonly ClusterFault[];
  seed: number | string;
}

export interface ClusterReport {
  acknowledged: number;
  /** Messages whose turn was started more than once. */
  takenOver: number;
  /** Replies that arrived twice, and attempts beyond the first. */
  duplicates: number;
  repeated: number;
  /** How long a session or the account waited for another node (ms), by fault. */
  takeOvers: { fault: ClusterFault; ms: number[]; accountMs: number[] }[];
  /** How long two nodes worked on one session, or were connected as the account, each time that it happened (ms). */
  overlaps: { turnMs: number[]; accountMs: number[] };
  failures: string[];
}

const CLOCKS_APART_MS = 5 * 60_000;
const RPC_SESSIONS = 16;
const CHATS = [3001, 3002, 3003, 3004];
const PATIENCE_MS = 60_000;
/** Longer than a lease, so that another node takes over. */
const AWAY_MS = 8000;
const DATABASE = "cluster";
const TAKEN_OVER = "SELECT count(*) FROM holdfast.inbox WHERE attempts > 1 OR note LIKE '%renewed%'";

export async function runCluster({ faults, seed }: ClusterRun): Promise<ClusterReport> {
  await using folder = await temporaryFolder();
  await using telegram = await startFakeTelegram();
  await using closing = new AsyncDisposableStack();
  const random = createRandom(seed, "cluster");
  const scratch = process.env["HOLDFAST_TEST_SCRATCH"] ?? join(tmpdir(), `holdfast-${process.pid}`);
  const serverFolder = `${scratch}-cluster-${random.whole(0, 1e9)}`;
  let server = await startServer(serverFolder);
  closing.defer(() => {
    stopServer(server);
    rmSync(serverFolder, { recursive: true, force: true });
  });
  const run = async (sql: string, database = DATABASE): Promise<Record<string, unknown>[]> => {
    const client = new Client(urlOf(server, database));
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${DATABASE}`, "postgres");
  await (await openNode({ url: urlOf(server, DATABASE) }, silentLogger)).close();
  await run(RECORD_LEASES);

  const history: Stretch[] = [];
  const addNode = async (name: string, clockOffsetMs: number): Promise<ClusterNode> => {
    const place = { folder: folder.path, server, database: DATABASE, telegram, history };
    const node = await createClusterNode({ ...place, name, clockOffsetMs });
    closing.defer(async () => {
      node.wake();
      await node.kill();
      await node.proxy[Symbol.asyncDispose]();
    });
    return node;
  };
  const nodes = [
    await addNode("node-1", 0),
    await addNode("node-2", CLOCKS_APART_MS),
    await addNode("node-3", -CLOCKS_APART_MS),
  ] as const;
  await Promise.all(nodes.map(async (node) => await node.start()));

  const ending = new AbortController();
  const said = new Map<string, string[]>();
  const talking = [
    ...Array.from({ length: RPC_SESSIONS }, (_, session) => talkByRpc(session)),
    ...CHATS.map((chat, index) => talkByTelegram(chat, RPC_SESSIONS + index)),
  ];

  /** As a client does: tries another node, with the same idempotency key, until one acknowledges. */
  async function talkByRpc(session: number): Promise<void> {
    const own = createRandom(seed, `rpc ${session}`);
    const key = `agent:main:loop:${session}`;
    const marks: string[] = [];
    said.set(key, marks);
    for (let number = 0; !ending.signal.aborted; number++) {
      const mark = `<s${session}n${number}>`;
      const params = { sessionKey: key, message: `sleep:${own.whole(20, 2000)}\n${mark}`, idempotencyKey: mark };
      while (!ending.signal.aborted) {
        if (!(await send(own.pick(nodes), params))) await delay(100);
        else {
          marks.push(mark);
          break;
        }
      }
      await delay(own.whole(200, 2500));
    }
  }

  async function talkByTelegram(chat: number, session: number): Promise<void> {
    const own = createRandom(seed, `telegram ${chat}`);
    const marks: string[] = [];
    said.set(`agent:main:telegram:dm:${chat}`, marks);
    for (let number = 0; !ending.signal.aborted; number++) {
      const mark = `<s${session}n${number}>`;
      const text = `sleep:${own.whole(20, 1500)}\n${mark}`;
      telegram.deliver(message({ text, from: { id: chat, is_bot: false, first_name: `P${chat}` } }));
      marks.push(mark);
      await delay(own.whole(400, 2500));
    }
  }

  const failures: string[] = [];
  const happened: { fault: ClusterFault; node: string; at: number; subjects: string[] }[] = [];
  const begin = async (fault: ClusterFault, node: ClusterNode): Promise<void> => {
    const running = (): Stretch[] => history.filter((one) => one.node === node.name && one.to === undefined);
    // A fault that meets no turn shows little.
    for (let waited = 0; waited < 3000 && !running().some(({ subject }) => subject !== TELEGRAM); waited += 20) {
      await delay(20);
    }
    happened.push({ fault, node: node.name, at: Date.now(), subjects: running().map(({ subject }) => subject) });
  };
  const FAULTS: Record<ClusterFault, (node: ClusterNode) => Promise<void>> = {
    kill: async (node) => {
      await node.kill();
      await delay(random.whole(500, 3000));
      await node.start();
    },
    pause: async (node) => {
      node.pause();
      await delay(AWAY_MS);
      node.wake();
    },
    "black-hole": async (node) => {
      node.proxy.swallow();
      await delay(AWAY_MS);
      node.proxy.heal();
    },
    cut: async (node) => node.proxy.cut(),
    terminate: async () =>
      void (await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'")),
    restart: async () => void (server = await restartServer(server, "SIGINT")),
    "crash-server": async () => void (server = await restartServer(server, "SIGQUIT")),
    drain: async (node) => {
      await node.stop();
      await node.start();
    },
  };
  for (const fault of faults) {
    const node = random.pick(nodes);
    await begin(fault, node);
    await FAULTS[fault](node);
    await delay(random.whole(300, 1500));
  }
  ending.abort();
  await Promise.all(talking);

  const isIdle = async (): Promise<boolean> => {
    const inbox = "SELECT 1 FROM holdfast.inbox WHERE state IN ('queued', 'running')";
    const outbox = "SELECT 1 FROM holdfast.outbox WHERE channel = 'telegram' AND state IN ('pending', 'sending')";
    return telegram.updates.pending.length === 0 && (await run(`${inbox} UNION ALL ${outbox} LIMIT 1`)).length === 0;
  };
  for (const deadline = Date.now() + PATIENCE_MS; !(await isIdle()); await delay(50)) {
    if (Date.now() < deadline) continue;
    failures.push("not everything was answered");
    break;
  }
  const pauses = nodes.flatMap((node) => node.pauses);
  await Promise.all(nodes.map(async (node) => await node.stop()));
  const reader = folder.join("reader");
  await mkdir(reader, { mode: 0o700 });
  const config = { store: { kind: "postgres", url: urlOf(server, DATABASE) }, agents: { main: {} } };
  await writeFile(join(reader, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const overlaps = findOverlaps(history, pauses);
  const replies = await checkReplies(run, telegram, said);
  failures.push(
    ...(await checkTranscripts(reader, said)),
    ...replies.failures,
    ...(await checkEpochs(run)),
    ...overlaps.filter(isTooLong).map(({ nodes, subject, ms }) => `${nodes.join(" and ")} had ${subject} for ${ms} ms`),
  );
  return {
    acknowledged: [...said.values()].flat().length,
    takenOver: Number((await run(TAKEN_OVER))[0]?.["count"]),
    duplicates: replies.duplicates,
    repeated: replies.repeated,
    takeOvers: takeOversOf(happened, history),
    overlaps: {
      turnMs: overlaps.filter(isOfTurn).map(({ ms }) => ms),
      accountMs: overlaps.filter((one) => !isOfTurn(one)).map(({ ms }) => ms),
    },
    failures,
  };
}

/**
 * A node that has lost its connections stops its account before another may take it, so only a late timer makes an
 * overlap. A turn continues until the node is connected again: it would be a pity to stop all turns for every restart of
 * the server, and from a take-over on the writes of the old one are refused.
 */
const MAX_OVERLAP_MS = { turn: 1000, account: 500 };

function isOfTurn({ subject }: Overlap): boolean {
  return subject !== TELEGRAM;
}

function isTooLong(overlap: Overlap): boolean {
  return overlap.ms > MAX_OVERLAP_MS[isOfTurn(overlap) ? "turn" : "account"];
}

async function send({ url, token }: ClusterNode, params: object): Promise<boolean> {
  if (url === "") return false;
  try {
    const response = await fetch(`${url}/rpc/chat.send`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: JSON.stringify(params),
      signal: AbortSignal.timeout(10_000),
    });
    return ((await response.json()) as { ok: boolean }).ok;
  } catch {
    return false;
  }
}

/** For each subject that the node had at the fault: how long until another node had it. */
function takeOversOf(
  happened: readonly { fault: ClusterFault; node: string; at: number; subjects: string[] }[],
  history: readonly Stretch[],
): ClusterReport["takeOvers"] {
  const found = happened.flatMap(({ fault, node, at, subjects }) =>
    subjects.flatMap((subject) => {
      const next = history.find((one) => one.subject === subject && one.from > at);
      return next === undefined || next.node === node ? [] : [{ fault, subject, ms: next.from - at }];
    }),
  );
  return [...Map.groupBy(found, ({ fault }) => fault)].map(([fault, all]) => {
    const times = (isAccount: boolean): number[] =>
      all
        .filter(({ subject }) => (subject === TELEGRAM) === isAccount)
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b);
    return { fault, ms: times(false), accountMs: times(true) };
  });
}
