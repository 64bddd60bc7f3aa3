/** /windows, /back and /resume: list the windows of the session and return to an earlier one. */
import { localTime } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type AgentHandle, expectedOfWindow, locateWindowTranscript } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Window } from "../../store/store.ts";
import { findDamage } from "../../transcript/damage.ts";
import { createHookMessages } from "../run/hooks-and-handoff.ts";
import { type CommandSpec, type CommandRequest, currentEntry, shown } from "./command.ts";
import { bringHandoff } from "./handoff-commands.ts";
import { reopenWindow } from "../../session/archive.ts";
import { WINDOW_REASONS, readWindowTitle } from "../../session/window-summary.ts";

const MAX_SHOWN = 20;

export const windowsCommand: CommandSpec = {
  usage: "/windows [number]",
  summary: "list the windows of this session; with a number, earlier ones",
  when: "now",
  run: async (request) => {
    const before = /^\d{1,6}$/.test(request.argument) ? Number(request.argument) : Number.POSITIVE_INFINITY;
    const all = (await numberedWindows(request)).filter(({ number }) => number < before);
    if (all.length === 0) return "No window yet.";
    const recent = all.slice(-MAX_SHOWN);
    const first = recent[0]?.number ?? 1;
    const earlier = first > 1 ? [`Earlier ones: /windows ${first}`] : [];
    return [...(await describeAll(request, recent)), ...earlier].join("\n");
  },
};

export const backCommand: CommandSpec = {
  usage: "/back <window>",
  summary: "continue an earlier window; the current one stays",
  when: "in-order",
  run: async (request) => {
    const all = await numberedWindows(request);
    const reached = await goneBackTo(request, all);
    if (reached !== undefined) return await arrived(request, reached);
    const found = pickWindow(all, request.argument);
    return found === undefined ? "Which window? /windows lists the numbers." : await goBack(request, found);
  },
};

const MAX_RECENT = 10;

export const resumeCommand: CommandSpec = {
  usage: "/resume [window|words|project]",
  summary: "use the hand-off and list recent windows; with a number or words, continue that window",
  when: "in-order",
  run: async (request) => {
    const { argument } = request;
    const all = await numberedWindows(request);
    if (argument === "") {
      const recent = await offer(request, all.slice(-MAX_RECENT), "Recent windows:");
      return [...(await bringHandoff(request)), recent].join("\n");
    }
    const reached = await goneBackTo(request, all);
    if (reached !== undefined) return await arrived(request, reached);
    const picked = pickWindow(all, argument);
    if (picked !== undefined && picked.window.closedAt !== undefined) return await goBack(request, picked);
    const brought = await bringHandoff(request, argument);
    if (brought.length > 0) return brought.join("\n");
    return picked === undefined ? await byWords(request, all) : await goBack(request, picked);
  },
};

const MAX_SEARCHED = 200;

/** Continues the only window whose title has all words, or lists the windows if several match. */
async function byWords(request: CommandRequest, all: readonly NumberedWindow[]): Promise<string> {
  const { argument, parts } = request;
  const words = argument.toLowerCase().split(/\s+/);
  const matches: NumberedWindow[] = [];
  for (const candidate of all.slice(-MAX_SEARCHED)) {
    const title = (await readWindowTitle(parts.agent, candidate.window))?.toLowerCase();
    if (title !== undefined && words.every((word) => title.includes(word))) matches.push(candidate);
  }
  const [match, ...others] = matches;
  if (match === undefined) {
    return `No window is about "${shown(argument, 60)}". /resume shows the recent ones.`;
  }
  if (others.length === 0) return await goBack(request, match);
  return await offer(request, matches.slice(-MAX_RECENT), `Several windows are about "${shown(argument, 60)}":`);
}

async function offer(request: CommandRequest, windows: readonly NumberedWindow[], heading: string): Promise<string> {
  if (windows.length === 0) return "No window yet.";
  return [heading, ...(await describeAll(request, windows)), "Continue one with /resume <number>."].join("\n");
}

async function describeAll(request: CommandRequest, windows: readonly NumberedWindow[]): Promise<string[]> {
  const entry = await currentEntry(request);
  return await Promise.all(windows.map(async (window) => await describeWindow(request.parts.agent, window, entry)));
}

/** The window that this command opened before a crash. Its number has changed since then. */
async function goneBackTo(request: CommandRequest, windows: readonly NumberedWindow[]) {
  const entry = request.turnId === undefined ? undefined : await currentEntry(request);
  if (entry === undefined || entry.openedByTurn !== request.turnId) return undefined;
  return windows.find(({ window }) => window.sessionId === entry.sessionId);
}

async function goBack(request: CommandRequest, found: NumberedWindow): Promise<string> {
  const { turnId, parts, sessionKey, ctx } = request;
  if (found.window.closedAt === undefined) return "You are in that window already.";
  const entry = await currentEntry(request);
  const hooks = createHookMessages();
  await hooks.before({ parts, sessionKey, event: "session:end", entry, ctx, reason: "restore" });
  await reopenWindow(parts.agent, found.window, { lease: request.held?.lease, turnId });
  return [...(await hooks.take()), await arrived(request, found)].join("\n");
}

async function arrived({ parts }: CommandRequest, { window }: NumberedWindow): Promise<string> {
  const title = await readWindowTitle(parts.agent, window);
  return `Back in window ${window.sessionId.slice(0, 8)}${title === undefined ? "." : `: ${shown(title)}`}`;
}

export interface NumberedWindow {
  number: number;
  window: Window;
}

async function numberedWindows({ parts, sessionKey }: CommandRequest): Promise<NumberedWindow[]> {
  const windows = await parts.agent.store.windows(sessionKey);
  return windows.map((window, index) => ({ number: index + 1, window }));
}

async function describeWindow(
  agent: AgentHandle,
  { number, window }: NumberedWindow,
  entry: SessionEntry | undefined,
): Promise<string> {
  const title = await readWindowTitle(agent, window);
  const state = window.closedAt === undefined ? "open" : `closed ${minute(window.closedAt)}`;
  const about = title === undefined ? await describeUntitled(agent, window, entry) : shown(title, 60);
  return `${number}. ${shown(window.sessionId.slice(0, 8))}  ${minute(window.openedAt)}  ${about}  (${WINDOW_REASONS[window.reason]}, ${state})`;
}

async function describeUntitled(agent: AgentHandle, window: Window, entry: SessionEntry | undefined): Promise<string> {
  try {
    const damage = await findDamage(await locateWindowTranscript(agent, window), expectedOfWindow(window, entry));
    return damage === undefined ? "no message" : `damaged: ${damage.reason}`;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return "cannot be read";
  }
}

function minute(at: number): string {
  return localTime(at).slice(0, 16);
}

const MIN_ID_LENGTH = 4;

function pickWindow(windows: readonly NumberedWindow[], wanted: string): NumberedWindow | undefined {
  if (/^\d{1,6}$/.test(wanted)) return windows[Number(wanted) - 1];
  if (wanted.length < MIN_ID_LENGTH) return undefined;
  const matches = windows.filter(({ window }) => window.sessionId.startsWith(wanted.toLowerCase()));
  return matches.length === 1 ? matches[0] : undefined;
}
