/** Who may start tasks, which repos a conversation may name, and how much its tasks may cost. */
import { glob, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute } from "node:path";
import { localTime } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { isInside } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import { printableLine } from "../base/text.ts";
import type { ClaudeCodeConfig } from "../config/claude-code.ts";
import { expandHome } from "../config/layout.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { isSubagentSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { Task } from "./task.ts";

/**
 * For tools. In a group, members who may not use commands can talk to the agent, and could ask it to start a task. There
 * the message that the agent answers must be from a person who may use commands.
 */
export async function requireCommander(agent: AgentHandle, conversation: string): Promise<void> {
  const { store } = agent;
  const { chatType } = (await store.get(await rootOf(agent, conversation))) ?? {};
  if (chatType !== "group" && chatType !== "channel") return;
  const running = (await store.inbox.pending(conversation)).filter(({ state }) => state === "running");
  if (running.length > 0 && running.every(({ payload }) => isFromCommander(payload))) return;
  throw new HoldfastError(
    "forbidden",
    "task-not-allowed",
    "Here, Claude Code works only for people who may use commands.",
    {
      hint: "Such a person has to ask for it in this group.",
    },
  );
}

const MAX_DEPTH = 32;

/** The conversation in which a subagent has its origin. */
async function rootOf(agent: AgentHandle, key: string, depth = 0): Promise<string> {
  if (!isSubagentSessionKey(key) || depth > MAX_DEPTH) return key;
  const { spawnedBy = "" } = (await agent.store.get(key)) ?? {};
  return await rootOf(agent, canonicalSessionKey(spawnedBy, agent), depth + 1);
}

function isFromCommander(payload: unknown): boolean {
  return isRecord(payload) && isRecord(payload["ctx"]) && payload["ctx"]["CommandAuthorized"] === true;
}

/** The text comes from a chat. Only real paths are compared, so no link and no `..` leads elsewhere. */
export async function allowedRepo(
  wanted: string | undefined,
  { agent, repos }: { agent: Pick<AgentHandle, "workspace">; repos: readonly string[] },
): Promise<string> {
  const allowed = await allowedRepos(agent, repos);
  const [workspace] = allowed;
  if (wanted === undefined || wanted.trim() === "") return workspace;
  const named = wanted.trim();
  const path =
    isAbsolute(named) || named.startsWith("~")
      ? await realpath(expandHome(named, homedir())).catch(() => undefined)
      : undefined;
  const called = allowed.filter((repo) => basename(repo) === named);
  if (called.length > 1) throw ambiguousRepo(named, called);
  const isAllowed = path !== undefined && allowed.some((repo) => isInside(repo, path));
  const [found] = isAllowed ? [path] : called;
  if (found !== undefined) return found;
  const names = allowed.map((repo) => basename(repo)).join(", ");
  throw new HoldfastError("forbidden", "repo-not-allowed", `Tasks may not work in ${printableLine(named, 100)}.`, {
    hint: `Allowed: ${names}. The owner can add repos with claudeCode.repos.`,
    data: { repo: named },
  });
}

function ambiguousRepo(named: string, paths: readonly string[]): HoldfastError {
  const message = `Several allowed repos are called ${printableLine(named, 100)}.`;
  return new HoldfastError("usage", "repo-ambiguous", message, {
    hint: `Use the path: ${paths.join(", ")}.`,
    data: { repo: named },
  });
}

/** The workspace, then the configured repos, without repeats, as real paths. */
export async function allowedRepos(
  agent: Pick<AgentHandle, "workspace">,
  patterns: readonly string[],
): Promise<[workspace: string, ...repos: string[]]> {
  const workspace = await realpath(agent.workspace);
  return [workspace, ...(await expand(patterns)).filter((repo) => repo !== workspace)];
}

async function expand(patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const paths = /[*?[{]/.test(pattern) ? await Array.fromAsync(glob(pattern)) : [pattern];
    for (const path of paths) {
      const real = await realpath(path).catch(() => undefined);
      if (real !== undefined && (await stat(real)).isDirectory()) found.add(real);
    }
  }
  return [...found].toSorted();
}

export interface Budgets extends Readonly<ClaudeCodeConfig["budgets"]> {
  /** The budget of a task that names none. */
  taskUsd?: number | undefined;
}

interface Spending {
  name: string;
  budgetUsd: number | undefined;
  spentUsd: number;
}

export function requireBudget(budgets: Budgets, tasks: readonly Task[], now: number): void {
  const used = usedUp(spendings(budgets, tasks, now));
  if (used === undefined) return;
  const { name, spentUsd, budgetUsd } = used;
  const message = `The budget for ${name} is used up: $${spentUsd.toFixed(2)} of $${budgetUsd}.`;
  throw new HoldfastError("conflict", "task-budget-used-up", message, {
    hint: "The owner can raise claudeCode.budgets.",
    data: { spentUsd, budgetUsd },
  });
}

/** What one more task may cost at most. Undefined: no budget is configured. */
export function remainingBudget(budgets: Budgets, tasks: readonly Task[], now: number): number | undefined {
  const left = spendings(budgets, tasks, now).flatMap(({ budgetUsd, spentUsd }) =>
    budgetUsd === undefined ? [] : [budgetUsd - spentUsd],
  );
  return left.length === 0 ? undefined : Math.max(0.01, Math.round(Math.min(...left) * 1e6) / 1e6);
}

const STEPS = [1, 0.7, 0.5];

export interface BudgetNotice {
  /** Unique to the budget and the step. */
  name: string;
  text: string;
}

/**
 * Messages for the conversation when the cost of a task rises to `costUsd` and crosses 50, 70 or 100 % of a budget.
 * `tasks` holds its cost so far, and the cost of all others, also of those that run.
 */
export function budgetNotices(
  budgets: Budgets,
  tasks: readonly Task[],
  { task, costUsd, at }: { task: Task; costUsd: number; at: number },
): BudgetNotice[] {
  const before = spendings(budgets, tasks, at, task.key);
  const after = spendings(budgets, withCost(tasks, task.key, costUsd), at, task.key);
  return after.flatMap(({ name, budgetUsd, spentUsd }, index) => {
    if (budgetUsd === undefined) return [];
    const spent = before[index]?.spentUsd ?? 0;
    const crossed = STEPS.find((step) => spent < step * budgetUsd && spentUsd >= step * budgetUsd);
    if (crossed === undefined) return [];
    const percent = Math.round((100 * spentUsd) / budgetUsd);
    const text = `Budget for ${name}: $${spentUsd.toFixed(2)} of $${budgetUsd} used (${percent} %).`;
    return [{ name: `${name}:${crossed}`, text }];
  });
}

/** Whether a running task has to stop, because together with the others it has used up a budget. */
export function isBudgetUsedUp(budgets: Budgets, tasks: readonly Task[], now: number): boolean {
  return usedUp(spendings(budgets, tasks, now)) !== undefined;
}

function usedUp(all: readonly Spending[]): Spending | undefined {
  return all.find(({ budgetUsd, spentUsd }) => spentUsd >= (budgetUsd ?? Infinity));
}

export function withCost(tasks: readonly Task[], key: string, costUsd: number): Task[] {
  return tasks.map((task) => (task.key === key ? { ...task, state: { ...task.state, costUsd } } : task));
}

/** `own`: also the budget of this task alone. */
function spendings(
  { dayUsd, totalUsd, taskUsd }: Budgets,
  tasks: readonly Task[],
  now: number,
  own?: string,
): Spending[] {
  const all = tasks.map(({ state }) => ({ costUsd: state.costUsd ?? 0, at: state.endedAt ?? now }));
  const today = localTime(now).slice(0, 10);
  const ofToday = all.filter(({ at }) => localTime(at).slice(0, 10) === today);
  const mine = tasks.filter(({ key }) => key === own);
  return [
    { name: "today", budgetUsd: dayUsd, spentUsd: sumOf(ofToday) },
    { name: "this agent", budgetUsd: totalUsd, spentUsd: sumOf(all) },
    ...mine.map(({ id, state: { budgetUsd = taskUsd, costUsd = 0 } }) => ({
      name: `task ${id}`,
      budgetUsd,
      spentUsd: costUsd,
    })),
  ];
}

function sumOf(costs: readonly { costUsd: number }[]): number {
  return costs.reduce((total, { costUsd }) => total + costUsd, 0);
}
