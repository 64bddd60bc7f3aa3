/** `cc select`, the MCP tool and `cc run` make the same decision, with the real `claude`. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openMcpParts } from "../../src/cli/commands/mcp.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { createMcpServer } from "../../src/mcp/create-mcp-server.ts";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { callTool } from "../support/mcp-home.ts";
import { type CliResult, runCli } from "../support/cli.ts";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
const TASK = "Refactor the parser of the orders file";

let api: FakeAnthropic;
let claude: ClaudeHome;
let home: string;

beforeAll(async () => {
  api = await startFakeAnthropic();
  claude = await createClaudeHome(api);
  home = join(claude.home, ".holdfast");
  await mkdir(home);
  const claudeCode = { command: claude.command, permissionMode: "bypassPermissions" };
  await writeFile(join(home, "config.json"), JSON.stringify({ claudeCode }));
});

afterAll(async () => {
  await claude[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

async function cc(...args: string[]): Promise<CliResult> {
  return await runCli(["cc", ...args], { home, cwd: claude.repo, env: claude.env });
}

/** By the tool of another process of the agent. */
async function decideByMcp(task: string): Promise<Record<string, unknown>> {
  const env = { ...process.env, ...claude.env };
  const parts = openMcpParts({ home, config: DEFAULT_CONFIG, repoPath: claude.repo, env });
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

async function startPersistent(...args: string[]): Promise<{ host: ChildProcess; sessionId: string }> {
  const host = spawn(process.execPath, [BIN, "cc", "run", TASK, "--persistent", "--json", ...args], {
    cwd: claude.repo,
    env: { ...process.env, ...claude.env, HOLDFAST_HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let out = "";
  host.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  const deadline = Date.now() + 30_000;
  for (;;) {
    if (out.includes("\n")) return { host, sessionId: (JSON.parse(out) as { sessionId: string }).sessionId };
    if (Date.now() > deadline) throw new Error(`no session: ${out}`);
    await delay(50);
  }
}

/** An idle session of ours is asked about and written to, then ended. */
async function goesOn(args: string[], meanwhile: (sessionId: string) => Promise<void>): Promise<void> {
  const { host, sessionId } = await startPersistent(...args);
  const closed = once(host, "close");
  const chosen = { action: "continue", sessionId };
  expect((await cc("select", TASK, "--json", ...args)).json()).toMatchObject(chosen);
  expect((await cc("run", TASK, "--json", ...args)).json()).toMatchObject({ sessionId, selection: chosen });
  await meanwhile(sessionId);
  await cc("kill", sessionId);
  await closed;
  await claude.empty();
}

it("an idle session of ours is continued; a task that does not fit it is queued", { timeout: 60_000 }, async () => {
  await goesOn([], async (sessionId) => {
    expect(await decideByMcp(TASK)).toMatchObject({ action: "continue", sessionId });
    const other = "Translate the marketing copy to Japanese";
    const waits = { action: "queue", sessionId };
    expect((await cc("select", other, "--json")).json()).toMatchObject(waits);
    expect(await decideByMcp(other)).toMatchObject(waits);
    const refused = await cc("run", other, "--on-running", "refuse");
    expect(refused.stderr).toContain("in use by another Holdfast run");
  });
});

it("a labelled session is continued by its label only", { timeout: 60_000 }, async () => {
  await goesOn(["--label", "parser"], async (sessionId) => {
    const { selection } = (await cc("run", TASK, "--json")).json() as { selection: { sessionId: string } };
    expect(selection.sessionId).not.toBe(sessionId);
  });
});

it("a session that a person started in a terminal is resumed", { timeout: 60_000 }, async () => {
  const task = "Describe the shipping labels in the manual";
  const env = { ...claude.env, CLAUDE_CODE_ENTRYPOINT: "cli" };
  const { stdout } = await promisify(execFile)(claude.command, ["-p", task, "--output-format", "json"], {
    cwd: claude.repo,
    env,
  });
  const { session_id: sessionId } = JSON.parse(stdout) as { session_id: string };
  const chosen = { action: "resume", sessionId };
  expect((await cc("select", task, "--json", "--from", "own")).json()).not.toMatchObject(chosen);
  expect((await cc("select", task, "--json")).json()).toMatchObject(chosen);
  expect((await cc("run", `${task}, in French`, "--json")).json()).toMatchObject({ sessionId, selection: chosen });
  await claude.empty();
});

/** The session info that a run gets. */
async function info(...args: string[]): Promise<Record<string, unknown>> {
  const before = api.conversation.length;
  api.script(toolUse("mcp__holdfast__openclaw_session_info", {}), text("Read."));
  expect(await cc("run", "How much is left?", ...args)).toMatchObject({ code: 0 });
  const [answer] = api.conversation.slice(before).flatMap(toolResults);
  return JSON.parse(answer?.text ?? "") as Record<string, unknown>;
}

it("a session gets the budget of its own run", { timeout: 60_000 }, async () => {
  const fresh = await info("--fresh", "--max-budget-usd", "2.5");
  expect(fresh).toMatchObject({ budgetUsd: 2.5 });
  expect(await info("--fresh")).toMatchObject({ budgetUsd: 10 });
  // Earlier costs do not count against the budget of this run.
  const resumed = await info("--resume", String(fresh["sessionId"]), "--max-budget-usd", "1");
  expect(resumed).toMatchObject({ sessionId: fresh["sessionId"], budgetUsd: 1 });
  expect(Number(resumed["budgetLeftUsd"])).toBeGreaterThan(0.9);
  expect(Number(resumed["budgetLeftUsd"])).toBeLessThanOrEqual(1);
  await claude.empty();
});
