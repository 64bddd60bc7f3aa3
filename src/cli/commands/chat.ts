/**
 * `holdfast chat`: a conversation in the terminal over the session core. On a terminal it prompts;
 * otherwise it reads one message a line from stdin and ends with it. Replies go to stdout,
 * everything else to stderr.
 */
import { userInfo } from "node:os";
import { createInterface } from "node:readline";
import { HoldfastError } from "../../base/errors.ts";
import { openEngine } from "../../compose.ts";
import type { Engine } from "../../engine/engine.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { findSession } from "../../session/find-session.ts";
import { runChatCommand } from "../../turn/commands.ts";
import { type TurnResult, runTurn } from "../../turn/run-turn.ts";
import { type Setup, withAgent } from "../context.ts";
import { reportFailure } from "../failure.ts";
import { print, style, talk } from "../output.ts";

export interface ChatOptions {
  agent?: string;
  session?: string;
}

export async function chat(options: ChatOptions): Promise<void> {
  await withAgent({ ...options, create: true }, async (agent, { config }) => {
    const engine = await openEngine();
    const person = await describePerson(agent, options.session);
    const sessionKey = resolveInboundSessionKey(person, { agentId: agent.agentId, session: config.session });
    talk(`Session ${sessionKey}. No model is configured: the echo engine answers. /help shows the commands.`);

    const interactive = process.stdin.isTTY && process.stdout.isTTY;
    for await (const text of readMessages(interactive)) {
      if (text === "/quit" || text === "/exit") break;
      try {
        const answer = await runChatCommand({ agent, sessionKey, engine: engine.name, text });
        if (answer !== undefined) print(answer);
        else await say({ agent, config, engine, person, text });
      } catch (error) {
        // One message that failed does not end the conversation; a script still sees the exit code.
        if (!(error instanceof HoldfastError)) throw error;
        process.exitCode = reportFailure(error, { json: false });
      }
    }
  });
}

/** The person at the keyboard: they own the machine, so they may reset. */
async function describePerson(agent: AgentHandle, session: string | undefined): Promise<MessageContext> {
  const name = userInfo().username;
  const person = {
    Provider: "cli",
    Surface: "cli",
    ChatType: "direct",
    From: `cli:${name}`,
    To: "cli",
    SenderId: name,
  };
  if (session === undefined) return { ...person, SenderName: name };
  return { ...person, SenderName: name, SessionKey: (await findSession(agent, session)).key };
}

async function* readMessages(interactive: boolean): AsyncGenerator<string> {
  const input = createInterface({
    input: process.stdin,
    ...(interactive ? { output: process.stdout, prompt: style("cyan", "> ") } : {}),
  });
  input.on("SIGINT", () => input.close());
  if (interactive) input.prompt();
  for await (const line of input) {
    const text = line.trim();
    if (text !== "") yield text;
    if (interactive) input.prompt();
  }
}

interface Saying extends Pick<Setup, "config"> {
  agent: AgentHandle;
  engine: Engine;
  person: MessageContext;
  text: string;
}

async function say({ agent, config, engine, person, text }: Saying): Promise<void> {
  const ctx = { ...person, Body: text, RawBody: text };
  const result = await runTurn({ agent, config, engine, ctx, commandAuthorized: true });
  announceWindow(result);
  if (result.reply !== undefined) print(result.reply);
}

const REASONS: Partial<Record<string, string>> = {
  command: "New window",
  daily: "A new day, a new window",
  idle: "It was quiet for long: new window",
};

function announceWindow({ session, model }: TurnResult): void {
  const reason = REASONS[session.windowReason ?? ""];
  if (reason !== undefined) {
    const before = session.previousSessionEntry?.sessionId.slice(0, 8);
    talk(`${reason} ${session.sessionId.slice(0, 8)}; the previous one (${before}) stays: /windows, /back ${before}`);
  }
  if (model !== undefined) talk(`Model of this session: ${model.provider}/${model.model}`);
}
