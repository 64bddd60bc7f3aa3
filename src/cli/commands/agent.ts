/** `holdfast agent`: one message, one answer on stdout. Through the gateway, or with `--local` in this process. */
import { nodeCrypto } from "../../base/builtin.ts";
import { ERROR_KINDS, type ErrorKind, HoldfastError } from "../../base/errors.ts";
import type { ParamsOf, ResultOf } from "../../rpc/contract.ts";
import { parseAmount, parseChoice } from "../arguments.ts";
import { assertAgentId, loadSetup } from "../context.ts";
import { print, printJson, talk } from "../output.ts";
import { openCaller } from "../rpc/open-caller.ts";
import type { LiveCaller } from "../rpc/live-caller.ts";
import { errorFromReport, saidBefore, silenceText } from "../rpc/turn-end.ts";
import { waitingLine } from "../waiting-line.ts";

export interface AgentOptions {
  message?: string;
  to?: string;
  sessionId?: string;
  agent?: string;
  thinking?: string;
  deliver?: boolean;
  channel?: string;
  local?: boolean;
  timeout?: string;
  json?: boolean;
}

type AgentResult = ResultOf<"agent">;

export async function agent(options: AgentOptions): Promise<void> {
  const params = toParams(options);
  const setup = await loadSetup();
  const caller = await openCaller(setup, options);
  try {
    using interrupt = stopOnInterrupt(caller, params);
    using _line = waitingLine("Waiting for the answer");
    const result = await Promise.race([caller.call("agent", params), caller.lost, interrupt.leaving]);
    printAnswer(result, options);
  } finally {
    await caller.close();
  }
  if (options.local === true && options.deliver === true) talk("The answer goes out as soon as the gateway runs.");
}

const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

function toParams(options: AgentOptions): ParamsOf<"agent"> & { idempotencyKey: string } {
  const { message = "", to, sessionId, agent: agentId, thinking, channel, timeout } = options;
  if (message.trim() === "") {
    throw new HoldfastError("usage", "message-missing", "There is nothing to say", {
      hint: 'Give the message with -m: holdfast agent -m "…"',
    });
  }
  if (to !== undefined && sessionId !== undefined) {
    throw new HoldfastError("usage", "invalid-option", "--to and --session-id name two sessions", {
      hint: "Give the one that you mean.",
    });
  }
  assertAgentId(agentId);
  return {
    message,
    idempotencyKey: nodeCrypto().randomUUID(),
    ...(to === undefined ? {} : { to }),
    ...(sessionId === undefined ? {} : toSession(sessionId)),
    ...(agentId === undefined ? {} : { agentId: agentId.trim().toLowerCase() }),
    ...(thinking === undefined ? {} : { thinking: parseChoice("--thinking", thinking, THINKING_LEVELS) }),
    ...(channel === undefined ? {} : { channel }),
    ...(timeout === undefined ? {} : { timeoutSeconds: parseAmount("--timeout", timeout) }),
    deliver: options.deliver === true,
  };
}

/** A key has colons, which neither ids nor their starts have. */
function toSession(reference: string): Pick<ParamsOf<"agent">, "sessionKey" | "sessionId"> {
  return reference.includes(":") ? { sessionKey: reference } : { sessionId: reference };
}

/** The first Ctrl-C stops the turn, whose end is waited for; the second one leaves. */
function stopOnInterrupt(caller: LiveCaller, params: ParamsOf<"agent">): { leaving: Promise<never> } & Disposable {
  const { promise: leaving, reject } = Promise.withResolvers<never>();
  leaving.catch(() => undefined);
  let isStopping = false;
  const onInterrupt = (): void => {
    if (isStopping) reject(new HoldfastError("interrupted", "interrupted", "Interrupted; the turn may go on"));
    isStopping = true;
    stopTurn(caller, params).catch(reject);
  };
  process.on("SIGINT", onInterrupt);
  return { leaving, [Symbol.dispose]: () => process.off("SIGINT", onInterrupt) };
}

/** The same request again is answered at once, with the session that the turn runs in. */
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
    const text = saidBefore(failure, payload.text);
    if (text !== undefined) print(text);
  }
  if (failure !== undefined) throw failure;
  const { meta, payloads = [] } = result.result ?? {};
  const silence = meta === undefined ? undefined : silenceText({ outcome: meta.outcome, text: payloads[0]?.text });
  if (silence !== undefined) talk(silence);
}

function failureOf({ status, summary, error, sessionKey }: AgentResult, isLocal: boolean): HoldfastError | undefined {
  if (status === "ok") return undefined;
  if (status === "aborted") return new HoldfastError("interrupted", "turn-aborted", "The turn was stopped");
  if (status === "timeout") {
    const what = isLocal ? "the gateway goes on with the turn when it runs" : "the turn goes on";
    return new HoldfastError("timeout", "answer-late", `There is no answer yet; ${what}`, {
      hint: `Look for it later: holdfast history ${sessionKey}`,
    });
  }
  const { code = "turn-failed", kind = "internal", message = summary, hint } = error ?? {};
  return errorFromReport({
    code,
    kind: kind as ErrorKind,
    message,
    ...(hint === undefined ? {} : { hint }),
    retryable: false,
  });
}
