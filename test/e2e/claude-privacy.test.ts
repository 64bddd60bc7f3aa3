/** Conversations with an agent inside Claude Code stay private: no task ever continues in their session. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { claudeLayout, agentLayout } from "../../src/config/layout.ts";
import { openMcpParts } from "../../src/cli/commands/mcp.ts";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { text } from "../support/fake-anthropic/reply.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { type CliResult, runCli, runCliShared } from "../support/cli.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
const SECRET = "Fix the webhook handler of my divorce lawyer";
const TASK = "Fix the webhook handler";

let api: FakeAnthropic;
let claude: ClaudeHome;
let home: ChatHome;

beforeAll(async () => {
  api = await startFakeAnthropic();
  claude = await createClaudeHome(api);
  const agents = { main: { engine: "claude-code" as const, workspace: claude.repo } };
  const claudeCode = { command: claude.command, permissionMode: "bypassPermissions" as const };
  home = await createChatHome({
    config: (config) => ({
      ...config,
      agents,
      claudeCode: { ...config.claudeCode, ...claudeCode },
      memory: { ...config.memory, flush: false },
    }),
    env: claude.env,
  });
  await writeFile(join(home.home, "config.json"), JSON.stringify({ agents, claudeCode }));
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await claude[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

async function cc(...args: string[]): Promise<CliResult> {
  return await runCliShared(["cc", ...args], { home: home.home, cwd: claude.repo, env: claude.env });
}

async function says(words: string, answer: string): Promise<string> {
  api.script(text(answer));
  home.telegram.say(words);
  await home.hears(ADA.id, answer);
  return (await (await home.agent()).store.get(KEY))?.sdkSessionId ?? "";
}

interface Selected {
  action: string;
  sessionId?: string;
  scores: { sessionId: string }[];
}

async function select(task: string, ...args: string[]): Promise<Selected> {
  return (await cc("select", task, "--json", ...args)).json() as Selected;
}

it("a task of the owner in the agent's workspace starts its own session", async () => {
  const chat = await says(SECRET, "I look into it.");
  for (const scope of ["all", "own"]) {
    expect(await select(TASK, "--from", scope)).toMatchObject({ action: "fresh", scores: [] });
  }
  const before = api.conversation.length;
  api.script(text("Done by the task."));
  const ran = (await cc("run", TASK, "--json")).json() as { sessionId: string; selection: Selected };
  expect(ran.selection).toMatchObject({ action: "fresh", scores: [] });
  expect(ran.sessionId).not.toBe(chat);
  expect(JSON.stringify(api.conversation.slice(before))).not.toContain("divorce");

  // The next turn of the chat is in its own session, and knows nothing of the owner's task.
  const asked = api.conversation.length;
  expect(await says("And now?", "Still here.")).toBe(chat);
  const sent = JSON.stringify(api.conversation.slice(asked));
  expect(sent).toContain("divorce");
  expect(sent).not.toContain("Done by the task");
});

it("a task cannot reach the session by id, by label or by waiting", async () => {
  const chat = (await (await home.agent()).store.get(KEY))?.sdkSessionId ?? "";
  const before = (await claude.transcript(chat)).length;
  for (const args of [
    ["run", "Read my mail", "--resume", chat],
    ["run", "Read my mail", "--label", KEY],
    ["attach", chat],
  ]) {
    const refused = await cc(...args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/chat/);
    expect(refused.stderr).not.toContain("divorce");
  }
  await expect(home.rpc("cc.run", { repoPath: claude.repo, task: "Read my mail", resume: chat })).rejects.toThrow(
    /chat/,
  );
  expect((await claude.transcript(chat)).length).toBe(before);
});

it("a copy stays private: no task resumes it or gets its hand-off", async () => {
  const chat = (await (await home.agent()).store.get(KEY))?.sdkSessionId ?? "";
  api.script(text("I am blocked: the divorce lawyer's certificate is missing. Next step: ask for it."));
  const copy = (await cc("run", TASK, "--fork", chat, "--json")).json() as { sessionId: string };
  api.script(text("Copied again."));
  const second = (await cc("run", TASK, "--fork", copy.sessionId, "--json")).json() as { sessionId: string };
  const before = api.conversation.length;
  api.script(text("Done by a fresh session."));
  await cc("run", TASK, "--fresh", "--json");
  expect(JSON.stringify(api.conversation.slice(before))).not.toContain("divorce");
  const known = (await select(TASK)).scores.map((score) => score.sessionId);
  for (const { sessionId } of [copy, second]) {
    expect(known).not.toContain(sessionId);
    // Each line of a copy is marked, even if the original is gone.
    const line = (await claude.transcript(sessionId)).find(({ type }) => type === "user");
    expect(line).toMatchObject({ entrypoint: "holdfast-chat" });
  }
});

it("a copy that a person opens is marked as the chat's", async () => {
  const chat = (await (await home.agent()).store.get(KEY))?.sdkSessionId ?? "";
  const command = join(claude.home, "show-environment");
  await writeFile(command, '#!/bin/sh\necho "$HOLDFAST_RUN $CLAUDE_CODE_ENTRYPOINT"\n', { mode: 0o755 });
  const configFile = join(home.home, "config.json");
  const config = await readFile(configFile);
  await writeFile(configFile, JSON.stringify({ claudeCode: { command } }));
  for (const how of ["--fork", "--chat"]) {
    // A process of its own, because Claude Code writes to the terminal itself.
    const options = { home: home.home, cwd: claude.repo, env: claude.env };
    expect((await runCli(["cc", "attach", chat, how], options)).stdout).toBe("chat holdfast-chat\n");
  }
  await writeFile(configFile, config);
});

it("an earlier window stays private even if the registry and the index are gone", async () => {
  const first = (await (await home.agent()).store.get(KEY))?.sdkSessionId ?? "";
  const second = await says("/new Fix the webhook handler, please", "A fresh start.");
  expect(second).not.toBe(first);
  const isPrivate = async (): Promise<void> => {
    const { scores, sessionId } = await select(TASK);
    const known = [sessionId, ...scores.map((score) => score.sessionId)];
    expect(known).not.toContain(first);
    expect(known).not.toContain(second);
  };
  await isPrivate();
  const layout = agentLayout(home.home, "main");
  await rm(layout.claudeRegistry);
  await rm(claudeLayout(home.home).index);
  await isPrivate();
  // The transcript alone tells it.
  const lines = await claude.transcript(first);
  expect(lines.find(({ type }) => type === "user")).toMatchObject({ entrypoint: "holdfast-chat" });
});

it("the agent of another conversation does not learn of it", async () => {
  const env = { ...process.env, ...claude.env };
  const place = { home: home.home, config: home.config, repoPath: claude.repo, env };
  const parts = openMcpParts({ ...place, sessionKey: "agent:main:telegram:dm:2" });
  try {
    const { sessions } = await parts.claude.discover(claude.repo, { limit: 20 });
    expect(sessions.length).toBeGreaterThan(0);
    expect(JSON.stringify(sessions)).not.toContain("divorce");
    expect(JSON.stringify(await parts.claude.status(claude.repo))).not.toContain("divorce");
    const own = openMcpParts({ ...place, sessionKey: KEY });
    expect(own.sessionKey).toBe(KEY);
    await own.close();
  } finally {
    await parts.close();
  }
});
