/** `holdfast agent`: sends one message and prints the answer. Uses the gateway, or with `--local` this process. */
import { nodeCrypto } from "../../base/builtin.ts";
import { ERROR_KINDS, type ErrorKind, HoldfastError } from "../../base/errors.ts";
import type { ParamsOf, ResultOf } from "../../rpc/contract.ts";
import { errorFromReport, mediaLine, silenceText, withoutFailureText } from "../answer-printer.ts";
import { type Counts, type Flags, type Texts, invalidOption } from "../command.ts";
import { assertAgentId, loadSetup } from "../context.ts";
import { print, printJson, talk, waitingLine } from "../output.ts";
import { type LiveCaller, openCaller } from "../gateway-client.ts";
import type { RpcEvent } from "../../rpc/protocol.ts";
import type { TurnName } from "../../turn/pipeline.ts";

type AgentOptions = Flags<"json" | "deliver" | "local"> &
  Texts<"message" | "to" | "sessionId" | "agent" | "channel"> &
  Counts<"timeout"> & { thinking?: ParamsOf<"agent">["thinking"] };

type AgentResult = ResultOf<"agent">;

export async function agent(options: AgentOptions): Promise<void> {
  const params = toParams(options);
  const setup = await loadSetup();
  const caller = await openCaller(setup, options);
  try {
    using interrupt = stopOnInterrupt(caller, params);
    using line = waitingLine("Waiting for the answer");
    await caller.watch({ events: ["message.admitted", "turn.tool"] }, toolPrinter(params, line.talk));
    const result = await Promise.race([caller.call("agent", params), caller.lost, interrupt.leaving]);
    printAnswer(result, options);
  } finally {
    await caller.close();
  }
  if (options.local === true && options.deliver === true) {
    talk("The answer will be delivered when the gateway runs.");
  }
}

/** Prints the tools of our turn if the session is verbose. Only the first event names our item. */
function toolPrinter({ idempotencyKey }: ParamsOf<"agent">, show: (line: string) => void) {
  let own: TurnName | undefined;
  return (event: RpcEvent): void => {
    if (event.type === "message.admitted" && event.messageId === idempotencyKey) own = event;
    if (event.type !== "turn.tool" || event.line === undefined || own === undefined) return;
    if (event.sessionKey === own.sessionKey && event.itemId >= own.itemId) show(event.line);
  };
}

function toParams(options: AgentOptions): ParamsOf<"agent"> {
  const { message = "", to, sessionId, agent: agentId, thinking, channel, timeout } = options;
  if (message.trim() === "") {
    throw new HoldfastError("usage", "message-missing", "No message given", {
      hint: 'Give the message with -m: holdfast agent -m "…"',
    });
  }
  if (to !== undefined && sessionId !== undefined) {
    throw invalidOption("--to and --session-id each choose a session", "Use only one of them.");
  }
  assertAgentId(agentId);
  // Only keys contain colons.
  const isKey = sessionId?.includes(":") === true;
  return {
    message,
    idempotencyKey: nodeCrypto().randomUUID(),
    to,
    sessionKey: isKey ? sessionId : undefined,
    sessionId: isKey ? undefined : sessionId,
    agentId: agentId?.trim().toLowerCase(),
    thinking,
    channel,
    timeoutSeconds: timeout,
    deliver: options.deliver === true,
  };
}

/** The first Ctrl-C stops the turn and waits for its end; the second one exits. */
function stopOnInterrupt(caller: LiveCaller, params: ParamsOf<"agent">): { leaving: Promise<never> } & Disposable {
  const { promise: leaving, reject } = Promise.withResolvers<never>();
  leaving.catch(() => undefined);
  let isStopping = false;
  const onInterrupt = (): void => {
    if (isStopping) reject(new HoldfastError("interrupted", "interrupted", "Interrupted; the turn may continue"));
    isStopping = true;
    stopTurn(caller, params).catch(reject);
  };
  process.on("SIGINT", onInterrupt);
  return { leaving, [Symbol.dispose]: () => process.off("SIGINT", onInterrupt) };
}

/** The same request again returns at once and names the session of the running turn. */
async function stopTurn(caller: LiveCaller, params: ParamsOf<"agent">): Promise<void> {
  const { agentId, sessionKey } = await caller.call("agent", { ...params, timeoutSeconds: 0.001 });
  await caller.call("chat.abort", { agentId, sessionKey });
}

function printAnswer(result: AgentResult, { json, local = false }: AgentOptions): void {
  const failure = failureOf(result, local);
  if (json === true) {
    printJson({ schema: 1, ...result });
    if (failure !== undefined) process.exitCode = ERROR_KINDS[failure.kind].exitCode;
    return;
  }
  for (const payload of result.result?.payloads ?? []) {
    const text = withoutFailureText(payload.text, failure);
    if (text !== undefined && text !== "") print(text);
    for (const ref of payload.mediaUrls ?? []) print(mediaLine(ref));
  }
  if (failure !== undefined) throw failure;
  if (result.result === undefined) return;
  const { meta, payloads } = result.result;
  const { outcome, withheld } = meta;
  const silence = silenceText({ outcome, withheld, text: payloads[0]?.text, media: payloads[0]?.mediaUrls });
  if (silence !== undefined) talk(silence);
}

function failureOf({ status, summary, error, sessionKey }: AgentResult, isLocal: boolean): HoldfastError | undefined {
  if (status === "ok") return undefined;
  if (status === "aborted") return new HoldfastError("interrupted", "turn-aborted", "The turn was stopped");
  if (status === "timeout") {
    const next = isLocal ? "the gateway continues the turn when it runs" : "the turn continues";
    return new HoldfastError("timeout", "answer-late", `No answer yet; ${next}`, {
      hint: `Read it later: holdfast history ${sessionKey}`,
    });
  }
  const { code = "turn-failed", kind = "internal", message = summary, hint } = error ?? {};
  return errorFromReport({ code, kind: kind as ErrorKind, message, hint, retryable: false });
}
