/**
 * `holdfast chat`: a conversation in the terminal, through the gateway or with `--local` in this process.
 * On a terminal it prompts and shows the answer as it comes; otherwise it reads one message a line from
 * stdin and ends with it. Replies go to stdout, everything else to stderr.
 */
import { createInterface } from "node:readline";
import { ERROR_KINDS, HoldfastError } from "../../base/errors.ts";
import { loadSetup } from "../context.ts";
import { reportFailure } from "../failure.ts";
import { style, talk } from "../output.ts";
import { createAnswerPrinter } from "../chat/answer-printer.ts";
import { type ChatSession, chooseChatSession } from "../chat/chat-session.ts";
import { listenForInterrupts } from "../chat/interrupts.ts";
import { openCaller } from "../rpc/open-caller.ts";
import { type Conversation, openConversation } from "../rpc/conversation.ts";
import { saidBefore, turnFailure } from "../rpc/turn-end.ts";

export interface ChatOptions {
  agent?: string;
  session?: string;
  local?: boolean;
}

export async function chat(options: ChatOptions): Promise<void> {
  const setup = await loadSetup();
  const session = await chooseChatSession(setup, options);
  const caller = await openCaller(setup, options);
  try {
    const conversation = await openConversation({ caller, ...session });
    talk(`Session ${session.sessionKey}. ${session.greeting} /help shows the commands.`);
    await converse(conversation, session);
  } finally {
    await caller.close();
  }
}

async function converse(conversation: Conversation, session: ChatSession): Promise<void> {
  const interactive = process.stdin.isTTY && process.stdout.isTTY;
  const input = createInterface({
    input: process.stdin,
    ...(interactive ? { output: process.stdout, prompt: style("cyan", "> ") } : {}),
  });
  using interrupts = listenForInterrupts(input, async () => await conversation.abort());
  const printer = createAnswerPrinter({ interactive, sessionId: session.sessionId });
  const prompt = (): void => {
    if (interactive && !interrupts.isLeaving()) input.prompt();
  };
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
    // An open stdin would keep the process waiting for a line that nobody answers.
    input.close();
  }
  if (interrupts.isLeaving()) process.exitCode = ERROR_KINDS.interrupted.exitCode;
}

/** One message that failed does not end the conversation; a script still sees the exit code. */
async function answer(
  conversation: Conversation,
  text: string,
  printer: ReturnType<typeof createAnswerPrinter>,
): Promise<void> {
  try {
    const end = await conversation.say(text, printer.hear);
    const failure = turnFailure(end);
    printer.end({ ...end, text: saidBefore(failure, end.text) });
    if (failure?.kind === "interrupted") talk("Stopped.");
    else if (failure !== undefined) throw failure;
  } catch (error) {
    // Without the gateway there is nobody left to talk to.
    if (!(error instanceof HoldfastError) || error.code === "gateway-gone") throw error;
    process.exitCode = reportFailure(error, { json: false });
  }
}
