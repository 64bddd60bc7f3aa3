/**
 * What OpenClaw 2026.1.30 answered, case by case, for the pure functions of a session's life.
 * `initSessionState` and `applyResetModelOverride` have their own tests, with a real store.
 */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import {
  evaluateSessionFreshness,
  resolveDailyResetAtMs,
  resolveSessionResetPolicy,
  resolveSessionResetType,
} from "./freshness.ts";
import { normalizeDeliveryContext } from "./inbound-meta.ts";
import { parseSessionLabel } from "./label.ts";
import { stripStructuralPrefixes } from "./reset-trigger.ts";
import { normalizeSendPolicy, resolveSendPolicy } from "./send-policy.ts";
import { deriveSessionTitle } from "./title.ts";

interface VectorCase {
  fn: string;
  args: unknown[];
  expected: unknown;
  tz?: string;
}

const file = new URL("../../test/fixtures/vectors/session.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: VectorCase[] };

const FUNCTIONS: Record<string, (...args: never[]) => unknown> = {
  deriveSessionTitle,
  evaluateSessionFreshness,
  normalizeDeliveryContext,
  normalizeSendPolicy,
  parseSessionLabel,
  resolveDailyResetAtMs,
  resolveSendPolicy,
  resolveSessionResetPolicy,
  resolveSessionResetType,
  stripStructuralPrefixes,
};

const zone = process.env["TZ"];

afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

describe("OpenClaw 2026.1.30", () => {
  for (const { fn, args, expected, tz } of cases) {
    const subject = FUNCTIONS[fn];
    if (subject === undefined) continue;
    it(`${fn}(${JSON.stringify(args).slice(1, -1)})${tz === undefined ? "" : ` in ${tz}`}`, () => {
      if (tz !== undefined) process.env["TZ"] = tz;
      const actual = subject(...(args.map(decode) as never[]));
      expect(actual).toEqual(decode(expected));
    });
  }
});

function decode(value: unknown): unknown {
  return typeof value === "object" && value !== null && "$undefined" in value ? undefined : value;
}
