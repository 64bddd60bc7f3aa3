/** Homes whose store is lost and built again, and what was in it. */
import { expect } from "vitest";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { Window } from "../../src/store/store.ts";
import { type DoctorHome, fingerprint, reset, say } from "./doctor-home.ts";

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

/** The state of closed windows is in no transcript and in no view: only a damaged file may still yield it. */
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

/** Mends, and sees that nothing is left to mend. */
export async function mend(home: Pick<DoctorHome, "home" | "doctor">): Promise<void> {
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
