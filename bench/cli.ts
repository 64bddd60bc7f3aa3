/** Whole commands against the bare runtime. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_CONFIG } from "../src/config/config.ts";
import { type Result, compare } from "./measure.ts";
import { sampleEntry, sampleKey } from "./sample-entry.ts";
import { openAgent } from "../src/compose/agent.ts";

const BIN = fileURLToPath(new URL("../bin/holdfast.js", import.meta.url));
const RUNS = 25;

export async function measureCommands(folder: string): Promise<Result[]> {
  const home = join(folder, "home");
  await fillAgent(home, 10_000);
  const env = { ...process.env, HOLDFAST_HOME: home };
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [BIN, ...args], { env, maxBuffer: 1 << 28 });
    if (status !== 0) throw new Error(`holdfast ${args.join(" ")} failed: ${String(stderr)}`);
  };
  const bare = () => void spawnSync(process.execPath, ["-e", "0"], { env });

  const [version, nodeBesideVersion] = await compare(RUNS, () => run("--version"), bare);
  const [page, nodeBesidePage] = await compare(RUNS, () => run("sessions", "--limit", "20"), bare);
  const [list, nodeBesideList] = await compare(RUNS, () => run("sessions", "--json"), bare);
  return [
    {
      work: "holdfast --version",
      ours: version,
      peer: "node -e 0",
      theirs: nodeBesideVersion,
      bar: { ratio: "ours/theirs", atMost: 2 },
    },
    {
      work: "holdfast sessions --limit 20, 10,000 entries",
      ours: page,
      peer: "node -e 0",
      theirs: nodeBesidePage,
      bar: { ratio: "ours/theirs", atMost: 2 },
    },
    {
      work: "holdfast sessions --json, 10,000 entries",
      ours: list,
      peer: "node -e 0",
      theirs: nodeBesideList,
      bar: { ratio: "ours/theirs", atMost: 3 },
    },
  ];
}

async function fillAgent(home: string, count: number): Promise<void> {
  const config = { ...DEFAULT_CONFIG, store: { kind: "sqlite" as const, view: false } };
  const { store } = await openAgent({ home, config });
  for (let start = 0; start < count; start += 500) {
    const indexes = Array.from({ length: 500 }, (_, offset) => start + offset);
    await Promise.all(indexes.map(async (index) => await store.update(sampleKey(index), () => sampleEntry(index))));
  }
  await store.close();
}
