import { expect, it } from "vitest";
import { testAgent } from "../../test/support/test-agent.ts";
import type { Engine, EngineTurn } from "../engine/engine.ts";
import { runTurn } from "./run-turn.ts";

const KEY = "agent:main:cli:dm:ada";
const MINUTE = 60_000;

it("counts idle time from the answer, not from the question", async () => {
  await using fixture = await testAgent();
  const { agent, clock } = fixture;
  const session = { ...fixture.config.session, reset: { mode: "idle" as const, idleMinutes: 60 } };
  const config = { ...fixture.config, session };
  const slow: Engine = {
    name: "echo",
    async *run() {
      clock.advance(50 * MINUTE);
      yield { type: "text", text: "done" };
    },
  };
  const say = async (Body: string) => await runTurn({ agent, config, engine: slow, ctx: { SessionKey: KEY, Body } });
  const first = await say("a long task");
  clock.advance(20 * MINUTE);
  expect((await say("thanks")).session.sessionId).toBe(first.session.sessionId);
});

it("runs the first turn of a window with the model that the reset named", async () => {
  await using fixture = await testAgent();
  const { agent } = fixture;
  const config = { ...fixture.config, models: { "minimax/MiniMax-M2.1": {} } };
  const turns: EngineTurn[] = [];
  const engine: Engine = {
    name: "echo",
    async *run(turn) {
      turns.push(turn);
      yield { type: "text", text: "ok" };
    },
  };
  const ctx = { SessionKey: KEY, Body: "/new minimax summarize" };
  await runTurn({ agent, config, engine, ctx, commandAuthorized: true });
  expect(turns).toMatchObject([{ text: "summarize", model: "minimax/MiniMax-M2.1" }]);
});
