/**
 * Checks whether the gateway works now, without caching:
 * - each agent's store opens and answers a query in time,
 * - a file in the home can be created and written (file descriptors, space, permissions),
 * - no recent call failed because of the gateway itself.
 */
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError, errorMessage, systemErrorCode } from "../base/errors.ts";
import { PRIVATE_FILE, temporaryPath } from "../base/files.ts";
import type { ResultOf } from "./contract.ts";
import type { CallFailure, RpcParts } from "./rpc-parts.ts";
import { TOO_LATE, within } from "../base/async.ts";

type AgentHealth = ResultOf<"health">["agents"][number];

export interface Problem {
  /** For the owner: may contain names of agents, files and methods. */
  text: string;
  /** For strangers: contains no names. */
  summary: string;
}

export type HealthCheck = Awaited<ReturnType<typeof checkHealth>>;

const RECENT = 5;
/** Then a store or disk counts as hanging. Opening a store takes over a second on a busy machine. */
const TIMEOUT_MS = 5000;

export async function checkHealth(parts: RpcParts, failures: readonly CallFailure[], timeoutMs = TIMEOUT_MS) {
  const [file, agents] = await Promise.all([fileProblem(parts.home, timeoutMs), agentsHealth(parts, timeoutMs)]);
  const problems: Problem[] = [
    ...(file === undefined ? [] : [file]),
    ...agents.flatMap(({ agentId, problem }) =>
      problem === undefined
        ? []
        : [{ text: `agent ${agentId}: ${problem}`, summary: "the store of an agent does not work" }],
    ),
    ...failures.map(({ method, message }) => ({
      text: `${method} failed recently: ${message}`,
      summary: "calls fail",
    })),
    ...(parts.pipeline.status().draining ? [STOPPING] : []),
  ];
  return { agents, problems };
}

export const STOPPING: Problem = { text: "the gateway is stopping", summary: "the gateway is stopping" };

/** Unlinks the file before writing, so that a crash leaves nothing. */
async function fileProblem(home: string, timeoutMs: number): Promise<Problem | undefined> {
  const path = temporaryPath(join(home, "health"));
  const probe = async (): Promise<void> => {
    await using file = await open(path, "wx", PRIVATE_FILE);
    await unlink(path);
    await file.write("x");
  };
  try {
    if ((await within(timeoutMs, probe())) !== TOO_LATE) return undefined;
    return { text: `the disk of ${home} is not responding`, summary: "the disk is not responding" };
  } catch (error) {
    const summary = `files cannot be written (${systemErrorCode(error) ?? "unknown"})`;
    return { text: `${summary}: ${errorMessage(error)}`, summary };
  }
}

async function agentsHealth(parts: RpcParts, timeoutMs: number): Promise<AgentHealth[]> {
  try {
    const ids = await parts.agents.list();
    return await Promise.all(ids.map(async (agentId) => await agentHealth(parts, agentId, timeoutMs)));
  } catch (error) {
    return [{ agentId: parts.config.defaultAgent, isDefault: true, problem: errorMessage(error) }];
  }
}

async function agentHealth(parts: RpcParts, agentId: string, timeoutMs: number): Promise<AgentHealth> {
  const isDefault = agentId === parts.config.defaultAgent;
  try {
    const sessions = await within(timeoutMs, sessionsOf(parts, agentId));
    if (sessions !== TOO_LATE) return { agentId, isDefault, sessions };
    const why = parts.config.store.kind === "postgres" ? "" : "; another process may have locked it";
    return { agentId, isDefault, problem: `its store does not answer${why}` };
  } catch (error) {
    return { agentId, isDefault, problem: errorMessage(error) };
  }
}

async function sessionsOf(parts: RpcParts, agentId: string): Promise<NonNullable<AgentHealth["sessions"]>> {
  const { agent } = await parts.agents.open(agentId);
  const { sessions, total } = await agent.store.list({ limit: RECENT, fields: [] });
  const now = parts.clock.now();
  const recent = sessions.map(({ key, entry: { updatedAt } }) => ({ key, updatedAt, age: now - updatedAt }));
  return { path: agent.store.location, count: total, recent };
}

const FAILURE_MS = 5000;
/** Their own failures do not count: they would make the next answer wrong. */
const PROBES: ReadonlySet<string> = new Set(["health", "status"]);

/** A success clears the failure of its method, and all failures of the system, which end for all methods at once. */
export function createCallFailures(now: () => number = () => performance.now()) {
  const failed = new Map<string, { message: string; at: number; isDefect: boolean }>();
  const noteSuccess = (method: string): void => {
    for (const [name, { isDefect }] of failed) if (name === method || !isDefect) failed.delete(name);
  };
  return {
    note: (method: string, error: unknown): void => {
      const cause = ownCause(error);
      if (PROBES.has(method)) return;
      if (error === undefined) noteSuccess(method);
      else if (cause !== undefined) failed.set(method, { message: errorMessage(error), at: now(), ...cause });
    },
    recent: (): CallFailure[] => {
      for (const [name, { at }] of failed) if (now() - at > FAILURE_MS) failed.delete(name);
      return Array.from(failed, ([method, { message }]) => ({ method, message }));
    },
  };
}

/** Undefined if the caller or another service caused the failure. */
function ownCause(error: unknown): { isDefect: boolean } | undefined {
  if (!(error instanceof HoldfastError)) return { isDefect: systemErrorCode(error) === undefined };
  const { kind, code, data } = error;
  const isDatabase = data["sqlite"] !== undefined || code === "store-thread-ended";
  if (isDatabase || (kind === "unavailable" && data["system"] !== undefined)) return { isDefect: false };
  return kind === "internal" ? { isDefect: true } : undefined;
}
