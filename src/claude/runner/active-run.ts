/**
 * One `claude` process with everything that belongs to it: its leases, its record for other processes,
 * its MCP file, the watch for a second writer, the idle timer. `finish` gives all of it back, once, and
 * the leases last: nobody else may start while anything of this run is left.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createKeyedMutex } from "../../base/mutex.ts";
import type { RunningSession } from "../native/running.ts";
import type { EventRelay } from "./event-relay.ts";
import { toLiveSession } from "./live-runs.ts";
import type { ClaudeEvent, ClaudeProcess, ClaudeTurn } from "./process/claude-process.ts";
import { createProgressTracker } from "./progress.ts";
import type { Reservation } from "./reservation.ts";
import type { RunRecordFile } from "./run-record-file.ts";
import type { LiveSession } from "./runner-contract.ts";
import { type ReadRunning, watchForWriters } from "./second-writers.ts";
import { timerDelay } from "./timer-delay.ts";
import { throwIfCancelled } from "./wait-line.ts";

export interface ActiveRun {
  readonly runId: string;
  readonly agentId: string;
  readonly reservation: Reservation;
  readonly process: ClaudeProcess;
  /** The id under which it writes now. */
  sessionId(): string;
  live(): LiveSession;
  /** One task at a time, in the order they came; `message` is asked when the ones before it are done. */
  runTask(message: () => string, task: TaskRun): Promise<ClaudeTurn>;
  /** As Claude Code's own list of processes names it. */
  cliVersion(): Promise<string | undefined>;
  /** Turns since the process began, as Claude Code counts them. */
  totalTurns(): number;
  /** True once after the session was replaced by a new one: its first message needs the agent's mark. */
  takeUnmarked(): boolean;
  /** From now on the run ends by itself: when its process does, or when nobody sends anything for long. */
  keep(idleMs: number): void;
  /** For whoever wants the run to end: interrupts what it does, then finishes it. */
  end(): Promise<void>;
  /**
   * Ends the process and gives everything back. With `keepLeases` the reservation stays with the caller,
   * who must not go on with it when somebody else has ended the run for good: `leasesKept` is false then.
   */
  finish(options?: { keepLeases?: boolean }): Promise<{ leasesKept: boolean }>;
}

export interface TaskRun {
  relay: EventRelay;
  signal?: AbortSignal | undefined;
  /** Filled with what a person must know. */
  warnings: string[];
  timeoutMs: number;
  progressMs: number;
  /** Called when the session is known to have begun, and again when the task goes on in another one. */
  onSession(sessionId: string): Promise<void>;
}

export interface ActiveRunSetup {
  agentId: string;
  reservation: Reservation;
  process: ClaudeProcess;
  record: RunRecordFile;
  readRunning: ReadRunning;
  log: Logger;
  /** After a turn that nobody asked for: Claude Code begins one when a command in the background ends. */
  onOwnTurn(run: ActiveRun, turn: ClaudeTurn): Promise<void>;
  /** Called first when everything is given back. */
  onFinish(): Promise<void>;
}

export function createActiveRun(setup: ActiveRunSetup): ActiveRun {
  return new Run(setup);
}

class Run implements ActiveRun {
  readonly runId: string;
  readonly agentId: string;
  readonly reservation: Reservation;
  readonly process: ClaudeProcess;
  private readonly setup: ActiveRunSetup;
  private readonly line = createKeyedMutex();
  private readonly progress = createProgressTracker();
  private readonly pumped: Promise<void>;
  private readonly endWatch: () => void;
  private task: TaskRun | undefined;
  private writes: string;
  private turns = 0;
  /** The session that the registry was told about for the current task. */
  private noted: string | undefined;
  private isUnmarked = false;
  private turnSeen = Promise.withResolvers<void>();
  /** Warnings that nobody was there to hear. */
  private readonly unsaid: string[] = [];
  private version: string | undefined;
  private idleMs: number | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  /** Somebody has asked for the end of the run, not only of its process. */
  private isOver = false;
  private finished: Promise<void> | undefined;

  constructor(setup: ActiveRunSetup) {
    this.setup = setup;
    this.runId = setup.record.current().runId;
    this.agentId = setup.agentId;
    this.reservation = setup.reservation;
    this.process = setup.process;
    this.writes = setup.reservation.writes;
    this.pumped = this.pump().catch((error: unknown) => setup.log.warn("Events of Claude Code were lost", { error }));
    const own = (): { pid: number; sessionId: string } => ({ pid: this.process.pid, sessionId: this.writes });
    this.endWatch = watchForWriters(setup.readRunning, own, (writer) => this.warnOfWriter(writer));
  }

  sessionId(): string {
    return this.writes;
  }

  live(): LiveSession {
    return toLiveSession(this.setup.record.current());
  }

  totalTurns(): number {
    return this.turns;
  }

  async cliVersion(): Promise<string | undefined> {
    const running = this.version === undefined ? await this.setup.readRunning().catch(() => []) : [];
    this.version ??= running.find(({ pid }) => pid === this.process.pid)?.version;
    return this.version;
  }

  takeUnmarked(): boolean {
    const { isUnmarked } = this;
    this.isUnmarked = false;
    return isUnmarked;
  }

  /** Nothing slow may stand before the message: a process that has nothing to resume ends by itself. */
  async runTask(message: () => string, task: TaskRun): Promise<ClaudeTurn> {
    return await this.line.run("turn", async () => {
      if (this.finished !== undefined || this.process.state === "ended") throw hasEnded(this.writes);
      clearTimeout(this.idleTimer);
      this.task = task;
      task.warnings.push(...this.unsaid.splice(0));
      this.noted = undefined;
      this.turnSeen = Promise.withResolvers();
      void this.setup.record.update({ state: "busy" });
      const endProgress = this.progress.begin(task.relay, task.progressMs);
      try {
        return await this.sendOnce(message(), task);
      } finally {
        endProgress();
        this.task = undefined;
        await this.setup.record.update({ state: "idle" });
        this.startIdling();
      }
    });
  }

  keep(idleMs: number): void {
    this.idleMs = idleMs;
    this.startIdling();
    void this.process.ended.then(async () => await this.finish());
  }

  /** What was said so far reaches the transcript, which a signal alone would prevent. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.process.interrupt();
    await this.finish();
  }

  async finish({ keepLeases = false } = {}): Promise<{ leasesKept: boolean }> {
    if (!keepLeases) this.isOver = true;
    await (this.finished ??= this.giveBack());
    return { leasesKept: !this.isOver };
  }

  /** Every step is tried: what a failed one leaves behind, the end of this process gives back. */
  private async giveBack(): Promise<void> {
    clearTimeout(this.idleTimer);
    await this.process.stop();
    await this.pumped;
    this.endWatch();
    const steps = [
      async () => await this.setup.onFinish(),
      async () => await this.setup.record.remove(),
      async () => await (this.isOver ? this.reservation.release() : undefined),
    ];
    for (const step of steps) {
      await step().catch((error: unknown) => this.setup.log.error("A run could not give back all it had", { error }));
    }
  }

  private async sendOnce(text: string, task: TaskRun): Promise<ClaudeTurn> {
    throwIfCancelled(task.signal);
    const onAbort = (): void => void this.process.interrupt();
    task.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const turn = await this.process.send(text, { timeoutMs: task.timeoutMs });
      // The watcher learns of everything that belongs to the turn, also when the registry was slow.
      await Promise.race([this.turnSeen.promise, this.pumped]);
      return turn;
    } catch (error) {
      throw error instanceof HoldfastError && error.code === "claude-ended" ? hasEnded(this.writes) : error;
    } finally {
      task.signal?.removeEventListener("abort", onAbort);
    }
  }

  private async pump(): Promise<void> {
    for await (const event of this.process.events()) {
      // A resume that failed names an id that no session has.
      if (isStaleResume(event)) {
        this.turnSeen.resolve();
        continue;
      }
      await this.follow(event.sessionId);
      if (event.type === "turn-ended") this.turns += event.turn.numTurns;
      const { task } = this;
      if (task !== undefined) {
        if (event.type === "turn-started") await this.noteStart(task);
        this.progress.see(event, task.relay);
      }
      if (event.type === "turn-ended") await this.noteEnd(event.turn, event.asked);
    }
  }

  /** `/clear` and a fork go on under another id. */
  private async follow(sessionId: string | undefined): Promise<void> {
    if (sessionId === undefined || sessionId === this.writes) return;
    const from = this.writes;
    this.writes = sessionId;
    this.isUnmarked = true;
    await this.reservation.add(sessionId).catch((error: unknown) => {
      this.setup.log.error("The new session of a run could not be locked", { error, sessionId });
    });
    await this.reservation.drop(from);
    await this.setup.record.update({ sessionId });
    this.task?.relay.emit({ type: "session-changed", from, to: sessionId });
  }

  private async noteStart(task: TaskRun): Promise<void> {
    if (this.noted === this.writes) return;
    this.noted = this.writes;
    try {
      await this.cliVersion();
      await task.onSession(this.writes);
    } catch (error) {
      task.warnings.push(`The session could not be noted: ${errorMessage(error)}`);
    }
  }

  private async noteEnd(turn: ClaudeTurn, wasAsked: boolean): Promise<void> {
    if (wasAsked) this.turnSeen.resolve();
    else await this.setup.onOwnTurn(this, turn);
  }

  private warnOfWriter({ pid }: RunningSession): void {
    const text =
      `Process ${pid} has opened session ${this.writes} while Holdfast writes it. ` +
      "Claude Code keeps only one of the two branches: end that process, or let it work on a copy (--fork-session).";
    this.setup.log.error(text, { sessionId: this.writes, pid });
    (this.task?.warnings ?? this.unsaid).push(text);
    this.task?.relay.emit({ type: "second-writer", pid, sessionId: this.writes, text });
  }

  private startIdling(): void {
    if (this.idleMs === undefined || this.finished !== undefined) return;
    clearTimeout(this.idleTimer);
    // A turn that nobody asked for is work, too.
    const onIdle = (): void => void (this.process.state === "busy" ? this.startIdling() : this.finish());
    this.idleTimer = setTimeout(onIdle, timerDelay(this.idleMs)).unref();
  }
}

function isStaleResume(event: ClaudeEvent): boolean {
  return event.type === "turn-ended" && event.turn.outcome === "stale-resume";
}

function hasEnded(sessionId: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-live", "The process of this session has ended.", {
    hint: `Go on with \`holdfast cc run --resume ${sessionId}\`.`,
    data: { sessionId },
  });
}
