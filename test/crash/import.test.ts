/** An import that is killed at any of its steps is completed by the next one, and nothing is there twice. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FaultPoint } from "../../src/base/faults.ts";
import { listArchives } from "../../src/session/archive.ts";
import { startChild } from "../support/child.ts";
import { type OpenClawHome, createOpenClawHome, readHome } from "../support/openclaw-home.ts";

const STEPS: readonly [FaultPoint, number][] = [
  ["file.temp-written", 1],
  ["file.temp-synced", 3],
  ["file.renamed", 2],
  ["file.renamed", 6],
  ["file.renamed", 10],
  ["sqlite.batch.begun", 2],
  ["sqlite.batch.applied", 4],
  ["sqlite.batch.committed", 2],
  ["sqlite.batch.committed", 5],
  ["sqlite.batch.committed", 9],
];

it.each(STEPS)("killed at %s (%i)", async (point, occurrence) => {
  await using whole = await createHome();
  await using killed = await createHome();
  await whole.run();
  const child = startChild("home", { task: "import", from: killed.from, home: killed.home, point, occurrence });
  expect(await child.ended()).toBe("SIGKILL");
  await killed.run();
  expect(await contentOf(killed)).toEqual(await contentOf(whole));
  expect(Object.values((await killed.run()).counts).every(({ taken }) => taken === 0)).toBe(true);
});

async function createHome(): Promise<OpenClawHome> {
  const openClaw = await createOpenClawHome({ with: ["database", "files"] });
  await mkdir(join(openClaw.from, "skills/tides"), { recursive: true });
  await writeFile(join(openClaw.from, "skills/tides/SKILL.md"), "tides");
  await writeFile(join(openClaw.from, "openclaw.json"), '{"session": {"dmScope": "per-peer"}}');
  const sessions = { "/repo": { sessionId: "s1", totalCostUsd: 2 } };
  await writeFile(join(openClaw.from, "agents/main/claude-code-sessions.json"), JSON.stringify({ sessions }));
  return openClaw;
}

async function contentOf(openClaw: OpenClawHome) {
  await using agent = await openClaw.open();
  const archives = await listArchives(agent);
  return { sessions: await readHome(agent), archives: archives.map(({ id, key }) => [id, key]) };
}
