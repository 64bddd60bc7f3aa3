/** One agent with everything that a turn needs: `await using home = await createTurnHome(engine)`. */
import { installFaultAction, type FaultPoint } from "../../src/base/faults.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import type { Engine, EngineEvent, EngineTurn } from "../../src/engine/engine.ts";
import { resolveInboundSessionKey } from "../../src/keys/inbound.ts";
import type { MessageContext } from "../../src/keys/message-context.ts";
import { transcriptPath } from "../../src/session/agent-handle.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { AssistantMessage, MessageEntry, TranscriptEntry } from "../../src/transcript/entries.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import type { TurnEvent, AgentParts, TurnRequest, TurnResult } from "../../src/turn/pipeline.ts";
import { giveUpTurn, runTurn } from "../../src/turn/run/run-turn.ts";
import { type AgentHome, createAgentHome } from "./agent-home.ts";
import { agentParts } from "./stand-ins.ts";

export interface TurnHome extends AsyncDisposable {
  fixture: AgentHome;
  parts: AgentParts;
  events: TurnEvent[];
  /** Runs a turn with a new id, attempt 1. Default: from Ada's direct chat. */
  say(message: string | MessageContext | MessageContext[], options?: Partial<TurnRequest>): Promise<TurnResult>;
  /** The same in a process that dies at this point, from the n-th time on. Default: the first. */
  dieAt(
    point: FaultPoint,
    message: string | MessageContext,
    options?: Partial<TurnRequest>,
    times?: number,
  ): Promise<void>;
  /** Gives the turn up instead. */
  giveUp(message: string, error: unknown, options?: Partial<TurnRequest>): Promise<TurnResult>;
  entry(): Promise<SessionEntry>;
  /** All entries of the current window, or of the given one. */
  lines(entry?: SessionEntry): Promise<TranscriptEntry[]>;
  messages(entry?: SessionEntry): Promise<MessageEntry[]>;
}

export const ADA: MessageContext = {
  Provider: "telegram",
  From: "telegram:1",
  OriginatingChannel: "telegram",
  OriginatingTo: "telegram:1",
  ChatType: "direct",
  SenderId: "1",
  SenderName: "Ada",
  CommandAuthorized: true,
};

export const ADA_KEY = "agent:main:telegram:dm:1";

export interface TurnHomeOptions {
  config?: (config: HoldfastConfig) => HoldfastConfig;
  skills?: { name: string }[];
}

export async function createTurnHome(engine: Engine, options: TurnHomeOptions = {}): Promise<TurnHome> {
  const fixture = await createAgentHome("sqlite");
  const { agent } = fixture;
  const config = options.config?.(fixture.config) ?? fixture.config;
  const events: TurnEvent[] = [];
  const parts: AgentParts = {
    ...agentParts({ agent, config, engine }),
    describeWorkspace: async () => ({ system: "You are a test.", skills: options.skills ?? [], version: 1 }),
  };
  let count = 0;
  let lastKey = "";

  const perform = async (
    message: string | MessageContext | MessageContext[],
    given: Partial<TurnRequest>,
    run: (request: TurnRequest) => Promise<TurnResult>,
  ): Promise<TurnResult> => {
    const contexts = [message]
      .flat()
      .map((one) => (typeof one === "string" ? { ...ADA, Body: one } : { ...ADA, ...one }));
    const [first = ADA] = contexts;
    lastKey = resolveInboundSessionKey(first, { agentId: agent.agentId, session: config.session });
    const turnId = given.turnId ?? `turn-${++count}`;
    return await withSessionLease(agent, lastKey, {}, async (held) => {
      const result = await run({
        parts,
        held,
        turnId,
        itemId: count,
        attempt: 1,
        messages: contexts,
        signal: new AbortController().signal,
        emit: (event) => void events.push(event),
        ...given,
      });
      // The lane does this when it ends the messages.
      if (result.settle !== undefined) await agent.store.update(lastKey, result.settle, { lease: held.lease });
      return result;
    });
  };
  const say: TurnHome["say"] = async (message, given = {}) => await perform(message, given, runTurn);
  const entry = async (): Promise<SessionEntry> => {
    const found = await agent.store.get(lastKey);
    if (found === undefined) throw new Error(`no entry ${lastKey}`);
    return found;
  };
  const lines = async (of?: SessionEntry): Promise<TranscriptEntry[]> => {
    const found: TranscriptEntry[] = [];
    for await (const item of readTranscript(await transcriptPath(agent, of ?? (await entry())))) {
      if (item.kind === "entry") found.push(item.entry);
    }
    return found;
  };
  return {
    fixture,
    parts,
    events,
    say,
    entry,
    lines,
    messages: async (of) => (await lines(of)).filter((line) => line.type === "message"),
    giveUp: async (message, error, given = {}) =>
      await perform(message, given, async (request) => await giveUpTurn(request, error)),
    dieAt: async (point, message, given, times = 1) => {
      let left = times;
      installFaultAction((reached) => {
        if (reached === point && --left <= 0) throw new Death(point);
      });
      try {
        await say(message, given);
      } catch (error) {
        if (!(error instanceof Death)) throw error;
        return;
      } finally {
        installFaultAction(undefined);
      }
      throw new Error(`${point} was not reached`);
    },
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
    },
  };
}

class Death extends Error {}

export type Script = (turn: EngineTurn, signal: AbortSignal) => AsyncIterable<EngineEvent> | Iterable<EngineEvent>;

export interface ScriptedEngine extends Engine {
  /** Requested turns, in order. */
  turns: EngineTurn[];
}

export function scriptedEngine(script: Script, members: Partial<Engine> = {}): ScriptedEngine {
  const turns: EngineTurn[] = [];
  return {
    name: "model",
    keepsConversation: false,
    turns,
    async *run(turn, signal) {
      turns.push(turn);
      yield* script(turn, signal);
    },
    close: async () => undefined,
    ...members,
  };
}

/** A complete answer event. */
export function answer(text: string, more: Partial<AssistantMessage> = {}): EngineEvent {
  const message: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text }],
    provider: "test",
    model: "scripted",
    stopReason: "stop",
    timestamp: 1,
    ...more,
  };
  return { type: "message", message };
}

export function toolCall(id: string, text = ""): EngineEvent {
  const call = { type: "toolCall" as const, id, name: "list_files", arguments: { path: "." } };
  return answer(text, {
    content: [...(text === "" ? [] : [{ type: "text" as const, text }]), call],
    stopReason: "toolUse",
  });
}

export function toolResult(id: string, text: string): EngineEvent {
  return {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: id,
      toolName: "list_files",
      content: [{ type: "text", text }],
      isError: false,
      timestamp: 1,
    },
  };
}

export function usage(input: number): EngineEvent {
  return {
    type: "usage",
    usage: { provider: "test", model: "scripted", input, output: 5, cacheRead: 0, cacheWrite: 0 },
  };
}
