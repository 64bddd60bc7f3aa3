/**
 * `holdfast cc attach`: a person opens a session in this terminal. Holdfast holds the session's lease
 * for as long as `claude` runs, so that no run of an agent writes it meanwhile.
 */
import { constants } from "node:os";
import { nodeChildProcess } from "../../../base/builtin.ts";
import { ERROR_KINDS, HoldfastError } from "../../../base/errors.ts";
import type { ClaudeSide } from "../../../compose-claude.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import { type ClaudeOptions, withClaude } from "./claude-side.ts";
import { type ResumeCommand, requireResumeCommand } from "./resume-command.ts";
import { shortId } from "./session-view.ts";

export type AttachOptions = ClaudeOptions & { fork?: boolean };

export async function attach(id: string, options: AttachOptions): Promise<void> {
  await withClaude(options, async (side) => await attachSession(side, await side.find(id), options));
}

export async function attachSession(
  side: ClaudeSide,
  session: DiscoveredSession,
  options: AttachOptions,
): Promise<void> {
  const resume = requireResumeCommand(session, side.config.command);
  process.exitCode =
    options.fork === true
      ? // A copy gets an id of its own; the session itself is only read.
        await runInTerminal({ ...resume, args: [...resume.args, "--fork-session"] })
      : await runAsOnlyWriter(side, session, resume);
}

async function runAsOnlyWriter(side: ClaudeSide, session: DiscoveredSession, resume: ResumeCommand): Promise<number> {
  const { sessionId } = session;
  const runner = await side.runner();
  const lease = { sessionId, repoPath: resume.cwd, agentId: side.agentId, onRunning: "refuse" } as const;
  try {
    return await runner.withSession(lease, async () => await runInTerminal(resume));
  } catch (error) {
    throw isTaken(error) ? taken(error, sessionId) : error;
  }
}

/** Resolves to the exit code, as a shell would give it. */
async function runInTerminal({ command, args, cwd }: ResumeCommand): Promise<number> {
  const [{ findProgram }, { claudeEnvironment }] = await Promise.all([
    import("../../../claude/runner/process/find-program.ts"),
    import("../../../claude/runner/process/environment.ts"),
  ]);
  // It is the person who speaks here, not an agent: the lines shall not say that Holdfast did.
  const { CLAUDE_CODE_ENTRYPOINT: _, ...env } = claudeEnvironment(process.env);
  const child = nodeChildProcess().spawn(findProgram(command, process.env), args, { cwd, env, stdio: "inherit" });
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

/** The terminal sends Ctrl-C to both; what it means is for Claude Code to say. */
const ignore = (): void => undefined;

const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

function isTaken(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code === "session-in-use";
}

function taken(error: HoldfastError, sessionId: string): HoldfastError {
  const { agentId, task } = error.data;
  const who = typeof agentId === "string" ? ` Agent ${agentId}: ${String(task)}` : "";
  return new HoldfastError("locked", error.code, `${error.message}${who}`, {
    hint: `Wait for it, end it (holdfast cc kill ${shortId(sessionId)}), or open a copy (holdfast cc attach ${shortId(sessionId)} --fork).`,
    data: error.data,
    cause: error,
  });
}
