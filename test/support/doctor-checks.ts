/** What tests of doctor do with a home: damage it, check it, fix it, check again. */
import { expect } from "vitest";
import type { Finding } from "../../src/doctor/finding.ts";
import type { DoctorReport } from "../../src/doctor/run-doctor.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { StoreKind, Window } from "../../src/store/store.ts";
import { type DoctorHome, createDoctorHome, fingerprint, reset, say } from "./doctor-home.ts";

export const KEY = "agent:main:telegram:dm:7";

/** A sound home with one session of two windows. */
export async function soundHome(kind: StoreKind): Promise<DoctorHome & { sessionIds: string[] }> {
  const home = await createDoctorHome(kind);
  const sessionIds = await home.use(async (agent) => {
    const first = await say(agent, KEY, "one");
    home.clock.advance(1000);
    const second = await reset(agent, KEY);
    await say(agent, KEY, "two");
    return [first, second];
  });
  return { ...home, sessionIds };
}

/** Checks without changes, fixes, and checks that nothing is left to fix. */
export async function examine(home: DoctorHome, check: string, options: { deep?: boolean } = {}): Promise<Finding> {
  const before = await fingerprint(home.home);
  const found = await home.doctor(options);
  expect(await fingerprint(home.home)).toBe(before);
  expect(found.ok).toBe(false);
  const repaired = await home.doctor({ fix: true, ...options });
  expect(repaired.findings.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(repaired).toMatchObject({ ok: true });
  expect(await home.doctor({ fix: true, ...options })).toMatchObject({ ok: true, fixed: 0 });
  return only(found, check);
}

export function only({ findings }: DoctorReport, check: string): Finding {
  const found = findings.filter((finding) => finding.check === check);
  expect(found).toHaveLength(1);
  const [finding] = found;
  if (finding === undefined) throw new Error("no finding");
  return finding;
}

export interface Snapshot {
  entries: Record<string, SessionEntry>;
  windows: Record<string, Window[]>;
}

/** Sessions with three windows each, every third one labelled. */
export async function fill(home: DoctorHome, count: number): Promise<Snapshot> {
  await home.use(async (agent) => {
    for (let index = 0; index < count; index++) {
      const key = `agent:main:telegram:dm:${index}`;
      for (let window = 0; window < 3; window++) {
        home.clock.advance(1000);
        if (window > 0) await reset(agent, key);
        await say(agent, key, `message ${index}.${window}`);
      }
      const label = index % 3 === 0 ? { label: `label ${index}` } : {};
      await agent.store.update(key, (entry) => entry && { ...entry, ...label, updatedAt: agent.clock.now() });
    }
  });
  return await snapshot(home);
}

/** The state of closed windows is in no transcript and no view, only perhaps in a damaged file. */
export async function snapshot(
  home: Pick<DoctorHome, "use">,
  options: { withState?: boolean } = {},
): Promise<Snapshot> {
  return await home.use(async (agent) => {
    const { sessions } = await agent.store.list({ sort: "key" });
    const windows: Record<string, Window[]> = {};
    for (const { key } of sessions) {
      const list = await agent.store.windows(key);
      windows[key] = options.withState === true ? list : list.map(({ state: _state, ...window }) => window);
    }
    return { entries: Object.fromEntries(sessions.map(({ key, entry }) => [key, entry])), windows };
  });
}

/** Fixes everything, and checks that nothing is left to fix. */
export async function repair(home: Pick<DoctorHome, "home" | "doctor">): Promise<void> {
  const before = await fingerprint(home.home);
  expect(await home.doctor()).toMatchObject({ ok: false });
  expect(await fingerprint(home.home)).toBe(before);
  const report = await home.doctor({ fix: true });
  expect(report.findings.filter(({ fixed, severity }) => fixed !== true && severity !== "info")).toEqual([]);
  expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
}

export function sessionIds({ entries }: Snapshot): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([key, { sessionId }]) => [key, sessionId]));
}

export function idOf({ sessionId }: Window): string {
  return sessionId;
}
