/** Earlier windows of the session: which there are, and going back to one. */
import { reopenWindow } from "../../session/reopen-window.ts";
import { readWindowTitle } from "../../session/window-title.ts";
import type { ChatCommand, CommandAnswer, CommandRequest } from "./chat-command.ts";
import { createHookWords } from "../run/hook-calls.ts";
import { bringHandoff } from "./handoff-command.ts";
import { currentEntry, leaseOf } from "./session-settings.ts";
import { shown } from "./shown.ts";
import { type NumberedWindow, describeWindow, matchWindows, numberedWindows, pickWindow } from "./window-list.ts";

const SHOWN_WINDOWS = 20;

export const windowsCommand: ChatCommand = {
  name: "windows",
  usage: "/windows [number]",
  summary: "this session's windows; with a number, those before it",
  when: "now",
  needsAuthorization: true,
  run: async (request) => {
    const before = /^\d{1,6}$/.test(request.argument) ? Number(request.argument) : Number.POSITIVE_INFINITY;
    const all = (await numberedWindows(request)).filter(({ number }) => number < before);
    if (all.length === 0) return { text: "No window yet." };
    const recent = all.slice(-SHOWN_WINDOWS);
    const first = recent[0]?.number ?? 1;
    const earlier = first > 1 ? [`Earlier ones: /windows ${first}`] : [];
    return { text: [...(await describeAll(request, recent)), ...earlier].join("\n") };
  },
};

export const backCommand: ChatCommand = {
  name: "back",
  usage: "/back <window>",
  summary: "continue an earlier window; the present one stays",
  when: "in-order",
  needsAuthorization: true,
  run: async (request) => {
    const all = await numberedWindows(request);
    const reached = await goneBackTo(request, all);
    if (reached !== undefined) return await arrived(request, reached);
    const found = pickWindow(all, request.argument);
    return found === undefined ? { text: "Which window? /windows shows their numbers." } : await goBack(request, found);
  },
};

const RECENT_WINDOWS = 10;

export const resumeCommand: ChatCommand = {
  name: "resume",
  usage: "/resume [window|words|project]",
  summary: "bring what was kept, and show recent windows; with a number or words, continue that one",
  when: "in-order",
  needsAuthorization: true,
  run: async (request) => {
    const { argument } = request;
    const all = await numberedWindows(request);
    if (argument === "") {
      const recent = await offer(request, all.slice(-RECENT_WINDOWS), "Recent windows:");
      return { text: [...(await bringHandoff(request)), recent].join("\n") };
    }
    const reached = await goneBackTo(request, all);
    if (reached !== undefined) return await arrived(request, reached);
    const picked = pickWindow(all, argument);
    if (picked !== undefined && picked.window.closedAt !== undefined) return await goBack(request, picked);
    const brought = await bringHandoff(request, argument);
    if (brought.length > 0) return { text: brought.join("\n") };
    return picked === undefined ? await byWords(request, all) : await goBack(request, picked);
  },
};

async function byWords(request: CommandRequest, all: readonly NumberedWindow[]): Promise<CommandAnswer> {
  const { argument } = request;
  const [match, ...others] = await matchWindows(request.parts.agent, all, argument);
  if (match === undefined) {
    return { text: `No window is about "${shown(argument, 60)}". /resume shows the recent ones.` };
  }
  if (others.length === 0) return await goBack(request, match);
  const candidates = [match, ...others].slice(-RECENT_WINDOWS);
  return { text: await offer(request, candidates, `Several windows are about "${shown(argument, 60)}":`) };
}

async function offer(request: CommandRequest, windows: readonly NumberedWindow[], heading: string): Promise<string> {
  if (windows.length === 0) return "No window yet.";
  return [heading, ...(await describeAll(request, windows)), "Continue one with /resume <number>."].join("\n");
}

async function describeAll({ parts }: CommandRequest, windows: readonly NumberedWindow[]): Promise<string[]> {
  return await Promise.all(windows.map(async (window) => await describeWindow(parts.agent, window)));
}

/**
 * The window that this very command opened before it was cut short. Going back moves a window to the end
 * of the list, so the same number would now mean another one.
 */
async function goneBackTo(
  request: CommandRequest,
  windows: readonly NumberedWindow[],
): Promise<NumberedWindow | undefined> {
  const entry = request.turnId === undefined ? undefined : await currentEntry(request);
  if (entry === undefined || entry.openedByTurn !== request.turnId) return undefined;
  return windows.find(({ window }) => window.sessionId === entry.sessionId);
}

async function goBack(request: CommandRequest, found: NumberedWindow): Promise<CommandAnswer> {
  const { turnId, parts, sessionKey, ctx } = request;
  if (found.window.closedAt === undefined) return { text: "That is the window you are in." };
  const options = { ...leaseOf(request), ...(turnId === undefined ? {} : { turnId }) };
  const entry = await currentEntry(request);
  const hooks = createHookWords();
  await hooks.before({ parts, sessionKey, event: "session:end", entry, ctx, reason: "restore" });
  await reopenWindow(parts.agent, found.window, options);
  const { text = "" } = await arrived(request, found);
  return { text: [...(await hooks.take()), text].join("\n") };
}

async function arrived({ parts }: CommandRequest, { window }: NumberedWindow): Promise<CommandAnswer> {
  const title = await readWindowTitle(parts.agent, window);
  return { text: `Back at window ${window.sessionId.slice(0, 8)}${title === undefined ? "." : `: ${shown(title)}`}` };
}
