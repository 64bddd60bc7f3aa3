import { setImmediate as nextTick } from "node:timers/promises";
import { expect, it } from "vitest";
import { createEventRelay } from "./event-relay.ts";
import type { ProgressSummary, RunnerEvent } from "./runner-contract.ts";

const progress = (toolUses: number): RunnerEvent => {
  const summary: ProgressSummary = { elapsedMs: 0, toolUses, costUsd: 0, retries: 0, subagents: 0 };
  return { type: "progress", progress: summary };
};
const tool: RunnerEvent = { type: "tool", name: "Bash", detail: "ls", isSubagent: false };
const failure = (): void => undefined;

it("passes everything on in order to a watcher that keeps up", async () => {
  const seen: string[] = [];
  const relay = createEventRelay(async (event) => void seen.push(event.type), failure);
  relay.emit(tool);
  await nextTick();
  relay.emit(progress(1));
  await nextTick();
  relay.emit({ type: "text", text: "a" });
  await nextTick();
  expect(seen).toEqual(["tool", "progress", "text"]);
});

it("joins text, replaces progress, drops tools with a count, and keeps what matters while a watcher is slow", async () => {
  const seen: RunnerEvent[] = [];
  const gate = Promise.withResolvers<void>();
  const relay = createEventRelay(async (event) => {
    seen.push(event);
    await gate.promise;
  }, failure);
  relay.emit(tool);
  for (let index = 0; index < 10_000; index++) relay.emit({ type: "text", text: "word " });
  for (let index = 0; index < 10_000; index++) relay.emit(progress(index));
  for (let index = 0; index < 10_000; index++) relay.emit(tool);
  relay.emit({ type: "warning", text: "look here" });
  gate.resolve();
  while (seen.at(-1)?.type !== "warning") await nextTick();
  expect(seen.length).toBeLessThan(210);
  expect(seen.find((event) => event.type === "dropped")).toEqual({ type: "dropped", count: 10_000 - 198 });
  expect(seen.filter((event) => event.type === "progress")).toEqual([progress(9999)]);
  expect(seen.filter((event) => event.type === "text")).toHaveLength(1);
});

it("survives a watcher that throws", async () => {
  const errors: unknown[] = [];
  const relay = createEventRelay(
    () => {
      throw new Error("no");
    },
    (error) => errors.push(error),
  );
  relay.emit(tool);
  relay.emit(tool);
  await nextTick();
  expect(errors).toHaveLength(2);
});
