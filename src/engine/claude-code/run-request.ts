/** A turn as a task for the runner: which model, which permissions, which session. */
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import { withHandOff } from "../../claude/runner/hand-off.ts";
import { withoutCommand, withoutMentions } from "../../claude/runner/plain-prompt.ts";
import { isSessionId } from "../../claude/runner/lease-files.ts";
import type { SpawnOptions } from "../../claude/runner/runner-contract.ts";
import type { ClaudeCodeConfig } from "../../config/config.ts";
import { attachmentsOf } from "../../transcript/attachments.ts";
import type { EngineTurn } from "../engine.ts";
import { conversationDigest, wasBegun } from "./conversation-digest.ts";

export interface RunRequest {
  options: SpawnOptions;
  /** The session that the conversation is in, if it is in one. */
  resumes: string | undefined;
  /** There was a conversation before this message. */
  hasPast: boolean;
}

/** The session of Claude Code that the conversation is in. */
export function resumedSession({ engineSessionId }: EngineTurn): string | undefined {
  return engineSessionId !== undefined && isSessionId(engineSessionId) ? engineSessionId : undefined;
}

/** `left`: what the conversation left so far, for a session that does not know it. */
export function toRunRequest(turn: EngineTurn, config: ClaudeCodeConfig, left?: string): RunRequest {
  const digest = conversationDigest(turn.context, turn.text);
  const resumes = resumedSession(turn);
  const task = taskOf(turn);
  const model = modelOf(turn.model);
  const effort = effortOf(turn.thinking);
  const permissionMode = permissionModeOf(turn, config);
  const isTold = resumes === undefined && digest !== undefined;
  const options: SpawnOptions = {
    task: isTold ? withHandOff(task, BEGAN_BEFORE, left === undefined ? digest : `${digest}\n\n${left}`) : task,
    repoPath: turn.workspace,
    agentId: turn.agentId,
    label: laneLabel(turn.sessionKey),
    sessionKey: turn.sessionKey,
    allowedTools: [...config.allowedTools, MEMORY_RULE, ...attachmentRules(turn)],
    ...(turn.system.trim() === "" ? {} : { systemPrompt: turn.system }),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(resumes === undefined ? { fresh: true } : { resume: resumes }),
    ...(digest === undefined ? {} : { handOff: digest }),
  };
  return { options, resumes, hasPast: digest !== undefined };
}

const BEGAN_BEFORE = "This conversation began before this session.";

/** The agent's own notes: nobody is there to be asked. The rule covers every tool that edits files. */
const MEMORY_RULE = "Edit(./memory/**)";

/** A command line has only so much room: of very many the newest count. */
const MOST_ATTACHMENTS = 200;

/**
 * What people sent in this conversation may be read. File by file: in the same folder lies what others sent,
 * so it cannot be added as a whole (`--add-dir`). A path that would mean something in a rule is left out.
 */
function attachmentRules({ context }: EngineTurn): string[] {
  const paths = attachmentsOf(context).map(({ path }) => path);
  const plain = paths.filter((path) => /^\/[\p{L}\p{N}/._ @+=~-]+$/u.test(path));
  return plain.slice(-MOST_ATTACHMENTS).map((path) => `Read(/${path})`);
}

const MAX_LABEL = 100;

/** Chats of one agent share its workspace and run side by side; the label makes each a lane of its own. */
function laneLabel(sessionKey: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what a label may not have
  if (sessionKey.trim() !== "" && sessionKey.length <= MAX_LABEL && !/[\u0000-\u001f\u007f]/.test(sessionKey)) {
    return sessionKey;
  }
  return `chat-${nodeCrypto().createHash("sha256").update(sessionKey).digest("hex").slice(0, 32)}`;
}

function taskOf({ context, text }: EngineTurn): string {
  if (text.trim() === "") return "(a message without text)";
  const plain = withoutMentions(isCompaction(text) ? text : withoutCommand(text));
  return wasBegun(context, text) ? `${BEGUN_BEFORE}\n\n${plain}` : plain;
}

/** The one command of Claude Code that a turn may be: the others are not for whoever writes to the agent. */
export function isCompaction(text: string): boolean {
  return /^\/compact(?:\s|$)/.test(text);
}

const BEGUN_BEFORE =
  "You were interrupted while you worked on the following message. Look at what is done already, then go on; do not do it twice.";

const PROVIDERS: ReadonlySet<string> = new Set(["anthropic", "claude-code"]);

function modelOf(name: string | undefined): string | undefined {
  const slash = name?.indexOf("/") ?? -1;
  if (name === undefined || slash === -1) return name;
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  if (PROVIDERS.has(provider.toLowerCase())) return model;
  throw new HoldfastError("unsupported", "claude-model-foreign", `Claude Code cannot use the model ${name}.`, {
    hint: "Choose a model of Anthropic with /model, or give the agent the engine `model`.",
    data: { model: name },
  });
}

const EFFORTS: Readonly<Record<string, string>> = {
  // Claude Code has nothing below it.
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

function effortOf(thinking: string | undefined): string | undefined {
  return thinking === undefined || !Object.hasOwn(EFFORTS, thinking) ? undefined : EFFORTS[thinking];
}

/** Where everything is only planned nothing could be noted down. */
function permissionModeOf({ kind }: EngineTurn, config: ClaudeCodeConfig): SpawnOptions["permissionMode"] {
  return kind === "flush" && config.permissionMode === "plan" ? "default" : config.permissionMode;
}
