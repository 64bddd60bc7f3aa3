/**
 * `holdfast cc attach`: opens a session in this terminal. Holdfast holds the session's lease while `claude` runs, so
 * that no agent writes the session meanwhile.
 */
import { RUN_KIND_VARIABLE } from "../../../claude/attribution.ts";
import { constants } from "node:os";
import { nodeChildProcess } from "../../../base/builtin.ts";
import { ERROR_KINDS, HoldfastError, hasCode } from "../../../base/errors.ts";
import { shortId } from "../../../base/ids.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import { type ClaudeOptions, withClaude, isFolder } from "./claude-side.ts";
import { sessionOfChat } from "../../../claude/runner/leases.ts";
import type { ClaudeSide } from "../../../compose/claude.ts";

export type AttachOptions = ClaudeOptions & { fork?: boolean | undefined; chat?: boolean | undefined };

export async function attach(id: string, options: AttachOptions): Promise<void> {
  await withClaude(options, async (side) => await attachSession(side, await side.find(id), options));
}

export async function attachSession(
  side: ClaudeSide,
  session: DiscoveredSession,
  options: AttachOptions,
): Promise<void> {
  if (session.conversation !== undefined && options.fork !== true && options.chat !== true)
    throw belongsToChat(session);
  const resume = requireResumeCommand(session, side.config.command);
  process.exitCode =
    options.fork === true
      ? // A copy gets a new id; the session itself is only read.
        await runInTerminal({ ...resume, args: [...resume.args, "--fork-session"] }, session)
      : await runAsOnlyWriter(side, session, resume);
}

async function runAsOnlyWriter(side: ClaudeSide, session: DiscoveredSession, resume: ResumeCommand): Promise<number> {
  const { sessionId } = session;
  const runner = await side.runner();
  const lease = { sessionId, repoPath: resume.cwd, agentId: side.agentId, onRunning: "refuse" } as const;
  try {
    return await runner.withSession(lease, async () => await runInTerminal(resume, session));
  } catch (error) {
    if (!hasCode(error, "session-in-use")) throw error;
    const { agentId, task } = error.data;
    const who = typeof agentId === "string" ? ` Agent ${agentId}: ${String(task)}` : "";
    const id = shortId(sessionId);
    throw new HoldfastError("locked", error.code, `${error.message}${who}`, {
      hint: `Wait until it is free, end it (holdfast cc kill ${id}), or open a copy (holdfast cc attach ${id} --fork).`,
      data: error.data,
      cause: error,
    });
  }
}

/** Returns the exit code as a shell would. */
async function runInTerminal(
  { command, args, cwd }: ResumeCommand,
  { conversation }: DiscoveredSession,
): Promise<number> {
  const { claudeEnvironment, findClaude } = await import("../../../claude/runner/process/command-line.ts");
  // Marks every line in a chat's session, or a copy of one, as the chat's.
  const env = claudeEnvironment(
    conversation === undefined ? process.env : { ...process.env, [RUN_KIND_VARIABLE]: "chat" },
  );
  // Any other session is a person's, not an agent's.
  if (conversation === undefined) delete env["CLAUDE_CODE_ENTRYPOINT"];
  const child = nodeChildProcess().spawn(findClaude(command, process.env), args, { cwd, env, stdio: "inherit" });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", ignore);
  for (const signal of PASSED_ON) process.on(signal, pass);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        resolve(code ?? (signal === null ? ERROR_KINDS.internal.exitCode : 128 + constants.signals[signal]));
      });
    });
  } finally {
    process.off("SIGINT", ignore);
    for (const signal of PASSED_ON) process.off(signal, pass);
  }
}

/** The terminal sends Ctrl-C to both processes; Claude Code handles it. */
const ignore = (): void => undefined;

const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

function belongsToChat({ sessionId, conversation = "" }: DiscoveredSession): HoldfastError {
  const { kind, code, message, data } = sessionOfChat(sessionId, conversation);
  const id = shortId(sessionId);
  return new HoldfastError(kind, code, message, {
    hint: `Open a copy (holdfast cc attach ${id} --fork), or open the session itself with --chat: the agent then sees what you write.`,
    data,
  });
}

export type ResumeCommand = NonNullable<ReturnType<typeof resumeCommand>>;

/** Undefined if the session cannot be resumed. Claude Code finds a session only from a folder of its repo. */
export function resumeCommand(session: DiscoveredSession, command: string) {
  const cwd = sessionFolder(session);
  if (cwd === undefined || !hasTranscript(session)) return undefined;
  return { command, args: ["--resume", session.sessionId], cwd };
}

export function requireResumeCommand(session: DiscoveredSession, command: string): ResumeCommand {
  const resume = resumeCommand(session, command);
  if (resume !== undefined) return resume;
  const id = shortId(session.sessionId);
  if (session.archived === true) {
    throw new HoldfastError(
      "not-found",
      "session-archived",
      `Claude Code has deleted session ${id}; a copy is archived`,
      {
        hint: `Restore it: holdfast cc archive --restore ${id} --to <folder>`,
      },
    );
  }
  if (!hasTranscript(session)) {
    throw new HoldfastError("not-found", "no-transcript", `Session ${id} has no transcript`, {
      hint: "It was deleted; start a new session.",
    });
  }
  throw new HoldfastError("not-found", "folder-not-found", `All folders of session ${id} are gone`, {
    hint: "Create the folder again (git worktree add), or read the transcript: `holdfast cc info` shows its path.",
    data: { cwds: session.cwds },
  });
}

/** The last folder of the session that still exists. */
export function sessionFolder({ cwds, repoPath }: DiscoveredSession): string | undefined {
  return [...cwds.toReversed(), repoPath].find((folder) => folder !== "" && isFolder(folder));
}

function hasTranscript({ transcriptPath, archived, isRunning }: DiscoveredSession): boolean {
  return isRunning || (transcriptPath !== undefined && archived !== true);
}
