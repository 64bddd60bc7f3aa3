/** Commands about the conversation under way: ending an answer, and shortening what is remembered. */
import { HoldfastError } from "../../base/errors.ts";
import { markRunAborted } from "../../session/aborted-run.ts";
import type { CompactOutcome } from "../compact-session.ts";
import { createHookWords } from "../run/hook-calls.ts";
import type { ChatCommand, CompactNow } from "./chat-command.ts";
import { counted, shortCount, shown } from "./shown.ts";

export const stopCommand: ChatCommand = {
  name: "stop",
  usage: "/stop",
  summary: "end the answer under way and give up what waits",
  when: "now",
  needsAuthorization: true,
  run: async ({ parts, sessionKey, lane, ctx }) => {
    const { aborted, dropped } = await lane.stop();
    const hooks = createHookWords();
    const entry = await parts.agent.store.get(sessionKey);
    hooks.beside({ parts, sessionKey, event: "command:stop", entry, ctx });
    if (aborted) await markRunAborted(parts.agent, sessionKey);
    return { text: [whatStopped(aborted, dropped), ...(await hooks.take())].join("\n") };
  },
};

function whatStopped(aborted: boolean, dropped: number): string {
  const waiting = dropped === 0 ? "" : `${counted(dropped, "waiting message")} given up.`;
  if (aborted) return `Stopped. ${waiting}`.trim();
  return waiting === "" ? "Nothing is running." : `Nothing was running. ${waiting}`;
}

export function createCompactCommand(compact: CompactNow): ChatCommand {
  return {
    name: "compact",
    usage: "/compact [what to keep]",
    summary: "replace the older part of this window by a summary",
    when: "in-order",
    needsAuthorization: true,
    run: async ({ parts, sessionKey, held, argument, signal, emit = () => {} }) => {
      if (held === undefined) throw leaseMissing(sessionKey);
      if ((await parts.agent.store.get(sessionKey)) === undefined) return { text: NOTHING_TO_COMPACT };
      const instructions = argument === "" ? {} : { instructions: argument };
      return { text: describe(await compact({ parts, sessionKey, held, signal, emit, ...instructions })) };
    },
  };
}

const NOTHING_TO_COMPACT = "There is nothing to compact yet.";

function describe(outcome: CompactOutcome): string {
  if (!outcome.compacted) return shown(outcome.reason, 500);
  const { tokensBefore, tokensAfter, told = [] } = outcome;
  return [...told, `Compacted: ${shortCount(tokensBefore)} → ${shortCount(tokensAfter)} tokens.`].join("\n");
}

function leaseMissing(key: string): HoldfastError {
  return new HoldfastError("internal", "lease-missing", `/compact was run without the lease of ${key}`, {
    hint: "Run commands that are in order under the lease of their session.",
    data: { key },
  });
}
