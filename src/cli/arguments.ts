/** Reading what people type. */
import { HoldfastError } from "../base/errors.ts";

/** A whole number above zero. */
export function parseCount(name: string, raw: string): number {
  const value = Number(raw);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new HoldfastError("usage", "invalid-option", `${name} takes a whole number above 0, not "${raw}"`);
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
