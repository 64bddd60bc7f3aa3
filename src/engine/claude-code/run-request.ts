/** Turns an engine turn into a task for the runner: the text, the model, the permissions, the session. */
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { SpawnOptions } from "../../claude/runner/runner-contract.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import type { EngineTurn } from "../engine.ts";
import type { ClaudeCodeConfig } from "../../config/claude-code.ts";
import { indentLines } from "../../base/text.ts";
import { withHandOff, withoutCommand, withoutMentions } from "../../claude/runner/prompt-text.ts";
import { isNativeSessionId, mcpToolNames } from "../../claude/runner/run-files.ts";
import { SESSION_TOOL_NAMES } from "../tools/session-tools.ts";
import { attachmentsOf, createTimeLines, handoffText, messageText, withoutHandoff } from "../../transcript/messages.ts";

export type RunRequest = ReturnType<typeof toRunRequest>;

/** The Claude Code session of the conversation. Undefined: none yet, or the id is not one of Claude Code's. */
export function resumedSession({ engineSessionId }: EngineTurn): string | undefined {
  return engineSessionId !== undefined && isNativeSessionId(engineSessionId) ? engineSessionId : undefined;
}

/** `left` is the hand-off for a session that has lost the conversation. */
export function toRunRequest(turn: EngineTurn, config: ClaudeCodeConfig, left?: string) {
  const digest = conversationDigest(turn.context, turn.text);
  const resumes = resumedSession(turn);
  const task = taskOf(turn);
  const model = modelOf(turn.model);
  const isLowest = turn.thinking === "off" || turn.thinking === "minimal";
  const effort = isLowest ? "low" : EFFORTS.find((known) => known === turn.thinking);
  // A flush must be able to write, which plan mode forbids.
  const isPlanning = config.permissionMode === "plan" && turn.kind === "flush";
  const permissionMode = isPlanning ? "default" : config.permissionMode;
  const isTold = resumes === undefined && digest !== undefined;
  const options: SpawnOptions = {
    task: isTold ? withHandOff(task, BEGAN_BEFORE, left === undefined ? digest : `${digest}\n\n${left}`) : task,
    repoPath: turn.workspace,
    agentId: turn.agentId,
    label: laneLabel(turn.sessionKey),
    sessionKey: turn.sessionKey,
    allowedTools: [...config.allowedTools, MEMORY_RULE, ...SESSION_RULES, ...attachmentRules(turn)],
    ...(turn.system.trim() === "" ? {} : { systemPrompt: turn.system }),
    model,
    effort,
    permissionMode,
    ...(resumes === undefined ? { fresh: true } : { resume: resumes }),
    handOff: digest,
  };
  return { options, resumes, hasPast: digest !== undefined };
}

const BEGAN_BEFORE = "This conversation began before this session.";

/** Memory notes need no permission. The rule covers every tool that edits files. */
const MEMORY_RULE = "Edit(./memory/**)";

/** The gateway decides what a conversation may reach, in which repo a task works, and at what cost. */
const SESSION_RULES = mcpToolNames(SESSION_TOOL_NAMES);

/** Limits the length of the command line. The newest attachments win. */
const MAX_ATTACHMENTS = 200;

/**
 * Allows reading the files of this conversation, one by one: their folder also holds files of other people,
 * so `--add-dir` is not an option. Skips paths with characters that have a meaning in a rule.
 */
function attachmentRules({ context }: EngineTurn): string[] {
  const paths = attachmentsOf(context).map(({ path }) => path);
  const plain = paths.filter((path) => /^\/[\p{L}\p{N}/._ @+=~-]+$/u.test(path));
  return plain.slice(-MAX_ATTACHMENTS).map((path) => `Read(/${path})`);
}

const MAX_LABEL = 100;

/** The chats of an agent share a workspace. Their labels let them run in parallel. */
function laneLabel(sessionKey: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what a label may not have
  if (sessionKey.trim() !== "" && sessionKey.length <= MAX_LABEL && !/[\u0000-\u001f\u007f]/.test(sessionKey)) {
    return sessionKey;
  }
  return `chat-${nodeCrypto().createHash("sha256").update(sessionKey).digest("hex").slice(0, 32)}`;
}

function taskOf({ context, text }: EngineTurn): string {
  if (text.trim() === "") return "(a message without text)";
  if (isCompaction(text)) return withoutMentions(text);
  const plain = `${withoutMentions(withoutCommand(text))}${timeLine(context, text)}`;
  return wasBegun(context, text) ? `${BEGUN_BEFORE}\n\n${plain}` : plain;
}

/** At the end, because Claude Code names a session by the beginning of its first message. */
function timeLine(context: readonly TranscriptMessage[], text: string): string {
  const message = context[placeOfMessage(context, text)];
  const time = message === undefined ? undefined : createTimeLines()(message);
  return time === undefined ? "" : `\n\n${time}`;
}

/** `/compact` is the only command that may reach Claude Code; others are escaped. */
export function isCompaction(text: string): boolean {
  return /^\/compact(?:\s|$)/.test(text);
}

const BEGUN_BEFORE =
  "You were interrupted while you worked on the following message. Check what is done already, then continue; do not repeat it.";

const PROVIDERS: ReadonlySet<string> = new Set(["anthropic", "claude-code"]);

function modelOf(name: string | undefined): string | undefined {
  const slash = name?.indexOf("/") ?? -1;
  if (name === undefined || slash === -1) return name;
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  if (PROVIDERS.has(provider.toLowerCase())) return model;
  throw new HoldfastError("unsupported", "claude-model-foreign", `Claude Code cannot use the model ${name}.`, {
    hint: "Choose an Anthropic model with /model, or set the agent's engine to `model`.",
    data: { model: name },
  });
}

/** The lowest is also used for `off` and `minimal`. */
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** The digest replaces Claude Code's memory: the last compaction summary, and as many of the newest messages as fit. */
/** Must fit into a hand-off. */
const MAX_CHARACTERS = 8000;
const MAX_SUMMARY = 3000;
const MAX_MESSAGE = 1500;
const MAX_LEFT = 3000;

/** Undefined: there are no earlier messages. Leaves out `text`, the message being answered. */
function conversationDigest(context: readonly TranscriptMessage[], text: string): string | undefined {
  const place = placeOfMessage(context, text);
  // Messages after it come from an interrupted attempt and belong to the digest.
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

function wasBegun(context: readonly TranscriptMessage[], text: string): boolean {
  const place = placeOfMessage(context, text);
  return place !== -1 && context.slice(place + 1).some(({ role }) => role === "assistant" || role === "toolResult");
}

/** -1 for a turn without a message, such as a flush. */
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

/** Skips tool results: the agent's own messages sum them up. */
function describe(message: TranscriptMessage): string | undefined {
  const speaker = SPEAKERS[message.role];
  const body = messageText(withoutHandoff(message)).trim();
  if (speaker === undefined || body === "") return undefined;
  const words = message.role === "user" ? cutMiddle(body, MAX_MESSAGE) : cut(body, MAX_MESSAGE);
  return `${leftBefore(message)}${speaker}: ${indentLines(words)}`;
}

/** The hand-off that the conversation started with. */
function leftBefore(message: TranscriptMessage): string {
  const left = message.role === "user" ? handoffText(message.content) : undefined;
  return left === undefined ? "" : `${SPEAKERS.custom}: ${indentLines(cut(left, MAX_LEFT))}\n`;
}

/** Keeps mostly the end: group history and events precede the person's own text. */
function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.floor((length * 2) / 3);
  return `${cut(text, length - end)}${text.slice(-end).toWellFormed()}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
