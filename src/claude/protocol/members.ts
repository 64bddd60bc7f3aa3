/** Members of a message that may be missing or of another type than expected. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function flag(value: unknown): boolean {
  return value === true;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function record(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
