/**
 * What Holdfast knows of a conversation, short enough to stand before a message: for a session of Claude
 * Code that has to go on without its own memory of it. The summary of an older part stays whole as long
 * as it can; of the rest the newest counts.
 */
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { handoffText, messageText, withoutHandoff } from "../../transcript/text.ts";
import { indentLines } from "../../base/delimited.ts";

/** The hand-off around it has room for this and its own words. */
const MAX_CHARACTERS = 8000;
const MAX_SUMMARY = 3000;
const MAX_MESSAGE = 1500;
const MAX_LEFT = 3000;

/** Undefined: there was nothing. `text` is the message that is being answered, which is left out. */
export function conversationDigest(context: readonly TranscriptMessage[], text: string): string | undefined {
  const place = placeOfMessage(context, text);
  // What stands after it was done about it by an attempt that was cut short.
  const earlier = context.filter((_message, index) => index !== place);
  const summary = earlier.findLast(({ role }) => role === "compactionSummary");
  const opening =
    summary === undefined ? "" : `Summary of the older part: ${indentLines(cut(messageText(summary), MAX_SUMMARY))}`;
  const lines: string[] = [];
  let room = MAX_CHARACTERS - opening.length;
  for (const message of earlier.toReversed()) {
    if (message.role === "compactionSummary") break;
    const line = describe(message);
    if (line === undefined) continue;
    room -= line.length + 1;
    if (room < 0) break;
    lines.unshift(line);
  }
  if (opening !== "") lines.unshift(opening);
  return lines.length === 0 ? undefined : lines.join("\n");
}

/** True when the message was sent before and something was done about it: the turn is begun again. */
export function wasBegun(context: readonly TranscriptMessage[], text: string): boolean {
  const place = placeOfMessage(context, text);
  return place !== -1 && context.slice(place + 1).some(({ role }) => role === "assistant" || role === "toolResult");
}

/** A turn that nobody asked for has none. */
function placeOfMessage(context: readonly TranscriptMessage[], text: string): number {
  const place = context.findLastIndex(({ role }) => role === "user");
  const message = context[place];
  return message !== undefined && messageText(message).trim() === text.trim() ? place : -1;
}

const SPEAKERS: Partial<Record<TranscriptMessage["role"], string>> & { custom: string } = {
  user: "Person",
  assistant: "Agent",
  custom: "Note",
  branchSummary: "Summary of another branch",
};

/** What tools answered is left out: the agent said what it made of it. */
function describe(message: TranscriptMessage): string | undefined {
  const speaker = SPEAKERS[message.role];
  const body = messageText(withoutHandoff(message)).trim();
  if (speaker === undefined || body === "") return undefined;
  const words = message.role === "user" ? cutMiddle(body, MAX_MESSAGE) : cut(body, MAX_MESSAGE);
  return `${leftBefore(message)}${speaker}: ${indentLines(words)}`;
}

/** What the conversation itself began with; nobody said it. */
function leftBefore(message: TranscriptMessage): string {
  const left = message.role === "user" ? handoffText(message.content) : undefined;
  return left === undefined ? "" : `${SPEAKERS.custom}: ${indentLines(cut(left, MAX_LEFT))}\n`;
}

/** Events and what a group said before stand in front of what the person wrote. */
function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.floor((length * 2) / 3);
  return `${cut(text, length - end)}${text.slice(-end).toWellFormed()}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
