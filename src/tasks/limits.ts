/** Which repos a conversation may name, and how much its tasks may cost. */
import { glob, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { localTime } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { isInside } from "../base/files.ts";
import { printableLine } from "../base/text.ts";
import type { ClaudeCodeConfig } from "../config/claude-code.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { Task } from "./task.ts";

/** The text comes from a chat. Only real paths are compared, so no link and no `..` leads elsewhere. */
export async function allowedRepo(
  wanted: string | undefined,
  { agent, repos }: { agent: AgentHandle; repos: readonly string[] },
): Promise<string> {
  const workspace = await realpath(agent.workspace);
  if (wanted === undefined || wanted.trim() === "") return workspace;
  const allowed = [workspace, ...(await expand(repos))];
  const named = wanted.trim();
  const path =
    isAbsolute(named) || named.startsWith("~") ? await realpath(withHome(named)).catch(() => undefined) : undefined;
  const found =
    path === undefined
      ? allowed.find((repo) => basename(repo) === named)
      : allowed.some((repo) => isInside(repo, path))
        ? path
        : undefined;
  if (found !== undefined) return found;
  const names = allowed.map((repo) => basename(repo)).join(", ");
  throw new HoldfastError("forbidden", "repo-not-allowed", `Tasks may not work in ${printableLine(named, 100)}.`, {
    hint: `Allowed: ${names}. The owner can add repos with claudeCode.repos.`,
    data: { repo: named },
  });
}

async function expand(patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const pattern of patterns.map(withHome)) {
    const paths = /[*?[{]/.test(pattern) ? await Array.fromAsync(glob(pattern)) : [pattern];
    for (const path of paths) {
      const real = await realpath(path).catch(() => undefined);
      if (real !== undefined && (await stat(real)).isDirectory()) found.add(real);
    }
  }
  return [...found].toSorted();
}

function withHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

export type Budgets = ClaudeCodeConfig["budgets"];

interface Spending {
  name: string;
  budgetUsd: number | undefined;
  spentUsd: number;
}

export function requireBudget(budgets: Budgets, tasks: readonly Task[], now: number): void {
  const used = spendings(budgets, tasks, now).find(({ budgetUsd, spentUsd }) => spentUsd >= (budgetUsd ?? Infinity));
  if (used === undefined) return;
  const message = `The budget of ${used.name} is used up: $${used.spentUsd.toFixed(2)} of $${used.budgetUsd}.`;
  throw new HoldfastError("conflict", "task-budget-used-up", message, {
    hint: "The owner can raise claudeCode.budgets.",
    data: { spentUsd: used.spentUsd, budgetUsd: used.budgetUsd },
  });
}

/** What one more task may cost at most. Undefined: no budget is configured. */
export function remainingBudget(budgets: Budgets, tasks: readonly Task[], now: number): number | undefined {
  const left = spendings(budgets, tasks, now).flatMap(({ budgetUsd, spentUsd }) =>
    budgetUsd === undefined ? [] : [budgetUsd - spentUsd],
  );
  return left.length === 0 ? undefined : Math.max(0.01, Math.min(...left));
}

const STEPS = [1, 0.7, 0.5];

/** A line when the cost of a task crosses 50, 70 or 100 % of a budget. `tasks` does not count it yet. */
export function budgetNotice(
  budgets: Budgets,
  tasks: readonly Task[],
  { at, costUsd }: { at: number; costUsd: number },
): string | undefined {
  const lines = spendings(budgets, tasks, at).flatMap(({ name, budgetUsd, spentUsd }) => {
    if (budgetUsd === undefined) return [];
    const after = spentUsd + costUsd;
    const crossed = STEPS.find((step) => spentUsd < step * budgetUsd && after >= step * budgetUsd);
    if (crossed === undefined) return [];
    return [
      `Budget of ${name}: $${after.toFixed(2)} of $${budgetUsd} used (${Math.round((100 * after) / budgetUsd)} %).`,
    ];
  });
  return lines.length === 0 ? undefined : lines.join("\n");
}

function spendings({ dayUsd, totalUsd }: Budgets, tasks: readonly Task[], now: number): Spending[] {
  const ended = tasks.map(({ state }) => ({ costUsd: state.costUsd ?? 0, at: state.endedAt ?? now }));
  const today = localTime(now).slice(0, 10);
  const ofToday = ended.filter(({ at }) => localTime(at).slice(0, 10) === today);
  return [
    { name: "today", budgetUsd: dayUsd, spentUsd: sumOf(ofToday) },
    { name: "this agent", budgetUsd: totalUsd, spentUsd: sumOf(ended) },
  ];
}

function sumOf(costs: readonly { costUsd: number }[]): number {
  return costs.reduce((total, { costUsd }) => total + costUsd, 0);
}
