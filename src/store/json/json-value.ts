/**
 * JSON values without loss of meaning. `JSON.parse` rounds integers beyond 2^53 (chat platforms use
 * such ids) and turns 1e400 into infinity; here those numbers stay as they were written, as the raw
 * JSON values of the language, which `JSON.stringify` writes back digit by digit.
 */
import { type JsonRecord, isRecord as isObject } from "../../base/json-record.ts";

/** Members that the language has and TypeScript's library does not describe yet. */
const json = JSON as typeof JSON & {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/** Whether a text may hold such numbers at all; a digit sequence inside a string costs only time. */
const PERHAPS_LOSSY = /\d{16}|\d[eE]\+?\d{3}/;

export function parseJson(text: string): unknown {
  return PERHAPS_LOSSY.test(text) ? json.parse(text, keepNumber) : JSON.parse(text);
}

function keepNumber(_name: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(context.source));
  return isExact ? value : json.rawJSON(context.source);
}

/** As in `base`, but a number that is kept as it was written is no object. */
export function isRecord(value: unknown): value is JsonRecord {
  return isObject(value) && !json.isRawJSON(value);
}

/** A copy that shares nothing that can be changed; members that are undefined are left out. */
export function copyJson<T>(value: T): T {
  return copyUnknown(value) as T;
}

function copyUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyUnknown);
  if (!isRecord(value)) return value;
  const copy: JsonRecord = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member !== undefined) setMember(copy, name, copyUnknown(member));
  }
  return copy;
}

/** Plain assignment to `__proto__` would change what the object inherits instead of its content. */
function setMember(target: JsonRecord, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

/** The members in an object that inherits nothing, so that every name is just a name. */
export function shallowCopy<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, record);
}
