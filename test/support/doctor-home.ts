/** A home with one agent to check: `await using home = await createDoctorHome("sqlite")`. */
import { createHash } from "node:crypto";
import { readFile, readdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { openAgent, openStoreRepair } from "../../src/compose/agent.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { type AgentLayout, agentLayout } from "../../src/config/layout.ts";
import type { AgentScope } from "../../src/doctor/finding.ts";
import { type DoctorReport, runDoctor } from "../../src/doctor/run-doctor.ts";
import { type AgentHandle, transcriptPath } from "../../src/session/agent-handle.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import { openWindow, resetSession } from "../../src/session/window.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { type TestClock, createTestClock } from "./time.ts";
import { userDraft } from "./transcripts.ts";

export interface DoctorHome extends AsyncDisposable {
  home: string;
  layout: AgentLayout;
  clock: TestClock;
  /** Opens the agent during a task. */
  use<T>(task: (agent: AgentHandle) => Promise<T>): Promise<T>;
  /** The agent as the checks see it. */
  scope(options?: { deep?: boolean }): Promise<AgentScope>;
  /** Runs doctor a minute later, so that no file looks as if it is being written. */
  doctor(options?: { fix?: boolean; deep?: boolean; acknowledge?: string }): Promise<DoctorReport>;
}

export async function createDoctorHome(kind: StoreKind): Promise<DoctorHome> {
  const folder = await temporaryFolder();
  const opened = openDoctorHome(folder.path, kind);
  return { ...opened, [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose]() };
}

/** The same for an existing folder. */
export function openDoctorHome(home: string, kind: StoreKind): Omit<DoctorHome, typeof Symbol.asyncDispose> {
  const clock = createTestClock();
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, store: { kind, view: true } };
  const layout = agentLayout(home, "main");
  const open = async (create: boolean): Promise<AgentHandle> =>
    await openAgent({ home, config, clock, create, logger: silentLogger });
  const scope = async ({ deep = false } = {}): Promise<AgentScope> => {
    const repair = await openStoreRepair({ home, config, agentId: "main", clock });
    return { agentId: "main", mainKey: "main", layout, repair, clock, deep, open: async () => await open(false) };
  };
  return {
    home,
    layout,
    clock,
    use: async (task) => {
      const agent = await open(true);
      try {
        return await task(agent);
      } finally {
        await agent.store.close();
      }
    },
    scope,
    doctor: async ({ fix = false, deep = false, acknowledge } = {}) => {
      clock.advance(60_000);
      for (const folder of [layout.sessionsFolder, layout.archiveFolder]) await age(folder);
      return await runDoctor({ home, fix, acknowledge, agents: [await scope({ deep })] });
    },
  };
}

/** Adds a message to a session, created if needed. Resolves to the session id of the window. */
export async function say(agent: AgentHandle, key: string, text: string): Promise<string> {
  return await withSessionLease(agent, key, {}, async (held) => {
    const entry =
      (await agent.store.get(key)) ?? (await openWindow(agent, { key, previous: undefined, reason: "initial" }));
    if (entry === undefined) throw new Error("the session was taken");
    const fence = async (): Promise<void> => await held.fence();
    const path = await transcriptPath(agent, entry);
    await using log = await openTranscriptLog({ path, clock: agent.clock, fence, epoch: held.lease.epoch });
    await log.append([userDraft(text)]);
    const { end } = log;
    const { sessionId } = entry;
    await agent.store.update(
      key,
      (current) => current && { ...current, ...(end === undefined ? {} : { transcriptEnd: { sessionId, ...end } }) },
      { lease: held.lease },
    );
    return sessionId;
  });
}

export async function reset(agent: AgentHandle, key: string): Promise<string> {
  return (await resetSession(agent, key)).entry.sessionId;
}

async function age(folder: string): Promise<void> {
  const then = new Date(Date.now() - 60_000);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((candidate) => candidate.endsWith(".jsonl"))) {
    await utimes(join(folder, name), then, then);
  }
}

/** A hash of all names, modes and contents in a folder, except SQLite's shared-memory files. */
export async function fingerprint(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((candidate) => !candidate.endsWith("-shm")).toSorted()) {
    const path = join(folder, name);
    const stats = await stat(path);
    hash.update(`${name}\0${stats.mode}\0`);
    if (stats.isFile()) hash.update(await readFile(path));
  }
  return hash.digest("hex");
}
