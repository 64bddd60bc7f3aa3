/** What tests of doctor's checks do with a home: damage it, look, mend, look again. */
import { expect } from "vitest";
import type { CheckName, Finding } from "../../src/doctor/finding.ts";
import type { DoctorReport } from "../../src/doctor/run-doctor.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { type DoctorHome, doctorHome, fingerprint, reset, say } from "./doctor-home.ts";

export const KEY = "agent:main:telegram:dm:7";

/** A home in which one session with two windows is in order. */
export async function soundHome(kind: StoreKind): Promise<DoctorHome & { sessionIds: string[] }> {
  const home = await doctorHome(kind);
  const sessionIds = await home.use(async (agent) => {
    const first = await say(agent, KEY, "one");
    home.clock.advance(1000);
    const second = await reset(agent, KEY);
    await say(agent, KEY, "two");
    return [first, second];
  });
  return { ...home, sessionIds };
}

/** Looks, which must change nothing; mends; looks again, when nothing may be left. */
export async function examine(home: DoctorHome, check: CheckName, options: { deep?: boolean } = {}): Promise<Finding> {
  const before = await fingerprint(home.home);
  const found = await home.doctor(options);
  expect(await fingerprint(home.home)).toBe(before);
  expect(found.ok).toBe(false);
  const mended = await home.doctor({ fix: true, ...options });
  expect(mended.findings.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(mended).toMatchObject({ ok: true });
  expect(await home.doctor({ fix: true, ...options })).toMatchObject({ ok: true, fixed: 0 });
  return only(found, check);
}

export function only({ findings }: DoctorReport, check: CheckName): Finding {
  const found = findings.filter((finding) => finding.check === check);
  expect(found).toHaveLength(1);
  const [finding] = found;
  if (finding === undefined) throw new Error("no finding");
  return finding;
}
