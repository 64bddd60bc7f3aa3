import { afterEach, describe, expect, it } from "vitest";
import { evaluateSessionFreshness, resolveDailyResetAtMs, resolveSessionResetPolicy } from "./freshness.ts";

const zone = process.env["TZ"];

afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

describe("the daily boundary", () => {
  it("is the local hour on the days when the clock changes", () => {
    process.env["TZ"] = "Europe/Berlin";
    // The night to 29 March 2026 has no 02:30; the one to 25 October has it twice.
    const spring = resolveDailyResetAtMs(Date.UTC(2026, 2, 29, 10), 4);
    expect(new Date(spring).toISOString()).toBe("2026-03-29T02:00:00.000Z");
    const autumn = resolveDailyResetAtMs(Date.UTC(2026, 9, 25, 10), 4);
    expect(new Date(autumn).toISOString()).toBe("2026-10-25T03:00:00.000Z");
  });

  it("stays at its hour the day before, even if that hour does not exist today", () => {
    process.env["TZ"] = "Europe/Berlin";
    // 00:30 local on the day without 02:00: the last boundary is yesterday's 02:00.
    const boundary = resolveDailyResetAtMs(Date.UTC(2026, 2, 28, 23, 30), 2);
    expect(new Date(boundary).toISOString()).toBe("2026-03-28T01:00:00.000Z");
  });

  it("is never in the future, in any zone at any hour of a year", () => {
    for (const tz of ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"]) {
      process.env["TZ"] = tz;
      for (let now = Date.UTC(2026, 0, 1); now < Date.UTC(2027, 0, 1); now += 37 * 60_000 * 11) {
        const boundary = resolveDailyResetAtMs(now, 4);
        expect(boundary).toBeLessThanOrEqual(now);
        expect(now - boundary).toBeLessThanOrEqual(25 * 3_600_000);
      }
    }
  });
});

describe("the policy", () => {
  it("of a channel replaces type and general rules", () => {
    const sessionCfg = { reset: { mode: "daily" as const }, resetByType: { dm: { mode: "none" as const } } };
    const resetOverride = { mode: "idle" as const, idleMinutes: 5 };
    expect(resolveSessionResetPolicy({ sessionCfg, resetType: "dm", resetOverride })).toEqual({
      mode: "idle",
      atHour: 4,
      idleMinutes: 5,
    });
  });

  it.each([
    [{ idleMinutes: 30 }, { mode: "idle", atHour: 4, idleMinutes: 30 }],
    [
      { idleMinutes: 30, reset: { mode: "daily" as const, atHour: 6 } },
      { mode: "daily", atHour: 6, idleMinutes: 30 },
    ],
    [
      { idleMinutes: 30, reset: { mode: "idle" as const } },
      { mode: "idle", atHour: 4, idleMinutes: 30 },
    ],
    [
      { idleMinutes: 30, reset: { mode: "idle" as const, idleMinutes: 5 } },
      { mode: "idle", atHour: 4, idleMinutes: 5 },
    ],
    [
      { idleMinutes: 30, resetByType: { group: { mode: "idle" as const } } },
      { mode: "daily", atHour: 4, idleMinutes: 30 },
    ],
    [
      { idleMinutes: 30, resetByType: { dm: { atHour: 7 } } },
      { mode: "daily", atHour: 7, idleMinutes: 30 },
    ],
  ])("of %j uses the general idle minutes", (sessionCfg, expected) => {
    expect(resolveSessionResetPolicy({ sessionCfg, resetType: "dm" })).toEqual(expected);
  });

  it("of a channel ignores the general idle minutes", () => {
    const policy = resolveSessionResetPolicy({
      sessionCfg: { idleMinutes: 30 },
      resetType: "dm",
      resetOverride: { mode: "daily" },
    });
    expect(policy).toEqual({ mode: "daily", atHour: 4 });
  });

  it.each([
    { reset: { mode: "none" }, idleMinutes: 30 },
    { reset: { mode: "idle", idleMinutes: 30 }, resetByType: { dm: { mode: "none" } } },
  ] as const)("none gets no limit from the rules around it: %j", (sessionCfg) => {
    expect(resolveSessionResetPolicy({ sessionCfg, resetType: "dm" })).toEqual({ mode: "none", atHour: 4 });
  });

  it("none never ends a session", () => {
    const policy = resolveSessionResetPolicy({ sessionCfg: { reset: { mode: "none" } }, resetType: "dm" });
    expect(evaluateSessionFreshness({ updatedAt: 0, now: Date.now(), policy }).fresh).toBe(true);
  });
});
