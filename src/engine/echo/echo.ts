/**
 * Answers with what it got. It needs no network and no key, so that sessions, resets and windows
 * can be tried at once, and it always says what it is, so that nobody takes it for a model.
 */
import type { Engine, EngineEvent, EngineTurn } from "../engine.ts";

const CHARACTERS_PER_TOKEN = 4;

export function createEchoEngine(): Engine {
  return { name: "echo", run };
}

async function* run(turn: EngineTurn, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const messages = turn.context.filter(({ role }) => role === "user").length;
  const answer = `[echo] message ${messages} of this window: ${turn.text}`;
  if (signal.aborted) return;
  yield { type: "text", text: answer };
  yield {
    type: "usage",
    usage: {
      provider: "holdfast",
      model: "echo",
      input: estimateTokens(JSON.stringify(turn.context)),
      output: estimateTokens(answer),
      cacheRead: 0,
      cacheWrite: 0,
    },
  };
}

function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
