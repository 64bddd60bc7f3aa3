/**
 * Measures turns on a real PostgreSQL beside SQLite in the same run: the time of one turn, and the throughput over many
 * sessions on one gateway and on two.
 */
import { join } from "node:path";
import { silentLogger } from "../src/base/log.ts";
import { openNode } from "../src/store/postgres/node.ts";
import { startServer, stopServer, urlOf } from "../test/support/postgres.ts";
import { type Result, percentile } from "./measure.ts";
import { startLoad } from "./turns.ts";
import type { TurnFigures } from "./turns-gateway.ts";

const SESSIONS = 100;
const WARM_UP = 1000;
const ALONE = 500;
const BUSY = 4000;

export async function measurePostgres(folder: string): Promise<Result[]> {
  // Beside the folder, which another user cannot enter: the server does not run as root.
  const server = await startServer(`${folder}-postgres`);
  const store = { kind: "postgres", url: urlOf(server, "postgres") };
  try {
    // Creates the tables.
    await (await openNode({ url: store.url }, silentLogger)).close();
    const sqlite = await measureOne(join(folder, "sqlite-home"), {});
    const one = await measureOne(join(folder, "node-1"), { store });
    const two = await measureTwo(folder, store);
    const [ours, theirs] = [percentile(one.alone.times, 50), percentile(sqlite.alone.times, 50)];
    return [
      { work: "one turn on postgres, p50", ours, peer: "sqlite", theirs, bar: { ratio: "ours/theirs", atMost: 3 } },
      {
        work: `turns a second over ${SESSIONS} sessions on postgres, one gateway`,
        ours: rate(one.busy),
        peer: "sqlite",
        theirs: rate(sqlite.busy),
        bar: { ratio: "ours/theirs", atLeast: 0.5 },
        unit: "turns/s",
      },
      {
        work: "the same with two gateways",
        ours: two,
        peer: "one gateway",
        theirs: rate(one.busy),
        bar: { ratio: "ours/theirs", atLeast: 1 },
        unit: "turns/s",
      },
    ];
  } finally {
    stopServer(server);
  }
}

async function measureOne(home: string, config: object): Promise<{ alone: TurnFigures; busy: TurnFigures }> {
  await using load = await startLoad(home, config);
  await load.run({ turns: WARM_UP, sessions: SESSIONS, pace: "all" });
  const alone = await load.run({ turns: ALONE, sessions: SESSIONS, pace: "one" });
  return { alone, busy: await load.run({ turns: BUSY, sessions: SESSIONS, pace: "all" }) };
}

/** Each gateway has people of its own. */
async function measureTwo(folder: string, store: object): Promise<number> {
  const homes = ["node-2", "node-3"].map((name) => join(folder, name));
  const loads = await Promise.all(homes.map(async (home) => await startLoad(home, { store })));
  try {
    const run = async (turns: number): Promise<TurnFigures[]> =>
      await Promise.all(
        loads.map(async (load) => await load.run({ turns: turns / 2, sessions: SESSIONS / 2, pace: "all" })),
      );
    await run(WARM_UP);
    return (await run(BUSY)).reduce((sum, figures) => sum + rate(figures), 0);
  } finally {
    for (const load of loads) await load[Symbol.asyncDispose]();
  }
}

function rate({ times, seconds }: TurnFigures): number {
  return times.length / seconds;
}
