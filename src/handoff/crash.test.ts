/** Real processes that capture at once or die midway: there is one state, and the files match it. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startChild } from "../../test/support/child.ts";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import type { FaultPoint } from "../base/faults.ts";
import { agentLayout } from "../config/layout.ts";
import type { Handoff } from "./handoff.ts";
import type { SessionState } from "./state.ts";

type Death = readonly [point: FaultPoint, occurrence: number];

const POINTS: readonly Death[] = [
  ["handoff.kept", 1],
  ["lock.created", 1],
  ["file.temp-written", 1],
  ["file.temp-synced", 2],
  ["file.renamed", 1],
  ["file.renamed", 2],
  ["handoff.files-written", 1],
];

/** The files are written in the same way, whatever the store. */
const FEW_POINTS: readonly Death[] = [
  ["handoff.kept", 1],
  ["handoff.files-written", 1],
];

describe.each(STORE_KINDS)("processes on %s", (kind) => {
  it("that capture at once produce one state with every note once", async () => {
    await using home = await createHandoffHome(kind);
    // As late as it is for the processes: for them nothing has expired.
    home.fixture.clock.set(Date.now());
    await home.open();
    await home.say(WORK);
    const task = { task: "capture" as const, kind, home: home.fixture.home, key: KEY };
    const ends = await Promise.all([startChild("home", task).ended(), startChild("home", task).ended()]);
    expect(ends).toEqual([0, 0]);
    await check(home, home.handoff);
  });

  it("that die midway leave a capture that the next one finishes", async () => {
    await using home = await createHandoffHome(kind);
    home.fixture.clock.set(Date.now());
    await home.open();
    for (const [index, [point, occurrence]] of (kind === "sqlite" ? POINTS : FEW_POINTS).entries()) {
      await home.say(index === 0 ? WORK : [`The release is blocked: signing key number ${index} has expired.`]);
      const task = { task: "capture" as const, kind, home: home.fixture.home, key: KEY };
      const child = startChild("home", { ...task, point, occurrence });
      expect(await child.ended(), `${point} ${occurrence}`).toBe("SIGKILL");
      // The process that starts next makes up for it.
      const next = await home.another();
      await next.recover();
      await next.capture({ kind: "session", sessionKey: KEY }, "messages");
      await check(home, next);
      // A surviving process would write what the next one captures.
      await next.close();
    }
  });
});

async function check({ agent, fixture }: HandoffHome, handoff: Handoff): Promise<void> {
  await handoff.settled();
  const state = await handoff.get(KEY);
  const layout = agentLayout(fixture.home, "main").handoff;
  expect(JSON.parse(readFileSync(layout.stateFile, "utf8"))).toEqual(state);
  expect(JSON.parse(readFileSync(layout.pendingFile, "utf8"))).toMatchObject({ pending: [{ sessionKey: KEY }] });
  const lines = readdirSync(layout.patternsFolder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(layout.patternsFolder, name), "utf8").split("\n"))
    .filter((line) => line !== "");
  const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(state?.patterns.map(({ id }) => id) ?? []));
  // As if there had been no earlier capture.
  const kept = await agent.store.handoffs.get(KEY);
  await agent.store.handoffs.delete(KEY);
  const anew = await handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
  await handoff.settled();
  expect(contentOf(anew)).toEqual(contentOf(state));
  await agent.store.handoffs.update(KEY, () => kept);
}

function contentOf(state: SessionState | undefined): unknown {
  return (
    state && { items: state.items, patterns: state.patterns, transcript: state.transcript, hash: state.transcriptHash }
  );
}
