/**
 * What is worked on in this session: a hand-off never crosses from one project to another. A folder is
 * looked into by git, so only the owner may name one.
 */
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type AccessSender, decideAccess } from "../../channels/access.ts";
import type { ChannelAccountConfig } from "../../config/config.ts";
import { GENERAL_PROJECT } from "../../handoff/project.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { type ProjectPatch, markProjectChange } from "../patch-session.ts";
import { captureWindow } from "../run/hand-over.ts";
import type { ChatCommand, CommandAnswer, CommandRequest } from "./chat-command.ts";
import { changeSession, currentEntry } from "./session-settings.ts";
import { shown } from "./shown.ts";

export const projectCommand: ChatCommand = {
  name: "project",
  usage: "/project [name|folder|off|default]",
  summary: "what is worked on here; off: nothing in particular",
  when: "in-order",
  needsAuthorization: true,
  run: async (request) => {
    const { argument } = request;
    if (argument === "") return await show(request, await currentEntry(request));
    if (/^(?:\/|~(?:\/|$)|\.{1,2}(?:\/|$))/.test(argument)) return await setFolder(request);
    const word = argument.toLowerCase();
    if (word === "default") return await show(request, await change(request, NO_PROJECT));
    const project = word === "off" ? GENERAL_PROJECT : argument;
    if (project.length > LONGEST_NAME || shown(project, LONGEST_NAME) !== project) {
      return { text: `A project's name is one line of at most ${LONGEST_NAME} characters.` };
    }
    return await show(request, await change(request, { project }));
  },
};

const NO_PROJECT = { project: null, projectFolder: null };
const LONGEST_NAME = 100;

/** Where it lies is the owner's business. */
async function show(request: CommandRequest, entry: SessionEntry | undefined): Promise<CommandAnswer> {
  const { handoff, agent } = request.parts;
  const named = entry?.project ?? (entry === undefined ? undefined : await handoff?.projectOf(entry));
  if (named === GENERAL_PROJECT) {
    return { text: "No project: nothing of this session is noted for the next. /project <name> names one." };
  }
  if (named === undefined) return { text: "The project is that of the folder. /project <name> names another." };
  const how = entry?.project === undefined ? "as the folder tells" : "as you named it";
  const folder = isOwner(request) ? `, in ${shown(entry?.projectFolder ?? agent.workspace, 200)}` : "";
  return { text: `Project ${shown(named)}, ${how}${folder}.` };
}

/** What was said until now belongs to what was worked on until now, also for whoever reads the transcript anew. */
async function change(request: CommandRequest, patch: ProjectPatch): Promise<SessionEntry> {
  const { parts, held, sessionKey } = request;
  const entry = await currentEntry(request);
  if (entry !== undefined) {
    await captureWindow(parts, sessionKey, entry, "messages");
    if (held !== undefined) await markProjectChange(parts, held, { sessionKey, entry, patch });
  }
  return await changeSession(request, patch);
}

async function setFolder(request: CommandRequest): Promise<CommandAnswer> {
  if (!isOwner(request)) {
    return {
      text: "Only whoever runs this agent may name a folder: on the page of the gateway or with `holdfast chat`.",
    };
  }
  const { argument, parts } = request;
  const path = resolve(parts.agent.workspace, argument.replace(/^~(?=\/|$)/, homedir()));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return { text: `There is no folder ${shown(path, 200)}.` };
  const projectFolder = await realpath(path);
  return await show(request, await change(request, { project: null, projectFolder }));
}

/** Whoever has the gateway or the terminal; on a channel, the only person whom the account's allow list names. */
function isOwner({ ctx, parts }: CommandRequest): boolean {
  const channel = ctx.Provider ?? "";
  if (channel === "web" || channel === "cli") return true;
  const accounts = Object.entries(parts.config.channels).find(([name]) => name === channel)?.[1] as
    | Record<string, ChannelAccountConfig>
    | undefined;
  const [named, ...others] = accounts?.[ctx.AccountId ?? "default"]?.allowFrom ?? [];
  const id = ctx.SenderId ?? ctx.SenderE164;
  if (named === undefined || named.trim() === "*" || others.length > 0 || id === undefined) return false;
  const sender: AccessSender = {
    ids: [id, ...(ctx.SenderE164 === undefined ? [] : [ctx.SenderE164])],
    username: ctx.SenderUsername,
  };
  const request = { channel, sender, chatType: "direct" as const };
  return decideAccess({ request, allowFrom: [named], approvedIds: [], offersPairing: false }).decision === "allow";
}
