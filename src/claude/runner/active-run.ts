/**
 * One `claude` process and everything that belongs to it: leases, run record, files, the watch for a
 * second writer, the idle timer. `finish` releases all of it once, and the leases last: no other run may
 * start while anything of this one is left.
 */
import { HoldfastError, errorMessage, hasCode } from "../../base/errors.ts";
import type { RunningSession } from "../native/layout.ts";
import type { SessionSelection } from "../selection/selection.ts";
import { throwIfCancelled, timerDelay, watchForWriters } from "./leases.ts";
import type { ClaudeEvent, ClaudeProcess, ClaudeTurn } from "./process/claude-process.ts";
import type { ControlHost } from "./control.ts";
import type { Reservation } from "./reservation.ts";
import { type EventRelay, createProgressTracker } from "./run-events.ts";
import { type RunRecordFile, toLiveSession } from "./run-files.ts";
import type { ClaudeCodeResult, LiveSession, RunnerParts } from "./runner-contract.ts";
import { type KeyedMutex, createKeyedMutex } from "../../base/async.ts";

export interface RunnerContext {
  parts: RunnerParts;
  /** By run id. */
  runs: Map<string, ActiveRun>;
  control: ControlHost;
  /** Keeps tasks for one place in their order. */
  arrivals: KeyedMutex;
}

export interface TaskRequest {
  /** As the person wrote it. */
  task: string;
  /** As Claude Code receives it. Called when earlier tasks are done. */
  message: () => string;
  selection: SessionSelection;
  relay: EventRelay;
  warnings: string[];
  signal?: AbortSignal | undefined;
  /** Default: from the configuration. */
  timeoutMs?: number | undefined;
}

export interface TaskResult {
  turn: ClaudeTurn;
  result: ClaudeCodeResult;
}

export interface ActiveRunSetup {
  parts: RunnerParts;
  agentId: string;
  reservation: Reservation;
  process: ClaudeProcess;
  record: RunRecordFile;
  /** Removes the record and files of the run. Called before the leases are released. */
  onFinish: () => Promise<void>;
}

export class ActiveRun {
  readonly runId: string;
  readonly agentId: string;
  /** The conversation of the run. Undefined: it works on a task. */
  readonly sessionKey: string | undefined;
  readonly reservation: Reservation;
  readonly process: ClaudeProcess;
  private readonly setup: ActiveRunSetup;
  private readonly line = createKeyedMutex();
  private readonly progress = createProgressTracker();
  /** Resolves when every event so far has been handled. */
  private handled = Promise.resolve();
  private readonly endWatch: () => void;
  private task: TaskRequest | undefined;
  private writes: string;
  /** All turns of the process, as Claude Code counts them. */
  private turns = 0;
  /** The session that was last saved for the current task. */
  private savedSession: string | undefined;
  private isUnmarked = false;
  /** Warnings that came up between tasks. */
  private readonly pendingWarnings: string[] = [];
  private version: string | undefined;
  private idleMs: number | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  /** The run was stopped, so no other may start in its place. */
  isEnded = false;
  private finished: Promise<void> | undefined;

  constructor(setup: ActiveRunSetup) {
    const { parts, record } = setup;
    const { runId, sessionKey } = record.current();
    this.setup = setup;
    this.runId = runId;
    this.sessionKey = sessionKey;
    this.agentId = setup.agentId;
    this.reservation = setup.reservation;
    this.process = setup.process;
    this.writes = setup.reservation.writes;
    this.process.listen((event) => {
      this.handled = this.handled
        .then(async () => await this.handle(event))
        .catch((error: unknown) => parts.log.warn("An event of Claude Code was lost", { error }));
    });
    const own = (): { pid: number; sessionId: string } => ({ pid: this.process.pid, sessionId: this.writes });
    this.endWatch = watchForWriters(parts.readRunning, own, (writer) => this.warnOfWriter(writer));
  }

  sessionId(): string {
    return this.writes;
  }

  live(): LiveSession {
    return toLiveSession(this.setup.record.current());
  }

  /** True once after the session was replaced: its first message needs the agent's marker. */
  takeUnmarked(): boolean {
    const { isUnmarked } = this;
    this.isUnmarked = false;
    return isUnmarked;
  }

  /** One task at a time, in order. */
  async runTask(request: TaskRequest): Promise<TaskResult> {
    const turn = await this.line.run("turn", async () => await this.runTurn(request));
    if (turn.outcome !== "stale-resume" && turn.sessionId !== undefined) await this.recordCost(turn, request.warnings);
    return { turn, result: this.toResult(turn, request) };
  }

  /** From now on the run finishes when its process ends or receives nothing for `idleMs`. */
  keep(idleMs: number): void {
    this.idleMs = idleMs;
    this.startIdling();
    void this.process.ended.then(async () => await this.finish());
  }

  /** Interrupts the turn first, so that the text so far reaches the transcript, then finishes the run. */
  async end(): Promise<void> {
    this.isEnded = true;
    await this.process.interrupt();
    await this.finish();
  }

  /** Ends the process and releases everything. */
  async finish(): Promise<void> {
    await (this.finished ??= this.releaseAll());
  }

  /** A failed step does not stop the others; the end of this process releases the rest. */
  private async releaseAll(): Promise<void> {
    clearTimeout(this.idleTimer);
    await this.process.stop();
    await this.handled;
    this.endWatch();
    const { parts, onFinish } = this.setup;
    for (const step of [onFinish, async () => await this.reservation.release()]) {
      await step().catch((error: unknown) => parts.log.error("A run could not release everything", { error }));
    }
  }

  /** Sends the message first: a process without a session to resume exits when it gets no input. */
  private async runTurn(task: TaskRequest): Promise<ClaudeTurn> {
    const { parts, record } = this.setup;
    if (this.finished !== undefined || this.process.state === "ended") throw hasEnded(this.writes);
    clearTimeout(this.idleTimer);
    this.task = task;
    task.warnings.push(...this.pendingWarnings.splice(0));
    this.savedSession = undefined;
    void record.update({ state: "busy" });
    const { timeoutMinutes, progressSeconds } = parts.configOf(this.agentId);
    const endProgress = this.progress.begin(task.relay, timerDelay(progressSeconds * 1000));
    try {
      return await this.sendMessage(task, timerDelay(task.timeoutMs ?? timeoutMinutes * 60_000));
    } finally {
      endProgress();
      this.task = undefined;
      await record.update({ state: "idle" });
      this.startIdling();
    }
  }

  private async sendMessage({ message, signal }: TaskRequest, timeoutMs: number): Promise<ClaudeTurn> {
    const text = message();
    throwIfCancelled(signal);
    const onAbort = (): void => void this.process.interrupt();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const turn = await this.process.send(text, { timeoutMs });
      // The watcher receives all events of the turn, even if the registry is slow.
      await this.handled;
      return turn;
    } catch (error) {
      throw hasCode(error, "claude-ended") ? hasEnded(this.writes) : error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  private async handle(event: ClaudeEvent): Promise<void> {
    const { task } = this;
    if (event.type === "turn-ended") {
      // A failed resume reports an id that belongs to no session.
      if (event.turn.outcome === "stale-resume") return;
      this.turns += event.turn.numTurns;
    }
    if (!WITHOUT_SESSION.has(event.type)) await this.followSession(event.sessionId);
    if (task !== undefined && event.type === "init") await this.saveSession(task);
    if (task !== undefined) this.progress.see(event, task.relay);
    // Claude Code started this turn itself, as it does when a background command ends.
    if (event.type === "turn-ended" && !event.asked) await this.recordCost(event.turn, []);
  }

  /** `/clear` and a fork continue under another id. */
  private async followSession(sessionId: string | undefined): Promise<void> {
    if (sessionId === undefined || sessionId === this.writes) return;
    const from = this.writes;
    this.writes = sessionId;
    this.isUnmarked = true;
    await this.reservation.add(sessionId).catch((error: unknown) => {
      this.setup.parts.log.error("The new session of a run could not be locked", { error, sessionId });
    });
    await this.reservation.drop(from);
    await this.setup.record.update({ sessionId });
    this.task?.relay.emit({ type: "session-changed", from, to: sessionId });
  }

  private async saveSession({ task, warnings, selection }: TaskRequest): Promise<void> {
    if (this.savedSession === this.writes) return;
    const sessionId = this.writes;
    this.savedSession = sessionId;
    const { lane, conversation } = this.reservation;
    // A chat always uses its own session, and a follow-up the open one.
    const isDecided = conversation === undefined && (selection.action !== "continue" || selection.scores.length > 0);
    const decision = isDecided ? selection : undefined;
    const session = { repoPath: lane.worktree, label: lane.label, sessionId, task, conversation, decision };
    try {
      await this.cliVersion();
      await this.setup.parts.registry.saveSession(this.agentId, session);
    } catch (error) {
      warnings.push(`The session could not be saved in the registry: ${errorMessage(error)}`);
    }
  }

  /** From Claude Code's own list of processes. */
  private async cliVersion(): Promise<string | undefined> {
    const running = this.version === undefined ? await this.setup.parts.readRunning().catch(() => []) : [];
    this.version ??= running.find(({ pid }) => pid === this.process.pid)?.version;
    return this.version;
  }

  private async recordCost(turn: ClaudeTurn, warnings: string[]): Promise<void> {
    const { registry, log } = this.setup.parts;
    const { start } = this.reservation;
    try {
      await registry.updateSessionStats(this.agentId, {
        sessionId: this.writes,
        runId: this.runId,
        cumulativeCostUsd: turn.totalCostUsd,
        turns: this.turns,
        cliVersion: await this.cliVersion(),
        forkedFrom: start.kind === "fork" ? start.sessionId : undefined,
      });
    } catch (error) {
      warnings.push(`The cost of this run was not recorded in the registry: ${errorMessage(error)}`);
      log.warn("The registry could not be updated", { error });
    }
  }

  private toResult(turn: ClaudeTurn, { selection, warnings }: TaskRequest): ClaudeCodeResult {
    // Without a session id from the process, a new session was never created.
    const hasSession = turn.sessionId !== undefined || this.reservation.start.kind === "resume";
    const { outcome, text, costUsd, numTurns: turns, durationMs, denials, error, apiStatus } = turn;
    const sessionId = hasSession ? this.writes : undefined;
    const told = { outcome, sessionId, text, costUsd, turns, durationMs, selection, denials, warnings };
    return { ...told, error, apiStatus, isLive: false };
  }

  private warnOfWriter({ pid }: RunningSession): void {
    const text =
      `Process ${pid} has opened session ${this.writes} while Holdfast writes it. ` +
      "Claude Code keeps only one of the two branches: end that process, or let it work on a copy (--fork-session).";
    this.setup.parts.log.error(text, { sessionId: this.writes, pid });
    (this.task?.warnings ?? this.pendingWarnings).push(text);
    this.task?.relay.emit({ type: "second-writer", pid, sessionId: this.writes, text });
  }

  private startIdling(): void {
    if (this.idleMs === undefined || this.finished !== undefined) return;
    clearTimeout(this.idleTimer);
    // A turn that Claude Code started itself counts as work.
    const onIdle = (): void => void (this.process.state === "busy" ? this.startIdling() : this.finish());
    this.idleTimer = setTimeout(onIdle, timerDelay(this.idleMs)).unref();
  }
}

/** Their id may belong to no session: `turn-ended` follows a result, and hooks run before a resume has failed. */
const WITHOUT_SESSION: ReadonlySet<ClaudeEvent["type"]> = new Set(["result", "hook", "unknown"]);

function hasEnded(sessionId: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-live", "The process of this session has ended.", {
    hint: `Continue with \`holdfast cc run --resume ${sessionId}\`.`,
    data: { sessionId },
  });
}
