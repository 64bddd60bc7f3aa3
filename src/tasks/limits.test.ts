import { mkdir, symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { allowedRepo, budgetNotices, isBudgetUsedUp, remainingBudget, requireBudget, withCost } from "./limits.ts";
import type { Task } from "./task.ts";

const NOW = Date.parse("2026-11-18T12:00:00");
const YESTERDAY = NOW - 86_400_000;

function task(id: string, state: Partial<Task["state"]>): Task {
  const common = { state: "running" as const, text: "", repoPath: "/repo" };
  return { id, key: id, conversation: "c", target: undefined, state: { ...common, ...state } };
}

const BUDGETS = { dayUsd: 2, totalUsd: 10 };
const old = task("old", { state: "ended", endedAt: YESTERDAY, costUsd: 7 });
const other = task("other", { costUsd: 0.5 });
const mine = task("mine", { costUsd: 0.1, budgetUsd: 1 });
const all = [old, other, mine];

function noticesAt(costUsd: number): string[] {
  return budgetNotices(BUDGETS, all, { task: mine, costUsd, at: NOW }).map(({ name }) => name);
}

it("tells each step of each budget once, with the cost of tasks that run at the same time", () => {
  expect(noticesAt(0.4)).toEqual([]);
  expect(noticesAt(0.5)).toEqual(["today:0.5", "task mine:0.5"]);
  expect(noticesAt(0.9)).toEqual(["today:0.7", "task mine:0.7"]);
  expect(noticesAt(2.5)).toEqual(["today:1", "this agent:1", "task mine:1"]);
  const after = withCost(all, "mine", 0.5);
  expect(budgetNotices(BUDGETS, after, { task: mine, costUsd: 0.6, at: NOW })).toEqual([]);
  expect(budgetNotices(BUDGETS, all, { task: mine, costUsd: 0.5, at: NOW })[0]?.text).toBe(
    "Budget for today: $1.00 of $2 used (50 %).",
  );
});

function stepsWithDefault(one: Task): string[] {
  return budgetNotices({ taskUsd: 4 }, [one], { task: one, costUsd: 3, at: NOW }).map(({ name }) => name);
}

it("tells the steps of the default budget of a task that names none", () => {
  const named = task("named", { costUsd: 1, budgetUsd: 9 });
  expect(stepsWithDefault({ ...named, state: { ...named.state, budgetUsd: undefined } })).toEqual(["task named:0.7"]);
  expect(stepsWithDefault(named)).toEqual([]);
});

it("limits a task to what the others leave, and ends it when a budget is used up", () => {
  expect(remainingBudget(BUDGETS, all, NOW)).toBe(1.4);
  expect(remainingBudget({}, all, NOW)).toBeUndefined();
  expect(isBudgetUsedUp(BUDGETS, all, NOW)).toBe(false);
  expect(isBudgetUsedUp(BUDGETS, withCost(all, "mine", 1.5), NOW)).toBe(true);
  expect(() => requireBudget(BUDGETS, withCost(all, "mine", 3), NOW)).toThrow(
    "The budget for today is used up: $3.50 of $2.",
  );
});

it("finds an allowed repo by name or path, and nothing by links, dots and patterns", async () => {
  await using folder = await temporaryFolder();
  const at = (path: string): string => folder.join(path);
  for (const path of ["home/workspace", "work/shop/sub", "work/api", "other/api", "secret"])
    await mkdir(at(path), { recursive: true });
  await symlink(at("secret"), at("work/shop/link"));
  const agent = { workspace: at("home/workspace") };
  const find = async (wanted?: string) => await allowedRepo(wanted, { agent, repos: [at("work/*"), at("other/api")] });
  expect(await find()).toBe(agent.workspace);
  expect(await find("shop")).toBe(at("work/shop"));
  expect(await find(at("work/shop/sub/.."))).toBe(at("work/shop"));
  await expect(find("api")).rejects.toMatchObject({ code: "repo-ambiguous" });
  expect(await find(at("other/api"))).toBe(at("other/api"));
  const outside = [
    "..",
    "*",
    "~",
    "/",
    "shop/..",
    "link",
    at("work/shop/link"),
    at("work/shop/../../secret"),
    at("work"),
  ];
  for (const wanted of outside) await expect(find(wanted)).rejects.toMatchObject({ code: "repo-not-allowed" });
});
