/**
 * The contract of chat commands, with shared code for settings of the session and the layout of answers.
 * Resets are no chat commands: `initSessionState` finds them.
 */
import type { MessageContext } from "../../keys/message-context.ts";
import { initSessionState } from "../../session/init.ts";
import type { HeldLease } from "../../session/lease.ts";
import { type SessionPatch, patchSession } from "../../session/patch.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { AgentParts } from "../pipeline.ts";
import { printableLine } from "../../base/text.ts";

export interface ChatCommand extends CommandSpec {
  name: string;
  needsAuthorization: boolean;
}

export interface CommandSpec {
  /** For /help, such as `/label <name>`. The first word is the name. */
  usage: string;
  summary: string;
  /** `now`: at once, even during a turn, and without the lease. `in-order`: in the lane, under the lease. */
  when: "now" | "in-order";
  /** Only for people who may reset the session. Default: true. */
  needsAuthorization?: boolean | undefined;
  /** Resolves to the answer, which also reports mistakes of the person. Other failures are thrown. */
  run(request: CommandRequest): Promise<string>;
}

export interface ChatCommands {
  /** In the order of /help. Each checks the authorization. */
  readonly all: readonly ChatCommand[];
  /** `text` comes from `commandText`. Ignores commands for other agents, such as `/status@other`. */
  find(text: string, botUsername?: string): { command: ChatCommand; argument: string } | undefined;
  /** The answer to a word that resembles a command. Undefined for other texts. */
  answerMistyped(text: string): string | undefined;
}

export interface CommandRequest {
  parts: AgentParts;
  sessionKey: string;
  ctx: MessageContext;
  /** The text after the name, trimmed. */
  argument: string;
  /** For `in-order` commands. */
  held?: HeldLease | undefined;
  /** Stays the same when the command is repeated after a crash. */
  turnId?: string | undefined;
  lane: LaneControl;
  signal: AbortSignal;
}

export interface LaneControl {
  stop(): Promise<{ aborted: boolean; dropped: number }>;
  state(): { queued: number; runningSince?: number | undefined };
}

/** One line that can neither control a terminal, mention a person, hide a link nor act as a reply directive. */
export function shown(text: string, width = 100): string {
  return printableLine(text, width).replace(/\](?=\()|\[(?=\[)|<(?=[@#!])/g, "$& ");
}

/** Columns in a terminal; `name: value` lines in a messenger, whose font is proportional. */
export function layOut(ctx: MessageContext, rows: readonly Row[], separator = ": "): string {
  const hasColumns = (ctx.Surface ?? ctx.Provider ?? "").toLowerCase() === "cli";
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(([name, value]) => (hasColumns ? `${name.padEnd(width)}${value}` : `${name}${separator}${value}`))
    .join("\n");
}

export type Row = readonly [name: string, value: string];

/** `840`, `1.2k`, `12k`, `1M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${scaled < 9.95 ? scaled.toFixed(1).replace(/\.0$/, "") : scaled.toFixed(0)}${unit}`;
}

/** `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export async function currentEntry({ parts, sessionKey }: CommandRequest): Promise<SessionEntry | undefined> {
  return await parts.agent.store.get(sessionKey);
}

/** A setting may be the first message. It then opens the session. */
export async function changeSession(request: CommandRequest, patch: SessionPatch): Promise<SessionEntry> {
  const { parts, sessionKey, ctx } = request;
  const { agent, config } = parts;
  const lease = request.held?.lease;
  if ((await agent.store.get(sessionKey)) === undefined) {
    await initSessionState({ agent, ctx: { ...ctx, SessionKey: sessionKey }, cfg: config, lease });
  }
  return await patchSession(agent, sessionKey, patch, { lease });
}
