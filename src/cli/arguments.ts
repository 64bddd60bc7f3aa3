/** Reading what people type. */
import { HoldfastError } from "../base/errors.ts";

/** A whole number above zero. */
export function parseCount(name: string, raw: string): number {
  const value = Number(raw);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new HoldfastError("usage", "invalid-option", `${name} takes a whole number above 0, not "${raw}"`);
}

/** A number above zero, such as an amount of dollars or minutes. */
export function parseAmount(name: string, raw: string): number {
  const value = raw.trim() === "" ? Number.NaN : Number(raw);
  if (Number.isFinite(value) && value > 0) return value;
  throw new HoldfastError("usage", "invalid-option", `${name} takes a number above 0, not "${raw}"`);
}

/** One of the words that an option knows. */
export function parseChoice<const Choice extends string>(
  name: string,
  raw: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((known) => known === raw);
  if (choice !== undefined) return choice;
  throw new HoldfastError("usage", "invalid-option", `${name} takes ${choices.join(", ")}, not "${raw}"`);
}

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** How long ago (`30m`, `12h`, `2d`, `1w`) or when (`2026-11-15`, with or without a time). In ms. */
export function parseSince(name: string, raw: string, now: number): number {
  const [, amount = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(raw.trim()) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return now - Number(amount) * unitMs;
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(raw.trim());
  // A day alone means the local one, as people count days.
  const at = isDate ? Date.parse(raw.trim().length === 10 ? `${raw.trim()}T00:00` : raw.trim()) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new HoldfastError("usage", "invalid-option", `${name} takes a time such as 2d or 2026-11-15, not "${raw}"`, {
    hint: "30m, 12h, 2d and 1w count from now; a date may have a time: 2026-11-15T08:00.",
  });
}

/** `field=value` pairs; numbers and booleans are read as such. */
export function parseAssignments(assignments: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const equals = assignment.indexOf("=");
      if (equals > 0) return [assignment.slice(0, equals), parseValue(assignment.slice(equals + 1))];
      throw new HoldfastError("usage", "invalid-assignment", `"${assignment}" is not of the form field=value`, {
        hint: "For example: holdfast sessions patch main label=work",
      });
    }),
  );
}

function parseValue(raw: string): unknown {
  if (raw === "true" || raw === "false") return raw === "true";
  return /^-?\d+(?:\.\d+)?$/.test(raw) ? Number(raw) : raw;
}
