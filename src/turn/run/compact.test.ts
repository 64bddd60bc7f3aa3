import { describe, expect, it } from "vitest";
import {
  ADA_KEY,
  type TurnHome,
  answer,
  scriptedEngine,
  toolCall,
  toolResult,
  createTurnHome,
  usage,
} from "../../../test/support/turn-home.ts";
import { HoldfastError } from "../../base/errors.ts";
import { installFaultAction } from "../../base/faults.ts";
import type { Engine, SummaryRequest } from "../../engine/engine.ts";
import { withSessionLease } from "../../session/lease.ts";
import { type CompactOutcome, compactNow } from "./compact.ts";
import { messageText } from "../../transcript/messages.ts";

const small = { "test/scripted": { contextWindow: 1000 } };
const quiet = { flush: false, flushTimeoutSeconds: 1 };
const LONG = "word ".repeat(100);

const tooLong = () =>
  new HoldfastError("usage", "context-too-long", "The conversation is too long", { hint: "Shorten it." });

function summing(requests: SummaryRequest[], limit = Number.POSITIVE_INFINITY): Partial<Engine> {
  return {
    summarize: async (request) => {
      if (request.messages.length > limit) throw tooLong();
      requests.push(request);
      return `summary of ${request.messages.length}`;
    },
  };
}

/** The number of messages that the engine gets if it always reports this token count. */
async function keptOf(tokens: number): Promise<number> {
  const engine = scriptedEngine(({ text }) => [usage(tokens), answer(`re: ${text}`)], summing([]));
  await using home = await createTurnHome(engine, {
    config: (config) => ({ ...config, models: { "test/scripted": { contextWindow: 4000 } }, memory: quiet }),
  });
  for (const text of ["one", "two", "three", "four", "five"]) await home.say(`${text} ${LONG}`);
  await home.say("six");
  return engine.turns.at(-1)?.context.length ?? 0;
}

describe("a conversation that no longer fits", () => {
  it("is summarized before the engine is asked, and keeps its newest part", async () => {
    const requests: SummaryRequest[] = [];
    let tokens = 100;
    const engine = scriptedEngine(({ text }) => [usage(tokens), answer(`re: ${text}`)], summing(requests));
    await using home = await createTurnHome(engine, {
      config: (config) => ({ ...config, models: small, memory: quiet }),
    });
    for (const text of ["one", "two", "three"]) await home.say(`${text} ${LONG}`);
    tokens = 900;
    await home.say("four");
    tokens = 200;
    await home.say("five");
    expect(requests).toHaveLength(1);
    const context = engine.turns.at(-1)?.context ?? [];
    expect(context[0]).toMatchObject({ role: "compactionSummary", tokensBefore: 900 });
    expect(context.slice(1).map(messageText)).toEqual(["four", "re: four", "five"]);
    expect(await home.entry()).toMatchObject({ compactionCount: 1, totalTokens: 200 });
    expect(home.events.filter(({ type }) => type === "turn.compaction")).toHaveLength(2);
    await home.say("six");
    expect(requests).toHaveLength(1);
  });

  it("keeps less if the model counts more tokens than estimated", async () => {
    expect(await keptOf(1200)).toBe(11);
    expect(await keptOf(3100)).toBeLessThan(7);
    // The newest question is always there.
    expect(await keptOf(400_000)).toBeGreaterThanOrEqual(2);
  });

  it("is summarized and asked again if the engine reports it", async () => {
    const requests: SummaryRequest[] = [];
    const engine = scriptedEngine(({ context, text }) => {
      if (context.length > 5) throw tooLong();
      return [answer(`re: ${text}`)];
    }, summing(requests));
    await using home = await createTurnHome(engine, { config: (config) => ({ ...config, memory: quiet }) });
    for (const text of ["one", "two", "three", "four", "five"]) {
      expect(await home.say(text)).toMatchObject({ outcome: "answered", text: `re: ${text}` });
    }
    expect(requests.length).toBeGreaterThan(0);
    const texts = (await home.messages()).map(({ message }) => messageText(message));
    expect(texts.filter((text) => text === "four")).toHaveLength(1);
    expect(texts).not.toContain("The conversation is too long. Shorten it.");
  });

  it("fails with a clear message if it cannot be compacted", async () => {
    const engine = scriptedEngine(() => {
      throw tooLong();
    }, summing([]));
    await using home = await createTurnHome(engine);
    expect(await home.say("one")).toMatchObject({ outcome: "failed", error: { code: "context-too-long" } });
  });
});

describe("/compact", () => {
  it("that dies before the summary is written is counted, and repeated with the next message", async () => {
    const requests: SummaryRequest[] = [];
    const engine = scriptedEngine(({ text }) => [usage(900), answer(`re: ${text}`)], summing(requests));
    await using home = await createTurnHome(engine, {
      config: (config) => ({ ...config, models: small, memory: quiet }),
    });
    for (const text of ["one", "two", "three"]) await home.say(`${text} ${LONG}`);
    const { compactionCount = 0 } = await home.entry();
    installFaultAction((point) => {
      if (point === "turn.shortening") throw new Error("killed");
    });
    await expect(compact(home)).rejects.toThrow("killed");
    installFaultAction(undefined);
    expect(await home.entry()).toMatchObject({ compactionCount: compactionCount + 1, totalTokens: 900 });
    const before = requests.length;
    await home.say("four");
    expect(requests.length).toBe(before + 1);
    expect(engine.turns.at(-1)?.context[0]).toMatchObject({ role: "compactionSummary" });
  });

  it("summarizes a long conversation in parts", async () => {
    const requests: SummaryRequest[] = [];
    const engine = scriptedEngine(({ text }) => [answer(`re: ${text}`)], summing(requests, 4));
    await using home = await createTurnHome(engine);
    for (const text of ["one", "two", "three", "four", "five"]) await home.say(text);
    expect(await compact(home, "names above all")).toMatchObject({ compacted: true });
    expect(requests.length).toBeGreaterThan(1);
    expect(requests[0]).toMatchObject({ instructions: "names above all" });
    expect((await home.entry()).compactionCount).toBe(1);
  });

  it("never separates a tool call from its result", async () => {
    const engine = scriptedEngine(
      ({ text }) => [
        toolCall("c1"),
        toolCall("c2"),
        toolResult("c1", LONG),
        toolResult("c2", LONG),
        answer(`re: ${text}`),
      ],
      summing([]),
    );
    await using home = await createTurnHome(engine, { config: (config) => ({ ...config, models: small }) });
    for (const text of ["one", "two", "three"]) await home.say(text);
    expect(await compact(home)).toMatchObject({ compacted: true });
    engine.turns.length = 0;
    await home.say("next");
    const roles = engine.turns[0]?.context.map(({ role }) => role) ?? [];
    const calls = roles.indexOf("assistant");
    expect(roles[0]).toBe("compactionSummary");
    expect(roles.indexOf("toolResult") === -1 || calls < roles.indexOf("toolResult")).toBe(true);
  });

  it("says why nothing happens", async () => {
    await using home = await createTurnHome(scriptedEngine(() => [answer("ok")]));
    await home.say("one");
    expect(await compact(home)).toEqual({ compacted: false, reason: expect.stringContaining("itself") });
    home.parts.engine = scriptedEngine(() => [answer("ok")], summing([]));
    await home.say("/new two");
    expect(await compact(home)).toMatchObject({ compacted: true });
    await home.say("/new");
    expect(await compact(home)).toEqual({ compacted: false, reason: "There is nothing older to summarize." });
  });
});

async function compact({ parts }: TurnHome, instructions?: string): Promise<CompactOutcome> {
  return await withSessionLease(parts.agent, ADA_KEY, {}, async (held) => {
    const given = instructions === undefined ? {} : { instructions };
    const signal = new AbortController().signal;
    return await compactNow({ parts, held, sessionKey: ADA_KEY, signal, emit: () => undefined, ...given });
  });
}
