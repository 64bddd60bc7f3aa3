/**
 * /handoff shows, clears and turns off the hand-off of this conversation. /project names the project, because
 * a hand-off never crosses from one project to another. Git runs in a project folder, so only the owner may name
 * one.
 */
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { localTime } from "../../base/clock.ts";
import { type AccessSender, standingOf } from "../../channels/access.ts";
import { withoutRepeats } from "../../handoff/items.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import { GENERAL_PROJECT } from "../../handoff/project.ts";
import type { CaptureReason, SessionState, SummaryItem, SummaryKind } from "../../handoff/state.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { type ProjectPatch, markProjectChange } from "../run/change-session.ts";
import { captureWindow } from "../run/hooks-and-handoff.ts";
import { type CommandSpec, type CommandRequest, changeSession, currentEntry, shown } from "./command.ts";

export const handoffCommand: CommandSpec = {
  usage: "/handoff [status|clear|on|off]",
  summary: "show the hand-off of this conversation, clear it, turn it on or off",
  when: "now",
  run: async (request) => {
    const { handoff } = request.parts;
    if (handoff === undefined) return TURNED_OFF;
    const word = request.argument.toLowerCase();
    switch (word) {
      case "":
      case "status":
        return await showHandoff(request, handoff);
      case "clear":
        return (await handoff.clear(request.sessionKey))
          ? "The hand-off is deleted; the transcript stays."
          : "There was no hand-off.";
      case "on":
      case "off":
        await changeSession(request, { handoff: word });
        return word === "on"
          ? "Hand-off is on: the next window of this session gets it."
          : "Hand-off is off for this session. /handoff clear deletes the captured notes.";
      default:
        return `/handoff does not know "${shown(word, 40)}". It takes status, clear, on, off or nothing.`;
    }
  },
};

const TURNED_OFF = "Hand-off is turned off: handoff.enabled is false in the configuration.";

/** Captures first, so that the answer is up to date even after a crash. */
async function showHandoff(request: CommandRequest, handoff: Handoff): Promise<string> {
  const { sessionKey, parts } = request;
  const entry = await currentEntry(request);
  if (entry?.handoff === "off") return "Hand-off is off for this session. /handoff on turns it on.";
  const target = { kind: "session" as const, sessionKey, entry };
  const state = (await handoff.capture(target, "asked")) ?? (await handoff.get(sessionKey));
  if (state === undefined) return "There is no hand-off of this conversation yet.";
  return [describeState(state), describeFate(state, parts.agent.clock.now())].join("\n");
}

/**
 * Attaches the hand-off to the next message, even if it was offered before. An expired one must be named; the
 * answer then says what to type. Empty when there is no hand-off, or none of that name.
 */
export async function bringHandoff({ parts, sessionKey }: CommandRequest, name?: string): Promise<string[]> {
  const { handoff, agent } = parts;
  if (handoff === undefined || (await agent.store.get(sessionKey))?.handoff === "off") return [];
  const answer = await handoff.resume(sessionKey, name);
  if (answer.kind === "none") return [];
  const { state } = answer;
  if (answer.kind === "ready") return [describeState(state), "The agent gets it with your next message.", ""];
  return [`The hand-off has expired. /resume ${shown(state.project)} uses it anyway.`, ""];
}

const HEADINGS: readonly (readonly [SummaryKind, string])[] = [
  ["topic", "Topic"],
  ["in-progress", "In progress"],
  ["blocker", "Blocked by"],
  ["decision", "Decided"],
  ["accomplishment", "Done"],
  ["next-step", "Next"],
];

const MAX_PER_KIND = 6;
const MAX_LINE = 240;
const REFERENCE_LENGTH = 8;

/** Each line names the transcript entry that it came from. */
function describeState(state: SessionState): string {
  const when = minute(state.lastMessageAt);
  const head = `Hand-off of window ${shown(state.previousSessionId.slice(0, 8))}, project ${shown(state.project)}, ${when}:`;
  const items = withoutRepeats(state.items);
  const lines = HEADINGS.flatMap(([kind, heading]) =>
    items
      .filter((item) => item.kind === kind)
      .slice(-MAX_PER_KIND)
      .map((item) => `${heading}: ${shown(item.text, MAX_LINE)} [${reference(item)}]`),
  );
  return [head, ...(lines.length === 0 ? ["Nothing to hand over."] : lines)].join("\n");
}

function reference({ entryId, sessionId }: SummaryItem): string {
  const window = sessionId === undefined ? "" : ` in window ${shown(sessionId.slice(0, REFERENCE_LENGTH))}`;
  return `${shown(entryId.slice(0, REFERENCE_LENGTH))}${window}`;
}

function describeFate(state: SessionState, now: number): string {
  const { expiresAt, resumeOfferedAt, forced } = state;
  const why = `Captured ${minute(state.updatedAt)}, ${REASONS[state.reason]}.`;
  if (forced === true) return `${why} The agent gets it with your next message.`;
  if (Date.parse(expiresAt) <= now)
    return `${why} Expired ${minute(expiresAt)}; /resume ${shown(state.project)} uses it anyway.`;
  const offered = resumeOfferedAt === null ? "" : ` Given to the agent ${minute(resumeOfferedAt)}.`;
  return `${why}${offered} Offered to the next window until ${minute(expiresAt)}.`;
}

const REASONS: Readonly<Record<CaptureReason, string>> = {
  new: "before /new",
  reset: "before /reset",
  daily: "before the daily reset",
  idle: "after a pause",
  compaction: "before a compaction",
  messages: "in passing",
  "tool-result": "after a large tool result",
  asked: "when asked for",
  signal: "when the process ended",
  timeout: "after a turn timed out",
  ended: "when it had ended",
  found: "after the fact",
};

function minute(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? "at an unknown time" : localTime(time).slice(0, 16);
}

export const projectCommand: CommandSpec = {
  usage: "/project [name|folder|off|default]",
  summary: "the project of this session; off: none",
  when: "in-order",
  run: async (request) => {
    const { argument } = request;
    if (argument === "") return await showProject(request, await currentEntry(request));
    if (/^(?:\/|~(?:\/|$)|\.{1,2}(?:\/|$))/.test(argument)) return await setFolder(request);
    const word = argument.toLowerCase();
    if (word === "default") return await showProject(request, await changeProject(request, NO_PROJECT));
    const project = word === "off" ? GENERAL_PROJECT : argument;
    if (project.length > MAX_NAME || shown(project, MAX_NAME) !== project) {
      return `The name of a project is one line of at most ${MAX_NAME} characters.`;
    }
    return await showProject(request, await changeProject(request, { project }));
  },
};

const NO_PROJECT = { project: null, projectFolder: null };
const MAX_NAME = 100;

/** Only the owner sees the folder. */
async function showProject(request: CommandRequest, entry: SessionEntry | undefined): Promise<string> {
  const { handoff, agent } = request.parts;
  const named = entry?.project ?? (entry === undefined ? undefined : await handoff?.projectOf(entry));
  if (named === GENERAL_PROJECT) {
    return "No project, so this session leaves no hand-off. /project <name> sets one.";
  }
  if (named === undefined) return "No project is set; the folder's is used. /project <name> sets one.";
  const how = entry?.project === undefined ? "from the folder" : "set by you";
  const folder = isOwner(request) ? `, in ${shown(entry?.projectFolder ?? agent.workspace, 200)}` : "";
  return `Project ${shown(named)}, ${how}${folder}.`;
}

/** Messages until now belong to the previous project; the transcript is marked accordingly. */
async function changeProject(request: CommandRequest, patch: ProjectPatch): Promise<SessionEntry> {
  const { parts, held, sessionKey } = request;
  const entry = await currentEntry(request);
  if (entry !== undefined) {
    await captureWindow(parts, sessionKey, entry, "messages");
    if (held !== undefined) await markProjectChange(parts, held, { sessionKey, entry, patch });
  }
  return await changeSession(request, patch);
}

async function setFolder(request: CommandRequest): Promise<string> {
  if (!isOwner(request)) {
    return "Only the owner may name a folder, on the gateway's page or with `holdfast chat`.";
  }
  const { argument, parts } = request;
  const path = resolve(parts.agent.workspace, argument.replace(/^~(?=\/|$)/, homedir()));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return `There is no folder ${shown(path, 200)}.`;
  const projectFolder = await realpath(path);
  return await showProject(request, await changeProject(request, { project: null, projectFolder }));
}

/** The user of the gateway or the terminal; on a channel, the only person on the allow list of the account. */
function isOwner({ ctx, parts }: CommandRequest): boolean {
  const channel = ctx.Provider ?? "";
  if (channel === "web" || channel === "cli") return true;
  const accounts = Object.entries(parts.config.channels).find(([name]) => name === channel)?.[1];
  const [named, ...others] = accounts?.[ctx.AccountId ?? "default"]?.allowFrom ?? [];
  const id = ctx.SenderId ?? ctx.SenderE164;
  if (named === undefined || named.trim() === "*" || others.length > 0 || id === undefined) return false;
  const sender: AccessSender = {
    ids: [id, ...(ctx.SenderE164 === undefined ? [] : [ctx.SenderE164])],
    username: ctx.SenderUsername,
  };
  return standingOf({ channel, sender }, [named]) === "known";
}
