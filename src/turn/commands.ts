/**
 * The commands that a person can type into any conversation. Resets are not here: they belong to
 * the session and are found by `initSessionState`.
 */
import { localTime } from "../base/clock.ts";
import { closestMatch } from "../base/suggest.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { patchSession } from "../session/patch.ts";
import { reopenWindow } from "../session/reopen-window.ts";
import { withSessionLease } from "../session/lease.ts";
import type { Window } from "../store/store.ts";

export interface CommandRequest {
  agent: AgentHandle;
  sessionKey: string;
  engine: string;
  text: string;
}

/** The answer to a command; undefined when the text is none. */
export async function runChatCommand(request: CommandRequest): Promise<string | undefined> {
  const [, name = "", argument = ""] = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(request.text.trim()) ?? [];
  const command = COMMANDS.get(name.toLowerCase());
  return command === undefined ? didYouMean(request.text) : await command(request, argument.trim());
}

/** A single mistyped word is hardly meant for the agent. */
function didYouMean(text: string): string | undefined {
  const [, word] = /^\/(\w+)$/.exec(text.trim()) ?? [];
  if (word === undefined || ELSEWHERE.includes(word.toLowerCase())) return undefined;
  const suggestion = closestMatch(word, [...COMMANDS.keys(), ...ELSEWHERE]);
  return suggestion === undefined ? undefined : `There is no /${word}. Did you mean /${suggestion}?`;
}

/** Found by the session or by the channel. */
const ELSEWHERE = ["new", "reset", "quit"];

type ChatCommand = (request: CommandRequest, argument: string) => Promise<string>;

const COMMANDS: ReadonlyMap<string, ChatCommand> = new Map([
  ["help", help],
  ["status", status],
  ["windows", windows],
  ["back", back],
  ["label", label],
]);

async function help(): Promise<string> {
  return [
    "/new [model] [text]   start a new window; the old one stays",
    "/status               where you are",
    "/windows              this session's windows, old ones too",
    "/back <window>        continue an earlier window",
    "/label <name>         name this session (no name: take it away)",
    "/help                 this list",
    "/quit                 leave; so does the end of the input",
  ].join("\n");
}

async function status({ agent, sessionKey, engine }: CommandRequest): Promise<string> {
  const entry = await agent.store.get(sessionKey);
  if (entry === undefined) return `${sessionKey}: nothing was said here yet`;
  const count = (await agent.store.windows(sessionKey)).length;
  return [
    `session   ${sessionKey}${entry.label === undefined ? "" : `  "${entry.label}"`}`,
    `window    ${entry.sessionId} (${count === 1 ? "the first" : `number ${count}`})`,
    `engine    ${engine}${entry.modelOverride === undefined ? "" : `, model ${entry.providerOverride}/${entry.modelOverride}`}`,
    `tokens    ${entry.totalTokens ?? 0} in context, ${entry.compactionCount ?? 0} compactions`,
    `store     ${agent.store.path}`,
  ].join("\n");
}

async function windows({ agent, sessionKey }: CommandRequest): Promise<string> {
  const all = await agent.store.windows(sessionKey);
  if (all.length === 0) return "No window yet.";
  return all.map(describeWindow).join("\n");
}

function describeWindow(window: Window, index: number): string {
  const state = window.closedAt === undefined ? "open" : `closed ${localTime(window.closedAt)}`;
  return `${index + 1}. ${window.sessionId.slice(0, 8)}  opened by ${window.reason}, ${state}`;
}

async function back({ agent, sessionKey }: CommandRequest, wanted: string): Promise<string> {
  const window = chooseWindow(await agent.store.windows(sessionKey), wanted);
  if (window === undefined) return "Which window? /windows shows their numbers.";
  if (window.closedAt === undefined) return "That is the window you are in.";
  await withSessionLease(agent, sessionKey, {}, async ({ lease }) => await reopenWindow(agent, window, { lease }));
  return `Back at window ${window.sessionId.slice(0, 8)}.`;
}

/** By its number in the list, or by the unique start of its id. */
function chooseWindow(windows: readonly Window[], wanted: string): Window | undefined {
  if (/^\d{1,3}$/.test(wanted)) return windows[Number(wanted) - 1];
  const matches = windows.filter(({ sessionId }) => wanted !== "" && sessionId.startsWith(wanted));
  return matches.length === 1 ? matches[0] : undefined;
}

async function label({ agent, sessionKey }: CommandRequest, name: string): Promise<string> {
  await patchSession(agent, sessionKey, { label: name === "" ? null : name });
  return name === "" ? "The label is gone." : `This session is now called "${name}".`;
}
