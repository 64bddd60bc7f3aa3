/** Claude Code as engine and as worker: what its sessions hand off, and what a fresh session gets. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { nativeSessionKey } from "../../src/handoff/handoff.ts";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { lastUserText } from "../support/fake-anthropic/recorded-request.ts";
import { text } from "../support/fake-anthropic/reply.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { openClaudeSide } from "../../src/compose/claude.ts";
import { openHandoff } from "../../src/compose/handoff.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
const LOST = "6b9c6f0e-3f5c-4d9e-9a59-0a4f5d8f2a11";

let api: FakeAnthropic;
let claude: ClaudeHome;
let home: ChatHome;
beforeAll(async () => {
  api = await startFakeAnthropic();
  claude = await createClaudeHome(api);
  home = await createChatHome({
    config: (config) => ({
      ...config,
      agents: { main: { engine: "claude-code", workspace: claude.repo } },
      claudeCode: { ...config.claudeCode, command: claude.command, permissionMode: "default" },
      memory: { ...config.memory, flush: false },
    }),
    env: claude.env,
  });
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await claude[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

it("a conversation that OpenClaw has recorded continues in its session", async () => {
  api.script(text("Hello Ada."));
  home.telegram.say("My name is Ada.");
  await home.hears(ADA.id, "Hello Ada.");
  const { store } = await home.agent();
  const native = (await store.get(KEY))?.sdkSessionId;
  await store.update(KEY, (entry) => entry && { ...entry, sdkSessionId: undefined, claudeCliSessionId: native ?? "" });
  api.script(text("It is Ada, as you said."));
  home.telegram.say("What is my name?");
  await home.hears(ADA.id, "It is Ada, as you said.");
  expect((await store.get(KEY))?.sdkSessionId).toBe(native);
  // Claude Code itself has the conversation; nothing is told again.
  const { messages } = api.conversation.at(-1) ?? { messages: [] };
  expect(JSON.stringify(messages)).toContain("My name is Ada.");
  expect(JSON.stringify(messages)).not.toContain("previous_session_context");
});

it("a conversation whose session is lost continues in a fresh one with the hand-off", async () => {
  api.script(text("I look into the certificate."));
  home.telegram.say("I'm blocked: the release fails with a missing certificate.");
  await home.hears(ADA.id, "I look into the certificate.");
  const agent = await home.agent();
  await agent.store.update(KEY, (entry) => (entry === undefined ? undefined : { ...entry, sdkSessionId: LOST }));
  api.script(text("Here I am again."));
  home.telegram.say("And now?");
  await home.hears(ADA.id, "Here I am again.");
  await home.hears(ADA.id, "Claude Code no longer has this conversation");
  const asked = lastUserText(api.conversation.at(-1) ?? { messages: [] });
  expect(asked).toMatch(/previous_session_context[^]*Person: I'm blocked[^]*# Hand-off[^]*missing certificate/);
  expect(asked.trimEnd()).toMatch(/And now\?\n\n\[[^\]]+\]$/);
});

it("a new window gives Claude Code the previous hand-off", async () => {
  api.script(text("Good."));
  home.telegram.say("/new hello");
  await home.hears(ADA.id, "Good.");
  const asked = lastUserText(api.conversation.at(-1) ?? { messages: [] });
  expect(asked).toMatch(/<handoff [0-9a-f]+>[^]*missing certificate[^]*<\/handoff [0-9a-f]+>\s+hello\n\n\[[^\]]+\]$/);
});

it("a task leaves a hand-off for the folder, a conversation with a person does not", async () => {
  const place = { home: home.home, config: home.config, env: { ...process.env, ...claude.env } };
  const side = openClaudeSide(place);
  api.script(text("I am halfway; the tests fail because the fixture is missing."));
  const runner = await side.runner();
  const { sessionId } = await runner.spawnClaudeCode({
    task: "Please make the parser faster.",
    repoPath: claude.repo,
    agentId: "main",
    fresh: true,
  });
  side.close();
  const agent = await home.agent();
  const handoff = await openHandoff({ ...place, agent });
  const states = (await handoff?.list()) ?? [];
  await handoff?.close();
  const native = states.filter(({ sessionKey }) => sessionKey.includes(":claude-code:"));
  expect(native.map(({ sessionKey }) => sessionKey)).toEqual([nativeSessionKey("main", sessionId ?? "")]);
  expect(native[0]?.items.map((item) => item.text).join()).toContain("parser");
});
