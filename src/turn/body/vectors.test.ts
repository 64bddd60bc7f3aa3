/**
 * What OpenClaw 2026.1.30 answered, case by case. The deviations are decisions; each is explained in
 * docs/openclaw-compatibility.md.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type HistoryEntry,
  type HistoryMap,
  appendHistoryEntry,
  buildHistoryContext,
  buildHistoryContextFromEntries,
  evictOldHistoryKeys,
} from "./history.ts";
import { normalizeInboundTextNewlines } from "./inbound-context.ts";
import { formatInboundBodyWithSenderMeta, resolveSenderLabel } from "./sender-meta.ts";

interface VectorCase {
  fn: string;
  args: unknown[];
  expected: unknown;
}

const file = new URL("../../../test/fixtures/vectors/body.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: VectorCase[] };

interface RecordedHistory {
  entries: HistoryEntry[];
  currentMessage: string;
  historyMap: [string, HistoryEntry[]][];
  historyKey: string;
  entry: HistoryEntry;
  limit: number;
}

/** A recorded argument that is no value is given in a form of its own; see `about` in the file. */
const FUNCTIONS: Record<string, (...args: never[]) => unknown> = {
  buildHistoryContext,
  buildHistoryContextFromEntries: (params: RecordedHistory) =>
    buildHistoryContextFromEntries({ ...params, formatEntry: ({ sender, body }) => `${sender}: ${body}` }),
  appendHistoryEntry: (params: RecordedHistory) =>
    appendHistoryEntry({ ...params, historyMap: new Map(params.historyMap) }),
  evictOldHistoryKeys: ({ keys, maxKeys }: { keys: number; maxKeys: number }) => {
    const historyMap: HistoryMap = new Map(Array.from({ length: keys }, (_, index) => [`k${index}`, []]));
    evictOldHistoryKeys(historyMap, maxKeys);
    return [...historyMap.keys()];
  },
  formatInboundBodyWithSenderMeta,
  resolveSenderLabel,
  normalizeInboundTextNewlines,
};

/** Where Holdfast answers differently on purpose: the case → our answer. */
const DEVIATIONS = new Map<string, unknown>([
  // `C:\new` is a folder. Later OpenClaw versions keep a backslash and an `n` too.
  ['normalizeInboundTextNewlines["a\\\\nb"]', "a\\nb"],
]);

const nameOf = ({ fn, args }: VectorCase): string => fn + JSON.stringify(args);

describe("OpenClaw's functions for the body of a message", () => {
  it.each(cases.map((vector) => ({ name: nameOf(vector), vector })))("$name", ({ name, vector }) => {
    const answer = FUNCTIONS[vector.fn]?.(...(vector.args as never[]));
    expect(answer).toEqual(DEVIATIONS.has(name) ? DEVIATIONS.get(name) : vector.expected);
  });

  it("deviates only in cases that exist and that OpenClaw answers differently", () => {
    const byName = new Map(cases.map((vector) => [nameOf(vector), vector.expected]));
    for (const [name, ours] of DEVIATIONS) {
      expect([...byName.keys()]).toContain(name);
      expect(byName.get(name)).not.toEqual(ours);
    }
  });
});
