/**
 * One run of an engine, from its first event to its end. What it says is in the transcript before it is
 * asked for more. It ends in every case: by itself, when it is told to, when it takes too long or says
 * too much, or because it is left behind. Only failures of the engine become its ending; a transcript or
 * store that fails is thrown, because then nothing can be promised any more.
 */
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Engine, EngineEvent, EngineTurn, EngineUsage } from "../../engine/engine.ts";
import { contentText } from "../../transcript/text.ts";
import { type EngineStop, LEAVE_AFTER_MS, LEFT, createEngineStop } from "./engine-stop.ts";
import { cutMessage } from "./cut-message.ts";
import { type EngineMessage, type TurnRecord, isAnswered } from "./turn-record.ts";
import type { TurnWatch } from "./turn-watch.ts";

export interface EngineRunRequest {
  engine: Engine;
  turn: EngineTurn;
  record: TurnRecord;
  watch: TurnWatch;
  signal: AbortSignal;
  now: () => number;
  timeLimit: { ms: number; error: () => HoldfastError };
  /** Where the engine keeps the conversation, as soon as it says so. */
  onSession: (id: string) => Promise<void>;
  /** The engine has shortened its conversation. Left out: nobody need know. */
  onCompaction?: () => void;
  /** Left out: 5 s. */
  leaveAfterMs?: number | undefined;
}

export interface EngineRunResult {
  ending: { kind: "done" } | { kind: "aborted" } | { kind: "failed"; error: unknown };
  /** What came in pieces and never as a message. */
  unsaid: string;
  usage: EngineUsage | undefined;
  compactions: number;
}

/** No answer is so long; an engine that says more has lost its way. In UTF-16 units. */
const MOST_TEXT = 1024 * 1024;

/** One turn need not fill a disk. */
const MOST_FETCHED = 64 * MOST_TEXT;

export async function runEngine(request: EngineRunRequest): Promise<EngineRunResult> {
  const { engine, turn, signal, timeLimit, leaveAfterMs = LEAVE_AFTER_MS } = request;
  const state: RunState = { unsaid: "", streamed: 0, said: 0, fetched: 0, usage: undefined, compactions: 0 };
  if (signal.aborted) return { ...resultOf(state), ending: { kind: "aborted" } };

  using stop = createEngineStop({ signal, timeLimit, leaveAfterMs });
  let failure: { error: unknown } | undefined;
  let endedItself = false;
  const iterator = start(engine, turn, stop.signal);
  try {
    for (;;) {
      const step = await stop.orLeft(iterator.next()).catch((error: unknown) => {
        failure = { error };
        return undefined;
      });
      if (step === LEFT) void endQuietly(iterator);
      endedItself = step !== undefined && step !== LEFT && step.done === true;
      if (step === undefined || step === LEFT || step.done === true) break;
      await take(step.value, request, state, stop);
    }
  } catch (error) {
    void endQuietly(iterator);
    throw error;
  } finally {
    request.watch.flush();
  }
  // It may have been told to stop when it had just finished.
  const finished = endedItself && state.unsaid === "" && isAnswered(request.record.words);
  return { ...resultOf(state), ending: endingOf(stop, failure, finished) };
}

interface RunState {
  unsaid: string;
  /** How much text came in pieces, and how much as messages. */
  streamed: number;
  said: number;
  /** How much tools have handed over. */
  fetched: number;
  usage: EngineUsage | undefined;
  compactions: number;
}

function resultOf({ unsaid, usage, compactions }: RunState): Omit<EngineRunResult, "ending"> {
  return { unsaid, usage, compactions };
}

/** An engine may fail before its first event; that is its failure too. */
function start(engine: Engine, turn: EngineTurn, signal: AbortSignal): AsyncIterator<EngineEvent> {
  try {
    return engine.run(turn, signal)[Symbol.asyncIterator]();
  } catch (error) {
    return { next: async () => await Promise.reject(error) };
  }
}

/** Never waited for: an engine that hangs does so here too. */
async function endQuietly(iterator: AsyncIterator<EngineEvent>): Promise<void> {
  await iterator.return?.().catch(() => undefined);
}

async function take(event: EngineEvent, request: EngineRunRequest, state: RunState, stop: EngineStop): Promise<void> {
  const { record, watch } = request;
  switch (event.type) {
    case "text":
      state.streamed += event.text.length;
      if (state.streamed > MOST_TEXT) return stop.stop(tooMuch());
      state.unsaid += event.text;
      return watch.text(event.text);
    case "message":
      return await takeMessage(event.message, request, state, stop);
    case "tool-start":
      return watch.tool("start", event);
    case "tool-end":
      return watch.tool("end", event);
    case "usage":
      state.usage = event.usage;
      return;
    case "compaction":
      if (event.phase === "end") {
        state.compactions += 1;
        request.onCompaction?.();
      }
      return watch.compaction(event.phase);
    case "session":
      return await request.onSession(event.id);
    case "sent": {
      const { type: _type, ...sent } = event;
      return await record.sent(sent);
    }
    case "steered":
      watch.flush();
      return await record.steered(event.text, request.now(), event.mark);
    case "notice":
      if (record.words.notices.length >= MOST_NOTICES) return;
      await record.notice(event.text.slice(0, LONGEST_NOTICE));
      return watch.notice(event.text.slice(0, LONGEST_NOTICE));
  }
}

/** A person reads them one by one. */
const MOST_NOTICES = 20;
const LONGEST_NOTICE = 4000;

async function takeMessage(
  message: EngineMessage,
  { record, watch }: EngineRunRequest,
  state: RunState,
  stop: EngineStop,
): Promise<void> {
  watch.flush();
  const room = message.role === "assistant" ? Math.max(0, MOST_TEXT - state.said) : MOST_TEXT;
  await record.say(cutMessage(message, room));
  faultPoint("turn.engine-spoke");
  const { length } = contentText(message.content);
  if (message.role === "assistant") {
    state.unsaid = "";
    state.said += length;
  } else {
    state.fetched += Math.min(length, MOST_TEXT);
  }
  if (state.said > MOST_TEXT || state.fetched > MOST_FETCHED) stop.stop(tooMuch());
}

function endingOf(
  stop: EngineStop,
  failure: { error: unknown } | undefined,
  finished: boolean,
): EngineRunResult["ending"] {
  if (stop.cause !== undefined) return { kind: "failed", error: stop.cause };
  if (stop.signal.aborted && !finished) return { kind: "aborted" };
  return failure === undefined ? { kind: "done" } : { kind: "failed", error: failure.error };
}

function tooMuch(): HoldfastError {
  return new HoldfastError("unavailable", "answer-too-long", "The answer became too long and was stopped", {
    hint: "What was said so far is in the transcript. Ask for less at a time.",
  });
}
