/** `holdfast cc show` and `cc export`: the conversation of a native session, secrets redacted. */
import { HoldfastError } from "../../../base/errors.ts";
import { shortId } from "../../../base/ids.ts";
import { encodeLine } from "../../../base/jsonl.ts";
import { redactText, redactValue } from "../../../base/redact.ts";
import { printableLine } from "../../../base/text.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import {
  type NativeCall,
  type NativeMessage,
  readNativeLines,
  readNativeMessages,
} from "../../../claude/native/read-messages.ts";
import { type ShownMessage, messageLines, renderMarkdown, renderPage, writeExport } from "../../conversation-view.ts";
import { printStyled, style, talk, writeJsonList, writeOut } from "../../output.ts";
import { type ClaudeOptions, progressLine, withClaude, sessionTitle, shortPath } from "./claude-side.ts";
import type { Counts, Flags, Texts } from "../../command.ts";

type ShowOptions = ClaudeOptions & Flags<"all"> & Counts<"limit">;

const DEFAULT_LIMIT = 50;

export async function showNativeSession(id: string, options: ShowOptions): Promise<void> {
  await showFound(await findNative(id, options), options);
}

type NativeFormat = "md" | "html" | "jsonl";

type ExportNativeOptions = ClaudeOptions & Texts<"output"> & { format?: NativeFormat | undefined };

export async function exportNativeSession(id: string, options: ExportNativeOptions): Promise<void> {
  await exportFound(await findNative(id, options), options);
}

/** For commands that look among chats first. Says which session it took; throws `missing` if there is none either. */
export async function findInstead(
  id: string,
  options: ClaudeOptions,
  missing: HoldfastError,
): Promise<DiscoveredSession> {
  let found: DiscoveredSession;
  try {
    found = await findNative(id, options);
  } catch (error) {
    throw error instanceof HoldfastError && error.kind === "not-found" ? missing : error;
  }
  talk(`${shortId(found.sessionId)} is a Claude Code session: ${printableLine(sessionTitle(found), 100)}`);
  return found;
}

async function findNative(id: string, options: ClaudeOptions): Promise<DiscoveredSession> {
  return await withClaude(options, async (side) => {
    using progress = progressLine();
    return await side.find(id, { refresh: progress.refresh });
  });
}

export async function showFound(session: DiscoveredSession, options: ShowOptions): Promise<void> {
  const path = transcriptOf(session);
  if (options.json === true) await printMessages(session, path, options);
  else await printConversation(session, path, options);
}

function transcriptOf({ sessionId, transcriptPath }: DiscoveredSession): string {
  if (transcriptPath !== undefined) return transcriptPath;
  throw new HoldfastError("not-found", "no-transcript", `Session ${sessionId} has no transcript`, {
    hint: "Claude Code deletes old transcripts. `holdfast cc archive` keeps copies from now on.",
    data: { sessionId },
  });
}

/** Without `all`, the last messages. */
async function* shownMessages(
  path: string,
  { all, limit = DEFAULT_LIMIT }: ShowOptions,
): AsyncGenerator<NativeMessage> {
  const messages = readNativeMessages(path);
  if (all === true) {
    yield* messages;
    return;
  }
  const last: NativeMessage[] = [];
  for await (const message of messages) {
    if (message.role === "tool") continue;
    last.push(message);
    if (last.length > limit) last.shift();
  }
  yield* last;
}

function toText({ at, ...message }: NativeMessage): string {
  return JSON.stringify(redactValue({ ...message, at: at === undefined ? undefined : new Date(at).toISOString() }));
}

async function printMessages({ sessionId }: DiscoveredSession, path: string, options: ShowOptions): Promise<void> {
  const head = { schema: 1, sessionId, path };
  await writeJsonList(head, "messages", shownMessages(path, options), toText, (count) => ({ count }));
}

const SPEAKERS = { user: "you", assistant: "Claude", tool: "tool", summary: "summary" } as const;
const MAX_RESULT_LINES = 10;

async function printConversation(session: DiscoveredSession, path: string, options: ShowOptions): Promise<void> {
  printStyled(style("bold", printableLine(sessionTitle(session), 160)));
  printStyled(style("dim", printableLine(factsOf(session).join(" · "))));
  let isEmpty = true;
  for await (const message of shownMessages(path, options)) {
    isEmpty = false;
    const lines = redactText(bodyOf(message)).split("\n");
    const isLong = message.role === "tool" && lines.length > MAX_RESULT_LINES;
    const text = (isLong ? [...lines.slice(0, MAX_RESULT_LINES), "…"] : lines).join("\n");
    await writeOut(`${messageLines({ speaker: SPEAKERS[message.role], at: message.at, text })}\n`);
  }
  if (isEmpty) printStyled(style("dim", "(no messages)"));
  else if (options.all !== true) printStyled(style("dim", "(--all also shows earlier messages and tool output)"));
}

function factsOf({ sessionId, repoPath, branch, archived }: DiscoveredSession): string[] {
  return [sessionId, shortPath(repoPath), branch, archived === true ? "archived" : ""].filter((fact) => fact !== "");
}

function bodyOf({ text, calls }: NativeMessage): string {
  return [...(text === "" ? [] : [text]), ...calls.map((call) => `(${callText(call)})`)].join("\n");
}

const ARGUMENT_LENGTH = 200;

/** The call with its most telling argument. */
function callText({ name, input }: NativeCall): string {
  const names = ["file_path", "notebook_path", "command", "pattern", "query", "url", "path", "description"];
  const argument = names.map((member) => input[member]).find((value) => typeof value === "string");
  return typeof argument === "string" ? `${name} ${argument.slice(0, ARGUMENT_LENGTH)}` : name;
}

export async function exportFound(session: DiscoveredSession, options: ExportNativeOptions): Promise<void> {
  const path = transcriptOf(session);
  await writeExport(render(session, path, options.format ?? "md"), options.output);
}

function render(session: DiscoveredSession, path: string, format: NativeFormat): AsyncIterable<string> {
  const title = redactText(sessionTitle(session)).replaceAll("\n", " ");
  const head = { title, facts: factsOf(session) };
  if (format === "jsonl") return rawLines(path);
  return format === "md" ? renderMarkdown(head, withoutTools(path)) : renderPage(head, withTools(path));
}

async function* rawLines(path: string): AsyncGenerator<string> {
  for await (const { record } of readNativeLines(path)) yield encodeLine(redactValue(record));
}

async function* withoutTools(path: string): AsyncGenerator<ShownMessage> {
  for await (const message of readNativeMessages(path)) {
    if (message.role === "tool") continue;
    yield { speaker: SPEAKERS[message.role], at: message.at, text: redactText(bodyOf(message)) };
  }
}

async function* withTools(path: string): AsyncGenerator<ShownMessage> {
  for await (const { role, at, text, calls } of readNativeMessages(path)) {
    const details = calls.map((call) => ({
      title: redactText(callText(call)),
      text: JSON.stringify(redactValue(call.input), undefined, 2),
    }));
    yield { speaker: SPEAKERS[role], at, text: redactText(text), details };
  }
}
