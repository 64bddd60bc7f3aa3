/**
 * Facts that the agent gets once, as system events: why a window began, the group that it is in, and, at the start of its
 * main session, the channels. Nothing is stored for this; a group's changed mode is marked in the entry.
 */
import { localTime } from "../../base/clock.ts";
import { printableLine } from "../../base/text.ts";
import { buildAgentMainSessionKey } from "../../keys/session-key.ts";
import type { TurnRequest, TurnResult } from "../pipeline.ts";

type Told = Pick<TurnRequest, "parts"> & Pick<TurnResult, "session">;

/** `people`: labels of those whose messages are in the turn. */
export function introductions(turn: Told, people: readonly string[]): string[] {
  return [...windowStart(turn), ...groupIntroduction(turn, people), ...channelSummary(turn)];
}

const REASONS: Readonly<Record<string, string>> = {
  daily: "A new window began with the daily reset",
  idle: "A new window began after a pause",
};

function windowStart({ session }: Told): string[] {
  const { windowReason = "", previousSessionEntry: left } = session;
  const reason = REASONS[windowReason];
  if (reason === undefined || left === undefined) return [];
  return [`${reason}; the previous one was last used at ${localTime(left.lastInteractionAt ?? left.updatedAt)}.`];
}

/** Commands such as /activation and /cc run may have opened the window before. */
function isFirstTurn({ session }: Told): boolean {
  return session.isNewSession || session.sessionEntry.systemSent !== true;
}

const MAX_PEOPLE = 20;

function groupIntroduction(turn: Told, people: readonly string[]): string[] {
  const { parts, session } = turn;
  const { isGroup, sessionEntry: entry } = session;
  const isFirst = isFirstTurn(turn);
  if (!isGroup || (!isFirst && entry.groupActivationNeedsSystemIntro !== true)) return [];
  const mode = MODES[entry.groupActivation ?? parts.config.groups.activation];
  if (!isFirst) return [`The mode of this group has changed. ${mode}`];
  const name = quoted(entry.subject ?? entry.groupChannel);
  const kind = entry.chatType === "channel" ? "channel" : "group";
  const place = [name === "" ? `This is a ${kind}` : `This is the ${kind} ${name}`, onChannel(entry.channel)].join("");
  const known = [...new Set(people)].slice(0, MAX_PEOPLE).map((person) => printableLine(person, 60));
  return [[`${place}.`, mode, ...(known.length === 0 ? [] : [`Known here: ${known.join(", ")}.`])].join(" ")];
}

const MODES = {
  mention:
    "You answer when you are mentioned or replied to; the messages in between are shown to you as context. Everybody in it reads your answers.",
  always: "You get every message. Everybody in it reads your answers; answer NO_REPLY when you have nothing to add.",
};

function onChannel(channel: string | undefined): string {
  return channel === undefined ? "" : ` on ${printableLine(channel, 40)}`;
}

/** People choose the name, so it must stay one quoted name. */
function quoted(name: string | undefined): string {
  const shown = printableLine(name ?? "", 100).replaceAll('"', "'");
  return shown === "" ? "" : `"${shown}"`;
}

function channelSummary(turn: Told): string[] {
  const { parts, session } = turn;
  if (!isFirstTurn(turn) || session.sessionKey !== buildAgentMainSessionKey(parts.agent)) return [];
  const channels = parts.describeChannels?.() ?? [];
  return channels.length === 0 ? [] : [`Your channels: ${channels.join("; ")}.`];
}
