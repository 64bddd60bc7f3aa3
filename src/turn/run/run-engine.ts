/**
 * One run of an engine. Each message is in the transcript before the engine is asked for the next event. The
 * run always ends: on its own, by abort, by the time limit, by too much output, or because the engine ignores
 * the abort signal and is abandoned. Failures of the engine become the ending of the run. Failures of the
 * transcript or the store are thrown, because nothing can be promised then.
 */
import { hostname } from "node:os";
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Engine, EngineEvent, EngineTurn, EngineUsage } from "../../engine/engine.ts";
import type { ContentBlock, MessageContent } from "../../transcript/entries.ts";
import { MAX_TIMER_MS } from "../lanes/waiting.ts";
import {
  type EngineMessage,
  type TurnRecord,
  type TurnWatch,
  isAnswered,
  modelOf,
  updateOwnEntry,
} from "./turn-record.ts";
import { type SessionEntry, claudeSessionOf } from "../../store/session-entry.ts";
import type { TurnRequest } from "../pipeline.ts";
import type { Store } from "../../store/store.ts";
import { attachmentsOf, contentText } from "../../transcript/messages.ts";

export interface EngineRunRequest {
  engine: Engine;
  turn: EngineTurn;
  record: TurnRecord;
  watch: TurnWatch;
  signal: AbortSignal;
  now: () => number;
  timeLimit: { ms: number; error: () => HoldfastError };
  /** Called with the id of the conversation that the engine keeps. */
  onSession: (id: string) => Promise<void>;
  /** Called when the engine has shortened its conversation. Optional. */
  onCompaction?: (() => void) | undefined;
  /** Called when the engine starts a tool. Returns the line that shows it. Optional: none is shown. */
  onTool?: ((tool: { id: string; name: string; input: unknown }) => Promise<string | undefined>) | undefined;
  /** Called with the text since the last message. Optional. */
  onText?: ((unsaid: string) => void) | undefined;
  /** How long the engine may take to end after an abort. Default: 5 s. */
  leaveAfterMs?: number | undefined;
}

export interface EngineRunResult {
  ending: { kind: "done" } | { kind: "aborted" } | { kind: "failed"; error: unknown };
  /** Streamed text that did not arrive as a message. */
  unsaid: string;
  usage: EngineUsage | undefined;
  compactions: number;
}

const MAX_TEXT = 1024 * 1024;
const MAX_FETCHED = 64 * MAX_TEXT;

export async function runEngine(request: EngineRunRequest): Promise<EngineRunResult> {
  const { engine, turn, signal } = request;
  const state: RunState = { unsaid: "", streamed: 0, said: 0, fetched: 0, usage: undefined, compactions: 0 };
  const endAs = (ending: EngineRunResult["ending"]): EngineRunResult => ({ ...state, ending });
  if (signal.aborted) return endAs({ kind: "aborted" });

  using stop = createEngineStop(request);
  let failure: { error: unknown } | undefined;
  let endedItself = false;
  const iterator = engine.run(turn, stop.signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await stop.orAbandoned(iterator.next()).catch((error: unknown) => {
        failure = { error };
        return undefined;
      });
      if (step === ABANDONED) void endQuietly(iterator);
      endedItself = step !== undefined && step !== ABANDONED && step.done === true;
      if (step === undefined || step === ABANDONED || step.done === true) break;
      await takeEvent(step.value, request, state, stop);
    }
  } catch (error) {
    void endQuietly(iterator);
    throw error;
  } finally {
    request.watch.flush();
  }
  // An abort may come when the engine has just finished.
  const finished = endedItself && state.unsaid === "" && isAnswered(request.record.words);
  if (stop.cause !== undefined) return endAs({ kind: "failed", error: stop.cause });
  if (stop.signal.aborted && !finished) return endAs({ kind: "aborted" });
  return endAs(failure === undefined ? { kind: "done" } : { kind: "failed", ...failure });
}

export interface SessionRun
  extends Pick<TurnRequest, "parts" | "held">, Omit<EngineRunRequest, "engine" | "turn" | "now" | "onSession"> {
  sessionKey: string;
  entry: SessionEntry;
  question: Pick<EngineTurn, "kind" | "text" | "context" | "system">;
}

export async function runInSession(run: SessionRun): Promise<EngineRunResult> {
  const { parts, held, sessionKey, entry, question } = run;
  const { agent, config, engine } = parts;
  const { sessionId, sdkSessionId, thinkingLevel: thinking } = entry;
  const engineSessionId = engine.name === "claude-code" ? claudeSessionOf(entry) : sdkSessionId;
  const { agentId, workspace } = agent;
  const model = modelOf(entry, config, agentId);
  const asked = await withLocalFiles(question, agent.store);
  return await runEngine({
    ...run,
    engine,
    turn: { agentId, sessionKey, sessionId, model, thinking, workspace, engineSessionId, ...asked },
    now: () => agent.clock.now(),
    signal: AbortSignal.any([run.signal, held.signal]),
    // Stored at once, so that a crash does not lose the engine's conversation.
    onSession: async (id) => {
      const window = { agent, held, sessionKey, sessionId };
      const sdkSessionHost = agent.store.cluster === undefined ? undefined : hostname();
      if (id !== sdkSessionId) await updateOwnEntry(window, () => ({ sdkSessionId: id, sdkSessionHost }));
    },
  });
}

/** Attached files may have been received by another machine, under another path. */
async function withLocalFiles(question: SessionRun["question"], { media }: Store): Promise<SessionRun["question"]> {
  const attached = attachmentsOf(question.context).map(({ path }) => path);
  const located = await Promise.all(attached.map(async (path) => ({ path, local: await media.locate(path) })));
  const moved = located.filter(({ path, local }) => path !== local);
  if (moved.length === 0) return question;
  // Also where the conversation mentions them.
  const json = moved.reduce(
    (text, { path, local }) => text.replaceAll(quoted(path), quoted(local)),
    JSON.stringify(question),
  );
  return JSON.parse(json) as SessionRun["question"];
}

function quoted(path: string): string {
  return JSON.stringify(path).slice(1, -1);
}

type RunState = Omit<EngineRunResult, "ending"> & Record<"streamed" | "said" | "fetched", number>;

/** Callers do not wait for this, because an engine that hangs would hang here too. */
async function endQuietly(iterator: AsyncIterator<EngineEvent>): Promise<void> {
  await iterator.return?.().catch(() => undefined);
}

async function takeEvent(
  event: EngineEvent,
  request: EngineRunRequest,
  state: RunState,
  stop: ReturnType<typeof createEngineStop>,
): Promise<void> {
  const { record, watch } = request;
  switch (event.type) {
    case "text":
      state.streamed += event.text.length;
      if (state.streamed > MAX_TEXT) return stop.stop(answerTooLong());
      state.unsaid += event.text;
      request.onText?.(state.unsaid);
      return watch.text(event.text);
    case "message":
      await takeMessage(event.message, request, state);
      if (state.said > MAX_TEXT || state.fetched > MAX_FETCHED) stop.stop(answerTooLong());
      return;
    case "tool-start":
      return watch.tool("start", { ...event, line: await request.onTool?.(event) });
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
      if (record.words.notices.length >= MAX_NOTICES) return;
      await record.notice(event.text.slice(0, MAX_NOTICE_TEXT));
      return watch.notice(event.text.slice(0, MAX_NOTICE_TEXT));
  }
}

/** Each notice is a message to a person. */
const MAX_NOTICES = 20;
const MAX_NOTICE_TEXT = 4000;

async function takeMessage(message: EngineMessage, { record, watch, onText }: EngineRunRequest, state: RunState) {
  watch.flush();
  const room = message.role === "assistant" ? Math.max(0, MAX_TEXT - state.said) : MAX_TEXT;
  await record.say({ ...message, content: cutContent(message.content, room) });
  onText?.("");
  faultPoint("turn.engine-spoke");
  const { length } = contentText(message.content);
  if (message.role === "assistant") {
    state.unsaid = "";
    state.said += length;
  } else {
    state.fetched += Math.min(length, MAX_TEXT);
  }
}

function answerTooLong(): HoldfastError {
  return new HoldfastError("unavailable", "answer-too-long", "The answer became too long and was stopped", {
    hint: "The text so far is in the transcript. Ask for less at a time.",
  });
}

export const ABANDONED = Symbol("abandoned");

/** Stops an engine by its signal, and abandons it when it ignores that, so that no engine blocks a session. */
export function createEngineStop(options: Pick<EngineRunRequest, "signal" | "timeLimit" | "leaveAfterMs">) {
  const { timeLimit, leaveAfterMs = 5000 } = options;
  const own = new AbortController();
  const signal = AbortSignal.any([options.signal, own.signal]);
  let abandoning: NodeJS.Timeout | undefined;
  let isAbandoned = false;
  let leave: (() => void) | undefined;
  const onAbort = (): void => {
    abandoning = setTimeout(() => {
      isAbandoned = true;
      leave?.();
    }, leaveAfterMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const limit = setTimeout(() => own.abort(timeLimit.error()), Math.min(timeLimit.ms, MAX_TIMER_MS));

  return {
    signal,
    stop: (cause: HoldfastError): void => own.abort(cause),
    /** Why `stop` or the time limit stopped the engine. Undefined after an abort of the turn. */
    get cause(): unknown {
      return own.signal.aborted && signal.reason === own.signal.reason ? signal.reason : undefined;
    },
    /** The next step of the engine, or `ABANDONED` when it did not end in time. */
    orAbandoned: <T>(step: Promise<T>): Promise<T | typeof ABANDONED> =>
      new Promise((resolve, reject) => {
        leave = () => resolve(ABANDONED);
        step.then(resolve, reject);
        if (isAbandoned) leave();
      }),
    [Symbol.dispose]: () => {
      clearTimeout(limit);
      clearTimeout(abandoning);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

/** Cuts the text of a message to `room`, and says how much was cut: a tool may return a whole disk. */
function cutContent(content: MessageContent, room: number): MessageContent {
  if (typeof content === "string") return cutText(content, room);
  let left = room;
  return content.map((block): ContentBlock => {
    if (block.type !== "text") return block;
    const text = cutText(block.text, left);
    left = Math.max(0, left - block.text.length);
    return { ...block, text };
  });
}

function cutText(text: string, room: number): string {
  if (text.length <= room) return text;
  return `${text.slice(0, room).toWellFormed()}… (${text.length - room} more characters)`;
}
