/**
 * `holdfast chat`: a conversation in the terminal, through the gateway or with `--local` in this process. On a
 * terminal it prompts and streams the answer; otherwise it reads one message per line from stdin. Replies go to
 * stdout, everything else to stderr.
 */
import { userInfo } from "node:os";
import { type Interface, createInterface } from "node:readline";
import { nodeCrypto } from "../../base/builtin.ts";
import { closing } from "../../base/async.ts";
import { ERROR_KINDS, HoldfastError, undefinedOn } from "../../base/errors.ts";
import { canonicalSessionKey } from "../../keys/canonical-key.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { buildAgentMainSessionKey, parseAgentSessionKey } from "../../keys/session-key.ts";
import { findSession } from "../../session/find-session.ts";
import { type AnswerPrinter, createAnswerPrinter, turnFailure, withoutFailureText } from "../answer-printer.ts";
import type { Flags, Texts } from "../command.ts";
import { STORE_MISSING, type Setup, assertAgentId, loadSetup, withAgent } from "../context.ts";
import { reportFailure } from "../help.ts";
import { print, style, talk } from "../output.ts";
import { type LiveCaller, openCaller } from "../gateway-client.ts";
import { engineNameOf } from "../../compose/agent-pool.ts";
import type { RpcEvent } from "../../rpc/protocol.ts";
import type { TurnEnd } from "../../turn/pipeline.ts";

type ChatOptions = Flags<"local"> & Texts<"agent" | "session">;

export async function chat(options: ChatOptions): Promise<void> {
  const setup = await loadSetup();
  const session = await chooseSession(setup, options);
  const caller = await openCaller(setup, options);
  await using _closing = closing(caller);
  const conversation = await openConversation(caller, session);
  talk(`Session ${session.sessionKey}. ${session.greeting} /help lists the commands.`);
  await converse(conversation, session);
}

interface ChatSession {
  agentId: string;
  sessionKey: string;
  /** The window that is open before the first message; undefined for a new session. */
  sessionId: string | undefined;
  greeting: string;
}

async function chooseSession({ config }: Setup, options: ChatOptions): Promise<ChatSession> {
  assertAgentId(options.agent);
  const named = options.session?.trim();
  const agentId = normalizeAgentId(options.agent ?? parseAgentSessionKey(named)?.agentId ?? config.defaultAgent);
  const key = named === undefined ? ownKey(config, agentId) : namedKey(named, config, agentId);
  const known = key === undefined ? await findByName(agentId, named ?? "") : await findByKey(agentId, key);
  const engine = engineNameOf(config, agentId);
  return {
    agentId,
    ...known,
    greeting: engine === "echo" ? "No model is configured: the echo engine answers." : `${engine} answers.`,
  };
}

function ownKey(config: Setup["config"], agentId: string): string {
  const name = userInfo().username;
  const person = { Provider: "cli", Surface: "cli", ChatType: "direct", From: `cli:${name}`, SenderId: name };
  return resolveInboundSessionKey(person, { agentId, session: config.session });
}

/** The key if `named` is a full key or the short name of the main session; any other text is a label. */
function namedKey(named: string, { session: { mainKey } }: Setup["config"], agentId: string): string | undefined {
  const main = buildAgentMainSessionKey({ agentId, mainKey });
  const key = canonicalSessionKey(named, { agentId, mainKey });
  return parseAgentSessionKey(named) !== null || key === main ? key : undefined;
}

type KnownSession = Pick<ChatSession, "sessionKey" | "sessionId">;

async function findByName(agentId: string, name: string): Promise<KnownSession> {
  return await withAgent({ agent: agentId }, async (agent) => {
    const { key, entry } = await findSession(agent, name);
    return { sessionKey: key, sessionId: entry.sessionId };
  });
}

/** The session may not exist yet: the first message creates it. */
async function findByKey(agentId: string, sessionKey: string): Promise<KnownSession> {
  const reading = withAgent({ agent: agentId }, async ({ store }) => await store.get(sessionKey));
  return { sessionKey, sessionId: (await undefinedOn(reading, STORE_MISSING))?.sessionId };
}

async function converse(conversation: Conversation, { sessionId }: ChatSession): Promise<void> {
  const interactive = process.stdin.isTTY && process.stdout.isTTY;
  const input = createInterface({
    input: process.stdin,
    ...(interactive ? { output: process.stdout, prompt: style("cyan", "> ") } : {}),
  });
  using interrupts = listenForInterrupts(input, async () => await conversation.abort());
  const printer = createAnswerPrinter(interactive, sessionId);
  const prompt = (): void => {
    if (interactive && !interrupts.isLeaving()) input.prompt();
  };
  conversation.onTask((text) => {
    interrupts.whenQuiet(() => {
      if (interactive) process.stdout.write(CLEAR_LINE);
      print(text);
      prompt();
    });
  });
  prompt();
  try {
    for await (const line of input) {
      const text = line.trim();
      if (text === "/quit" || text === "/exit") break;
      if (text !== "") await interrupts.during(answer(conversation, text, printer));
      if (interrupts.isLeaving()) break;
      prompt();
    }
  } finally {
    // An open stdin would keep the process alive.
    input.close();
  }
  if (interrupts.isLeaving()) process.exitCode = ERROR_KINDS.interrupted.exitCode;
}

/** Removes the prompt. */
const CLEAR_LINE = "\r\u001b[K";

/** A failed message does not end the conversation; the exit code still reports it. */
async function answer(conversation: Conversation, text: string, printer: AnswerPrinter): Promise<void> {
  try {
    const end = await conversation.say(text, printer.onEvent);
    const failure = turnFailure(end);
    printer.end({ ...end, text: withoutFailureText(end.text, failure) });
    if (failure?.kind === "interrupted") talk("Stopped.");
    else if (failure !== undefined) throw failure;
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code === "gateway-gone") throw error;
    process.exitCode = reportFailure(error, { json: false });
  }
}

/**
 * Ctrl-C during an answer stops the turn and keeps the answer so far; a second one, or one at the prompt,
 * leaves. On a terminal readline reports it, otherwise it arrives as a signal.
 */
function listenForInterrupts(input: Interface, abort: () => Promise<boolean>) {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let isAnswering = false;
  let isStopping = false;
  let isLeaving = false;
  const waiting: (() => void)[] = [];

  const onInterrupt = (): void => {
    if (isAnswering && !isStopping) {
      isStopping = true;
      // If the turn cannot be stopped any more, it ends on its own.
      abort().catch(() => undefined);
      // An interrupted script does not want its next line answered.
      if (!process.stdin.isTTY) isLeaving = true;
      return;
    }
    isLeaving = true;
    leave();
    input.close();
  };
  input.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);

  return {
    /** Resolves with the answer, or as soon as the person leaves. */
    during: async (answering: Promise<void>): Promise<void> => {
      isAnswering = true;
      isStopping = false;
      try {
        await Promise.race([answering, left]);
      } finally {
        isAnswering = false;
        for (const action of waiting.splice(0)) action();
      }
    },
    /** Runs the action now, or after the current answer. */
    whenQuiet: (action: () => void): void => {
      if (isAnswering) waiting.push(action);
      else action();
    },
    isLeaving: (): boolean => isLeaving,
    [Symbol.dispose]: (): void => {
      process.off("SIGINT", onInterrupt);
      input.off("SIGINT", onInterrupt);
    },
  };
}

type Conversation = Awaited<ReturnType<typeof openConversation>>;

export async function openConversation(
  caller: LiveCaller,
  { agentId, sessionKey }: Pick<ChatSession, "agentId" | "sessionKey">,
) {
  let listener: ReturnType<typeof listenForTurn> | undefined;
  let showTask: ((text: string) => void) | undefined;
  await caller.watch({ sessionKeys: [sessionKey] }, (event) => {
    listener?.onEvent(event);
    if (event.type === "task.changed" && event.text !== undefined) showTask?.(event.text);
  });

  return {
    /** Resolves with the end of the turn that answers. The listener gets the events until then. */
    say: async (text: string, onEvent: (event: RpcEvent) => void): Promise<TurnEnd> => {
      const turn = listenForTurn(onEvent);
      listener = turn;
      try {
        const idempotencyKey = nodeCrypto().randomUUID();
        const admitted = await Promise.race([
          caller.call("chat.send", { sessionKey, agentId, message: text, idempotencyKey }),
          caller.lost,
        ]);
        turn.expect(admitted.itemId);
        return await Promise.race([turn.ended, caller.lost]);
      } finally {
        listener = undefined;
      }
    },
    /** Messages of tasks, which arrive at any time. */
    onTask: (show: (text: string) => void): void => {
      showTask = show;
    },
    abort: async (): Promise<boolean> => (await caller.call("chat.abort", { sessionKey, agentId })).aborted,
  };
}

/** Events can arrive before the response to `chat.send`, so they are kept until our item is known. */
function listenForTurn(onEvent: (event: RpcEvent) => void) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<TurnEnd>();
  ended.catch(() => undefined);
  let early: RpcEvent[] | undefined = [];
  let ours = 0;
  const take = (event: RpcEvent): void => {
    if (event.type === "message.dropped" && event.itemIds.includes(ours)) reject(messageDropped(event.reason));
    if (!("itemId" in event) || event.itemId < ours) return;
    onEvent(event);
    if (event.type === "turn.ended") resolve(event);
  };
  return {
    onEvent: (event: RpcEvent): void => {
      if (early === undefined) take(event);
      else early.push(event);
    },
    /** Sets the inbox item of our message; the turn that answers has this number or a higher one. */
    expect: (itemId: number): void => {
      ours = itemId;
      const waiting = early ?? [];
      early = undefined;
      for (const event of waiting) take(event);
    },
    ended,
  };
}

function messageDropped(reason: string): HoldfastError {
  const [why, hint] =
    reason === "stopped"
      ? ["it was stopped", "Send it again to get an answer."]
      : [reason, "Too many messages are waiting in this session. Try again later."];
  return new HoldfastError("unavailable", "message-dropped", `The message was not answered: ${why}`, { hint });
}
