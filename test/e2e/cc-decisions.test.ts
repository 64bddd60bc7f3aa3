/** `cc select`, the MCP tool and `cc run` make the same decision, with the real `claude`. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openMcpParts } from "../../src/cli/commands/mcp.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { createMcpServer } from "../../src/mcp/create-mcp-server.ts";
import { toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { callTool } from "../support/mcp-home.ts";
import { type TaskHome, createTaskHome } from "../support/task-home.ts";

const TASK = "Refactor the parser of the orders file";

let home: TaskHome;

beforeAll(async () => {
  home = await createTaskHome();
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

/** By the tool of another process of the agent. */
async function decideByMcp(task: string): Promise<Record<string, unknown>> {
  const env = { ...process.env, ...home.claude.env };
  const parts = openMcpParts({ home: home.home, config: DEFAULT_CONFIG, repoPath: home.claude.repo, env });
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([createMcpServer(parts).connect(far), client.connect(near)]);
  try {
    return await callTool(client, "openclaw_decide_session", { task });
  } finally {
    await client.close();
    await parts.close();
  }
}

/** An idle session of ours is asked about and written to, then ended. */
async function goesOn(args: string[], meanwhile: (sessionId: string) => Promise<void>): Promise<void> {
  const { sessionId, ended } = await home.startPersistent(TASK, ...args);
  const chosen = { action: "continue", sessionId };
  expect((await home.cc("select", TASK, "--json", ...args)).json()).toMatchObject(chosen);
  expect((await home.cc("run", TASK, "--json", ...args)).json()).toMatchObject({ sessionId, selection: chosen });
  await meanwhile(sessionId);
  await home.cc("kill", sessionId);
  await ended;
  await home.claude.empty();
}

it("an idle session of ours is continued; a task that does not fit it is queued", async () => {
  await goesOn([], async (sessionId) => {
    expect(await decideByMcp(TASK)).toMatchObject({ action: "continue", sessionId });
    const other = "Translate the marketing copy to Japanese";
    const waits = { action: "queue", sessionId };
    expect((await home.cc("select", other, "--json")).json()).toMatchObject(waits);
    expect(await decideByMcp(other)).toMatchObject(waits);
    const refused = await home.cc("run", other, "--on-running", "refuse");
    expect(refused.stderr).toContain("in use by another Holdfast run");
  });
});

it("a labelled session is continued by its label only", async () => {
  await goesOn(["--label", "parser"], async (sessionId) => {
    const { selection } = (await home.cc("run", TASK, "--json")).json() as { selection: { sessionId: string } };
    expect(selection.sessionId).not.toBe(sessionId);
  });
});

it("a session that a person started in a terminal is resumed", async () => {
  const task = "Describe the shipping labels in the manual";
  const env = { ...home.claude.env, CLAUDE_CODE_ENTRYPOINT: "cli" };
  const { stdout } = await promisify(execFile)(home.claude.command, ["-p", task, "--output-format", "json"], {
    cwd: home.claude.repo,
    env,
  });
  const { session_id: sessionId } = JSON.parse(stdout) as { session_id: string };
  const chosen = { action: "resume", sessionId };
  expect((await home.cc("select", task, "--json", "--from", "own")).json()).not.toMatchObject(chosen);
  expect((await home.cc("select", task, "--json")).json()).toMatchObject(chosen);
  expect((await home.cc("run", `${task}, in French`, "--json")).json()).toMatchObject({ sessionId, selection: chosen });
  await home.claude.empty();
});

interface KeptDecisions {
  decisions: { task: string; selection: Record<string, unknown>; suggested?: Record<string, unknown> }[];
}

it("a decision and a person's own choice are kept, explained and counted", async () => {
  const task = "Sort the invoices by their due date";
  const first = (await home.cc("run", task, "--json")).json() as { sessionId: string; selection: { action: string } };
  expect(first.selection.action).toBe("fresh");
  const overridden = `${task}, newest first`;
  const { stderr } = await home.cc("run", overridden, "--fresh");
  expect(stderr).toContain(`The suggestion was ${first.sessionId.slice(0, 8)}`);
  const other = /session ([0-9a-f-]{36})/.exec(stderr)?.[1] ?? "";

  expect((await home.cc("info", first.sessionId, "--json")).json()).toMatchObject({
    decisions: [{ task, selection: { action: "fresh", reason: expect.any(String) as string } }],
  });
  const { decisions } = (await home.cc("info", other, "--json")).json() as KeptDecisions;
  expect(decisions).toMatchObject([
    {
      task: overridden,
      sessionId: other,
      selection: { action: "fresh", candidates: [] },
      suggested: {
        action: "resume",
        sessionId: first.sessionId,
        relevanceBy: "offline",
        confidence: expect.any(Number) as number,
        considered: expect.any(Number) as number,
      },
    },
  ]);
  expect(decisions[0]?.suggested?.["candidates"]).toEqual(
    expect.arrayContaining([
      {
        sessionId: first.sessionId,
        score: expect.any(Number) as number,
        factors: expect.objectContaining({ branchMatch: 0.25 }) as object,
        relevance: expect.any(Number) as number,
        reason: expect.any(String) as string,
        evidence: expect.any(Array) as string[],
      },
    ]),
  );
  const { stdout } = await home.cc("info", other);
  expect(stdout).toMatch(/Chosen +\d{4}-.* for "Sort the invoices/);
  expect(stdout).toContain("Suggested: Resume");

  const history = (await home.cc("eval", "--history", "--json")).json() as { wrong: unknown[] };
  expect(history).toMatchObject({
    schema: 1,
    named: expect.any(Number) as number,
    accuracy: expect.any(Number) as number,
  });
  expect(history.wrong).toHaveLength(1);
  expect((await home.cc("eval", "--history", "--wrong")).stdout).toMatch(
    new RegExp(`you chose fresh, suggested was resume ${first.sessionId.slice(0, 8)}`),
  );
  expect(await home.cc("eval")).toMatchObject({ code: 2, stderr: expect.stringContaining("--history") as string });
  await home.claude.empty();
});

/** The session info that a run gets. */
async function info(...args: string[]): Promise<Record<string, unknown>> {
  const before = home.api.conversation.length;
  home.api.script(toolUse("mcp__holdfast__openclaw_session_info", {}), text("Read."));
  expect(await home.cc("run", "How much is left?", ...args)).toMatchObject({ code: 0 });
  const [answer] = home.api.conversation.slice(before).flatMap(toolResults);
  return JSON.parse(answer?.text ?? "") as Record<string, unknown>;
}

it("a session gets the budget of its own run", async () => {
  const fresh = await info("--fresh", "--max-budget-usd", "2.5");
  expect(fresh).toMatchObject({ budgetUsd: 2.5 });
  // Earlier costs do not count against the budget of this run.
  const resumed = await info("--resume", String(fresh["sessionId"]), "--max-budget-usd", "1");
  expect(resumed).toMatchObject({ sessionId: fresh["sessionId"], budgetUsd: 1 });
  expect(Number(resumed["budgetLeftUsd"])).toBeGreaterThan(0.9);
  expect(Number(resumed["budgetLeftUsd"])).toBeLessThanOrEqual(1);
  await home.claude.empty();
});
