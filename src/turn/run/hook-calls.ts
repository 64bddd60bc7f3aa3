/**
 * Calls of hooks on the way of a turn, and what they want the person to know. What has to be done before
 * something happens is waited for, not for ever; what need not be goes on beside the turn, and its words
 * come with the answer if they are there by then.
 */
import type { HookContext, HookEventName, HookOutcome } from "../../hooks/hook.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { AgentParts } from "../turn.ts";
import { TOO_LATE, within } from "../../base/within.ts";

/** How long what a hook shall come before waits for it. The hook itself may take longer. */
const BEFORE_MS = 3000;
/** How long an answer that is ready waits for the words of hooks. */
const WORDS_MS = 250;
/** More than this of one hook is no notice. */
const MOST_WORDS = 2000;

export interface HookCall {
  parts: AgentParts;
  sessionKey: string;
  event: HookEventName;
  /** The window that it is about. */
  entry?: SessionEntry | undefined;
  ctx?: MessageContext | undefined;
  reason?: string;
}

/** What hooks said for one turn, in the order in which they were called. */
export interface HookWords {
  /** Waits until the hooks are done, for a while. */
  before(call: HookCall): Promise<void>;
  /** Waits for nothing. */
  beside(call: HookCall): void;
  add(messages: readonly string[]): void;
  /** What was said so far and shortly after. Each is told once. */
  take(): Promise<string[]>;
}

export function createHookWords(): HookWords {
  let calls: Promise<string[]>[] = [];
  const start = (call: HookCall): Promise<string[]> | undefined => {
    const fired = fireHooks(call);
    if (fired === undefined) return undefined;
    const words = fired.then(({ messages }) => wordsOf(messages));
    calls.push(words);
    return words;
  };
  return {
    async before(call) {
      const words = start(call);
      if (words !== undefined) await within(BEFORE_MS, words);
    },
    beside: (call) => void start(call),
    add: (messages) => void calls.push(Promise.resolve(wordsOf(messages))),
    async take() {
      if (calls.length === 0) return [];
      const taken = calls;
      calls = [];
      const told = await Promise.all(taken.map(async (words) => await within(WORDS_MS, words)));
      return told.flatMap((words) => (words === TOO_LATE ? [] : words));
    },
  };
}

/** Undefined when nobody listens. Never rejects. */
export function fireHooks({
  parts,
  sessionKey,
  event,
  entry,
  ctx,
  reason,
}: HookCall): Promise<HookOutcome> | undefined {
  const { hooks, agent } = parts;
  if (hooks === undefined || !hooks.listens(event)) return undefined;
  const commandSource = ctx?.OriginatingChannel ?? ctx?.Provider;
  const senderId = ctx?.SenderId;
  const context: Omit<HookContext, "agentId" | "workspaceDir"> = {
    ...(entry === undefined ? {} : { sessionId: entry.sessionId, sessionFile: transcriptPath(agent, entry) }),
    ...(reason === undefined ? {} : { reason }),
    ...(commandSource === undefined ? {} : { commandSource }),
    ...(senderId === undefined ? {} : { senderId }),
    ...(event === "agent:bootstrap" ? { bootstrapFiles: [] } : {}),
  };
  return hooks.fire(event, { sessionKey, context });
}

function wordsOf(messages: readonly string[]): string[] {
  return messages.map((text) => text.trim().slice(0, MOST_WORDS).toWellFormed()).filter((text) => text !== "");
}
