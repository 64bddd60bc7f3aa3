/** `holdfast ps`: lists the running gateway, turns and Claude Code sessions. */
import { closing } from "../../base/async.ts";
import { ERROR_KINDS, errorMessage } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { processState } from "../../base/processes.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import type { Flags } from "../command.ts";
import { type Setup, loadSetup, withExistingAgent } from "../context.ts";
import { flexible, formatAge, printJson, printTable, right, talk } from "../output.ts";
import { findRunningGateway } from "../gateway-client.ts";
import { sessionTitle, shortPath } from "./cc/claude-side.ts";
import { shortId } from "../../base/ids.ts";
import { listAgentIds } from "../../compose/agent.ts";
import { openClaudeSide } from "../../compose/claude.ts";
import { isAccountLease } from "../../store/store-rules.ts";

interface RunningTurn {
  agentId: string;
  sessionKey: string;
  pid: number;
  /** Unknown for a turn started with `--local`. */
  startedAt?: number | undefined;
}

interface Running {
  gateway?: { url: string; pid: number; version: string; startedAt: number } | undefined;
  turns: RunningTurn[];
  claudeCode: DiscoveredSession[];
  /** Sources that could not be read, and why. */
  problems: string[];
}

export async function ps(options: Flags<"json">): Promise<void> {
  const setup = await loadSetup();
  const problems: string[] = [];
  const attempt = async <T>(source: string, fallback: T, read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      problems.push(`${source}: ${errorMessage(error)}`);
      return fallback;
    }
  };
  const { gateway, turns } = await attempt("gateway", { turns: [] }, async () => await askGateway(setup));
  const local = await attempt("sessions", [], async () => await localTurns(setup, gateway?.pid));
  const claudeCode = await attempt("Claude Code", [], async () => await runningClaude(setup));
  const running = { gateway, turns: [...turns, ...local], claudeCode, problems };
  if (options.json === true) printJson(toJson(running));
  else printRunning(running);
  if (problems.length > 0) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

async function askGateway(setup: Setup): Promise<Pick<Running, "gateway" | "turns">> {
  const found = await findRunningGateway(setup);
  if (found === undefined) return { turns: [] };
  const { version, startedAt, pid, turns } = await found.call("status", { limit: 1 });
  const running = turns.running.map(({ agentId, sessionKey, startedAt: since }) => ({
    agentId,
    sessionKey,
    pid,
    startedAt: since,
  }));
  return { gateway: { url: found.url, pid, version, startedAt }, turns: running };
}

/** Sessions that another process on this machine is writing, such as `chat --local`. */
async function localTurns(setup: Setup, gatewayPid: number | undefined): Promise<RunningTurn[]> {
  const found: RunningTurn[] = [];
  for (const agentId of await listAgentIds(setup.home)) {
    const leases = await withExistingAgent(setup, agentId, async ({ store }) => await store.leases.list());
    for (const { key, process: holder } of leases ?? []) {
      if (isAccountLease(agentId, key) || holder.pid === gatewayPid || processState(holder) !== "alive") continue;
      found.push({ agentId, sessionKey: key, pid: holder.pid });
    }
  }
  return found;
}

async function runningClaude(setup: Setup): Promise<DiscoveredSession[]> {
  const side = openClaudeSide({ ...setup, agentId: undefined, logger: silentLogger });
  await using _closing = closing(side);
  return (await side.discover(undefined, { onlyRunning: true })).sessions;
}

function toJson({ gateway, turns, claudeCode, problems }: Running): object {
  return {
    schema: 1,
    gateway: gateway ?? null,
    turns,
    claudeCode: claudeCode.map((session) => ({
      sessionId: session.sessionId,
      ...session.running,
      title: sessionTitle(session),
      repoPath: session.repoPath,
      branch: session.branch,
      agentId: session.agentId,
    })),
    problems,
  };
}

function printRunning({ gateway, turns, claudeCode, problems }: Running): void {
  const rows = [
    ...(gateway === undefined ? [] : [["gateway", String(gateway.pid), since(gateway.startedAt), gateway.url]]),
    ...turns.map(({ sessionKey, pid, startedAt }) => ["turn", String(pid), since(startedAt), sessionKey]),
    ...claudeCode.map((session) => [
      "claude",
      String(session.running?.pid ?? ""),
      since(session.lastModified.getTime()),
      `${shortId(session.sessionId)} ${sessionTitle(session).slice(0, 200)} (${shortPath(session.repoPath)})`,
    ]),
  ];
  for (const problem of problems) talk(`holdfast: ${problem}`);
  if (rows.length === 0) return talk("Nothing is running. Start the gateway with `holdfast gateway start`.");
  printTable(["KIND", right("PID"), right("AGE"), flexible("WHAT")], rows);
}

function since(at: number | undefined): string {
  return at === undefined ? "" : formatAge(Date.now() - at);
}
