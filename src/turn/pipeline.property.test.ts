/**
 * Random messages, duplicates, stops and crashes in two processes: each message ends once, the turns of a chat
 * start in the order of its messages, and only announced repetitions are delivered twice.
 */
import * as fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { type PipelineHome, inbound, createPipelineHome, textOf } from "../../test/support/pipeline-home.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { HoldfastError } from "../base/errors.ts";
import { type FaultPoint, installFaultAction } from "../base/faults.ts";
import type { Admitted } from "./pipeline.ts";

/** Not after a commit: a lease whose holder died before it learned of it blocks the session for half a minute. */
const FAULTS = [
  "inbox.admitted",
  "turn.claimed",
  "turn.finished",
  "delivery.started",
  "delivery.sent",
  "delivery.marked",
  "sqlite.batch.begun",
  "sqlite.batch.applied",
] as const satisfies FaultPoint[];

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("admit" as const), chat: fc.nat(2), by: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("repeat" as const), of: fc.nat(), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abort" as const), chat: fc.nat(2), by: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("fail" as const), at: fc.constantFrom(...FAULTS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(15) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

it("loses nothing, repeats nothing and keeps the order", { timeout: 120_000 }, async () => {
  onTestFinished(() => installFaultAction(undefined));
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), playAndCheck), {
    numRuns: 8,
    interruptAfterTimeLimit: 60_000,
  });
});

async function playAndCheck(steps: readonly Step[]): Promise<void> {
  await using home = await temporaryFolder();
  const begun: string[] = [];
  const runTurn = async ({ messages, attempt, signal }: Parameters<NonNullable<Turn>>[0]) => {
    const text = textOf(messages[0] ?? {});
    if (!begun.includes(text)) begun.push(text);
    await new Promise((resolve) => setTimeout(resolve, attempt));
    return signal.aborted ? { outcome: "aborted" as const, payloads: [] } : {};
  };
  await using one = await createPipelineHome({ home: home.path, runTurn });
  await using two = await createPipelineHome({ home: home.path, runTurn });
  const homes = [one, two];
  await Promise.all(homes.map(async ({ pipeline }) => await pipeline.start()));
  const messages = await play(steps, homes);
  installFaultAction(undefined);

  const again = await Promise.all(messages.map((message) => one.pipeline.admit(message)));
  expect(again.filter(({ admitted }) => admitted)).toEqual([]);
  const { inbox, outbox } = await one.store();
  await expect.poll(async () => await inbox.pending(), { timeout: 20_000 }).toEqual([]);
  await expect.poll(async () => await outbox.routes(), { timeout: 20_000 }).toEqual([]);
  const outcomes = new Map((await Promise.all(again.map(endOf))).map((end) => [end.text, end.outcome]));
  checkOrder(begun);
  checkDeliveries(
    homes,
    messages.map((message) => textOf(message.ctx)),
    outcomes,
  );
}

type Turn = Parameters<typeof createPipelineHome>[0]["runTurn"];

async function endOf({ item, ended }: Admitted) {
  return { text: textOf((item.payload as { ctx: object }).ctx), outcome: (await ended).outcome };
}

/** Retries until every message is admitted. */
async function play(steps: readonly Step[], homes: readonly PipelineHome[]): Promise<ReturnType<typeof inbound>[]> {
  const messages: ReturnType<typeof inbound>[] = [];
  const admit = async (message: ReturnType<typeof inbound>, by: number) => {
    for (;;) {
      try {
        return await homes[by]?.pipeline.admit(message);
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
      }
    }
  };
  for (const one of steps) {
    if (one.do === "admit") {
      const message = inbound(`${one.chat}/${messages.length}`, { chat: `${one.chat}` });
      messages.push(message);
      await admit(message, one.by);
    } else if (one.do === "repeat") {
      const message = messages[one.of % Math.max(1, messages.length)];
      if (message !== undefined) await admit(message, one.by);
    } else if (one.do === "abort") {
      await homes[one.by]?.pipeline.abort(`agent:main:telegram:dm:${one.chat}`, "test");
    } else if (one.do === "wait") await new Promise((resolve) => setTimeout(resolve, one.ms));
    else failOnce(one.at);
  }
  return messages;
}

function failOnce(point: FaultPoint): void {
  installFaultAction((at) => {
    if (at !== point) return;
    installFaultAction(undefined);
    throw new HoldfastError("unavailable", "fault", `An injected failure at ${point}`);
  });
}

function checkOrder(begun: readonly string[]): void {
  for (const [, texts] of Map.groupBy(begun, (text) => text.split("/")[0])) {
    const numbers = texts.map((text) => Number(text.split("/")[1]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

/** Each answer once, and once more for each attempt with `mayRepeat`. */
function checkDeliveries(
  homes: readonly PipelineHome[],
  texts: readonly string[],
  outcomes: ReadonlyMap<string, string>,
): void {
  const sent = homes.flatMap(({ channel }) => channel.sent);
  const announced = homes
    .flatMap(({ events }) => events)
    .filter((event) => event.type === "delivery.started" && event.mayRepeat).length;
  const answered = texts.filter((text) => outcomes.get(text) === "answered");
  for (const text of answered) expect(sent.some((message) => message.text === `re: ${text}`)).toBe(true);
  expect(sent.length).toBeLessThanOrEqual(answered.length + announced);
  for (const outcome of outcomes.values()) expect(["answered", "aborted"]).toContain(outcome);
}
