/** Turns of the model engine against a fake model server. */
import { HoldfastError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { Engine, EngineEvent, EngineTurn } from "../../src/engine/engine.ts";
import { type ModelEngineOptions, createModelEngine } from "../../src/engine/model/model-engine.ts";
import type { TranscriptMessage } from "../../src/transcript/entries.ts";
import type { FakeModelStream } from "./fake-model-stream.ts";
import { createTestClock } from "./time.ts";

/** The time of all messages. */
export const SAID_AT = 1_763_000_000_000;
const ENV = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", GEMINI_API_KEY: "g" };

export function person(content: string): TranscriptMessage {
  return { role: "user", content, timestamp: SAID_AT };
}

export function engineAt(server: FakeModelStream, options: Partial<ModelEngineOptions> = {}): Engine {
  const here = { baseUrl: server.url };
  return createModelEngine({
    providers: { anthropic: here, openai: here, google: here, local: here },
    models: {},
    env: ENV,
    logger: silentLogger,
    clock: createTestClock(),
    tools: new Map(),
    ...options,
  });
}

export function turnOf(turn: Partial<EngineTurn>): EngineTurn {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    sessionId: "s1",
    kind: "message",
    text: "hello",
    context: [person("hello")],
    system: "You are a test.",
    model: "anthropic/claude-haiku-4-5",
    thinking: undefined,
    workspace: "/nowhere",
    engineSessionId: undefined,
    ...turn,
  };
}

export async function collect(engine: Engine, turn: Partial<EngineTurn>): Promise<EngineEvent[]> {
  const { events, error } = await attempt(engine, turn);
  if (error !== undefined) throw error;
  return events;
}

export async function attempt(
  engine: Engine,
  turn: Partial<EngineTurn>,
): Promise<{ events: EngineEvent[]; error?: unknown }> {
  const events: EngineEvent[] = [];
  try {
    for await (const event of engine.run(turnOf(turn), AbortSignal.timeout(20_000))) events.push(event);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

export async function failure(engine: Engine, turn: Partial<EngineTurn>): Promise<string> {
  const { error } = await attempt(engine, turn);
  return error instanceof HoldfastError ? error.code : `no HoldfastError: ${String(error)}`;
}

export function textOf(events: readonly EngineEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

export function messagesOf(events: readonly EngineEvent[]) {
  return events.flatMap((event) => (event.type === "message" ? [event.message] : []));
}

/** The smallest picture: a PNG of one pixel. */
export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
