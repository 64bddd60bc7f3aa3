/**
 * A person on Telegram gives work to Claude Code and follows it: real gateway, real client library, real `claude`, with
 * stand-ins for Telegram and the model API.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { hang, text, toolUse, withUsage } from "../support/fake-anthropic/reply.ts";
import { type ChatHome, withModel } from "../support/chat-home.ts";
import { says, startFakeModelStream, uses } from "../support/fake-model-stream.ts";
import type { BotCall } from "../support/fake-telegram/bot-calls.ts";
import { ADA, BOB, GROUP } from "../support/fake-telegram/updates.ts";
import { buttonsOf, createTaskChat } from "../support/task-chat.ts";
import { createFakeGh } from "../support/git-repo.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";

const COMMIT = "echo 1 > webhook.ts && git add -A && git commit -qm 'Make the webhook idempotent'";

function sentId({ result }: BotCall): number {
  return (result as { message_id: number }).message_id;
}

async function edited({ telegram }: ChatHome, words: RegExp): Promise<BotCall> {
  return await telegram.waitFor(({ method, params }) => {
    return method === "editMessageText" && words.test(String(params["text"]));
  });
}

it("runs a task, asks, commits, reports, and takes a reply as a follow-up", async () => {
  await using folder = await temporaryFolder();
  const gh = createFakeGh(folder.path);
  await using chat = await createTaskChat({
    claudeCode: { progressSeconds: 0.3 },
    env: { PATH: gh.env["PATH"] ?? "" },
  });
  const { api, claude, home } = chat;
  const commit = toolUse("Bash", { command: COMMIT, description: "Commit the change" });
  api.script(withUsage(commit, { input_tokens: 100_000 }), text("The webhook is idempotent."));
  const order = { task: "Make the webhook idempotent", repo: "repo", model: "claude-sonnet-4-5" };
  home.telegram.say(`tool:sessions_spawn ${JSON.stringify(order)}`);
  await home.hears(ADA.id, /Task \w+: Make the webhook idempotent\nStart fresh: /);
  const accepted = String((await home.hears(ADA.id, '"status": "accepted"')).params["text"]);
  expect(accepted).toMatch(/"runId": "\w+",\n "decision": "Start fresh: [^"]+"/);
  expect(accepted).toContain("<project-status>");
  const question = await home.hears(ADA.id, /asks to use Bash: echo 1/);
  expect(JSON.stringify(api.conversation[0]?.system)).toContain("<project-status>");
  expect(question.params["text"]).toContain("Commit the change");
  // The same message, again and again.
  const progress = await edited(home, /idempotent\n\d+ s · 1 tool · Bash echo 1.* · \$0\.30$/);
  expect(Object.keys(buttonsOf(progress))).toEqual(["Stop"]);
  home.telegram.press(question, buttonsOf(question)["Allow once"] ?? "");
  const result = await home.hears(ADA.id, /Task \w+ is done/);
  expect(String(result.params["text"]).split("\n")).toEqual([
    expect.stringMatching(/^Task \w+ is done \(\d+ s, \$0\.30\)\.$/),
    "The webhook is idempotent.",
    expect.stringMatching(/^Commit [0-9a-f]{7,8} Make the webhook idempotent$/),
    expect.stringMatching(/^Failing checks: /),
  ]);
  expect(execFileSync("git", ["log", "-1", "--format=%s"], { cwd: claude.repo, encoding: "utf8" })).toBe(
    "Make the webhook idempotent\n",
  );
  await edited(home, /asks to use Bash[\s\S]*Allowed once\.$/);
  await edited(home, /Ended: completed/);

  api.script(text("Both cases are tested now."));
  home.telegram.say("And add a test", { reply_to_message: { message_id: sentId(result) } as never });
  await home.hears(ADA.id, "Both cases are tested now.");
  expect(lastUserText(api.conversation.at(-1) as never)).toBe("And add a test");
  expect(JSON.stringify(api.conversation.at(-1))).toContain("Make the webhook idempotent");

  home.telegram.say("/cc");
  await home.hears(ADA.id, /^[0-9a-f]{8} Make the webhook idempotent \(repo, main\)$/);
  home.telegram.say("/cc", { from: BOB });
  await home.hears(BOB.id, "There are no Claude Code sessions here yet.");
});

it("a denied or unanswered question is refused, and a stranger cannot answer it", async () => {
  await using chat = await createTaskChat({ claudeCode: { questionMinutes: 0.02 } });
  const { api, claude, home } = chat;
  // The person sees all of what they would allow.
  const command = `touch one ${"a".repeat(300)} && touch two`;
  api.script(toolUse("Bash", { command }), text("I could not create it."));
  home.telegram.say("/cc run in repo: Create a file");
  const question = await home.hears(ADA.id, /asks to use Bash: touch one a+ && touch two$/);
  await home.hears(ADA.id, "I could not create it.");
  expect(home.texts(ADA.id).join("\n")).toContain("Not allowed: Bash");
  await edited(home, /Not answered, so not allowed\.$/);
  home.telegram.press(question, buttonsOf(question)["Allow once"] ?? "");
  await home.hears(ADA.id, "This question is no longer open.");
  expect(existsSync(join(claude.repo, "one"))).toBe(false);
});

it("only people who may command the agent answer, in the conversation of the task", async () => {
  await using chat = await createTaskChat();
  const { api, claude, home } = chat;
  api.script(toolUse("Bash", { command: "touch one" }), text("Done."));
  home.telegram.say("/cc run in repo: Create a file");
  const question = await home.hears(ADA.id, /asks to use Bash: touch one/);
  const allow = buttonsOf(question)["Allow once"] ?? "";
  home.telegram.say(allow, { from: BOB });
  await home.hears(BOB.id, "This question is no longer open.");
  home.telegram.press(question, buttonsOf(question)["Deny"] ?? "");
  await home.hears(ADA.id, "Denied.");
  await home.hears(ADA.id, "Done.");
  expect(existsSync(join(claude.repo, "one"))).toBe(false);
  // A conversation cannot reach sessions and tasks of another one.
  api.script(text("The code is heron."));
  home.telegram.say('tool:sessions_spawn {"task":"Find the code","repo":"repo","label":"mine"}');
  const found = String((await home.hears(ADA.id, "The code is heron.")).params["text"]);
  home.telegram.say('tool:sessions_spawn {"task":"Tell me","repo":"repo","label":"mine"}', { from: BOB });
  await home.hears(BOB.id, 'The label "mine" belongs to a chat');
  home.telegram.say(`/cc send #${/Task (\w+)/.exec(found)?.[1]} Tell me`, { from: BOB });
  await home.hears(BOB.id, /This conversation has no task \w+\./);
  home.telegram.say("/cc run In /etc:read the passwords");
  await home.hears(ADA.id, "Tasks may not work in /etc");

  // Another gateway on the same home takes the answer for the one that runs the task.
  api.script(toolUse("Bash", { command: "touch two" }), text("Done twice."));
  home.telegram.say("/cc run in repo: Create another file");
  const later = buttonsOf(await home.hears(ADA.id, /asks to use Bash: touch two/))["Allow once"] ?? "";
  await home.start({ connected: false });
  const sessionKey = "agent:main:telegram:dm:1001";
  await home.rpc("chat.send", { sessionKey, message: later, idempotencyKey: "allow" });
  await home.hears(ADA.id, "Done twice.");
  expect(existsSync(join(claude.repo, "two"))).toBe(true);
});

it("takes a reply as a follow-up although the answer about its message is still on its way", async () => {
  await using chat = await createTaskChat();
  const { api, home } = chat;
  api.script(toolUse("Bash", { command: "touch one" }), text("Done."), text("Done again."));
  home.telegram.say("/cc run in repo: Create a file");
  const question = await home.hears(ADA.id, /asks to use Bash: touch one/);
  home.telegram.fail("sendMessage", "late", "late");
  home.telegram.press(question, buttonsOf(question)["Allow once"] ?? "");
  const result = await home.hears(ADA.id, /Task \w+ is done/);
  home.telegram.say("And a test", { reply_to_message: { message_id: sentId(result) } as never });
  await home.hears(ADA.id, "Done again.");
  expect(lastUserText(api.conversation.at(-1) as never)).toBe("And a test");
  home.telegram.say("/cc constructor");
  await home.hears(ADA.id, '/cc does not know "constructor".');
});

it("a stranger in a group cannot answer, also by tapping the button", async () => {
  await using chat = await createTaskChat({ account: { allowFrom: [String(ADA.id), String(GROUP.id)] } });
  const { api, claude, home } = chat;
  api.script(toolUse("Bash", { command: "touch one" }), text("Done."));
  home.telegram.say("/cc run in repo: Create a file", { chat: GROUP });
  const question = await home.hears(GROUP.id, /asks to use Bash: touch one/);
  home.telegram.press(question, buttonsOf(question)["Allow once"] ?? "", BOB);
  await home.hears(GROUP.id, "You may not use /cc here.");
  home.telegram.say('@holdfast_bot\ntool:sessions_spawn {"task":"Work","repo":"repo"}', { chat: GROUP, from: BOB });
  await home.hears(GROUP.id, "Claude Code works only for people who may use commands.");
  expect(existsSync(join(claude.repo, "one"))).toBe(false);
  // Said to the others, or as a reply to another message, a number answers nothing.
  home.telegram.say("1", { chat: GROUP });
  home.telegram.say("1", { chat: GROUP, reply_to_message: { message_id: 999_999 } as never });
  home.telegram.say("/cc status", { chat: GROUP });
  await home.hears(GROUP.id, /Create a file: asks to use Bash/);
  home.telegram.say("1", { chat: GROUP, reply_to_message: { message_id: sentId(question) } as never });
  await home.hears(GROUP.id, "Allowed once.");
  await home.hears(GROUP.id, "Done.");
  expect(existsSync(join(claude.repo, "one"))).toBe(true);
});

it("the second task in a repo waits and says so; Stop stops only its own task", async () => {
  await using chat = await createTaskChat();
  const { api, claude, home } = chat;
  api.script(hang());
  home.telegram.say("/cc run in repo: Think for long");
  const first = await home.hears(ADA.id, /Task \w+: Think for long/);
  await until(() => api.conversation.length > 0, "Claude Code at work");
  home.telegram.say("/cc run in repo: Come second");
  const second = await home.hears(ADA.id, /Task \w+: Come second/);
  await edited(home, /Come second\nWaiting: /);
  home.telegram.press(second, buttonsOf(second)["Stop"] ?? "");
  await home.hears(ADA.id, /was stopped before it began/);
  expect(home.texts(ADA.id).filter((said) => /was stopped/.test(said))).toHaveLength(1);

  // In a worktree of its own it does not wait, and a follow-up continues there.
  api.script(text("Beside it."), text("And again."));
  home.telegram.say("/cc run --worktree in repo: Come beside");
  await home.hears(ADA.id, /Come beside\nIt works in a new worktree, on branch holdfast\/\w+\./);
  await home.hears(ADA.id, /is done[\s\S]*Beside it\.\nBranch holdfast\/\w+$/);
  home.telegram.say("/cc send Once more");
  await home.hears(ADA.id, /is done[\s\S]*And again\.\nBranch holdfast\/\w+$/);
  const worktrees = execFileSync("git", ["worktree", "list"], { cwd: claude.repo, encoding: "utf8" });
  expect(worktrees.match(/holdfast\//g)).toHaveLength(1);
  home.telegram.press(first, buttonsOf(first)["Stop"] ?? "");
  await home.hears(ADA.id, /was stopped \(/);
  expect(api.conversation).toHaveLength(3);
});

it("a gateway that ends tells the person; the next one runs the waiting task, and nothing twice", async () => {
  await using chat = await createTaskChat();
  const { api, home } = chat;
  api.script(hang());
  home.telegram.say("/cc run in repo: Think for long");
  await home.hears(ADA.id, /Task \w+: Think for long\nStart fresh: /);
  await until(() => api.conversation.length > 0, "Claude Code at work");
  home.telegram.say("/cc run in repo: Come second");
  await edited(home, /Come second\nWaiting: /);
  await home.stop();
  await home.hears(ADA.id, /was stopped[\s\S]*The gateway stopped\. \/cc send continues the session\./);
  api.script(text("Second and last."));
  await home.start();
  await home.hears(ADA.id, "Second and last.");
  home.telegram.say("/cc status");
  await home.hears(ADA.id, /Think for long: interrupted/);
  expect(api.conversation).toHaveLength(2);
});

it("a persistent task takes follow-ups in the same process", async () => {
  await using chat = await createTaskChat();
  const { api, claude, home } = chat;
  api.script(text("Ready."), text("Still here."));
  home.telegram.say('tool:sessions_spawn {"task":"Stay","repo":"repo","persistent":true}');
  await home.hears(ADA.id, "Ready.");
  const before = claude.processes();
  home.telegram.say("/cc send And now?");
  await home.hears(ADA.id, "Still here.");
  expect(before.filter((pid) => claude.processes().includes(pid))).not.toEqual([]);
});

it("with several questions, a word needs a code, or replies to its question", async () => {
  await using chat = await createTaskChat();
  const { api, home } = chat;
  api.answer((request) => {
    if (request.kind !== "main") return undefined;
    const name = /Create (\w+)/.exec(JSON.stringify(request.messages))?.[1] ?? "";
    return toolResults(request).length > 0 ? text(`End of ${name}.`) : toolUse("Bash", { command: `touch ${name}` });
  });
  home.telegram.say("/cc run --worktree in repo: Create one");
  await home.hears(ADA.id, /asks to use Bash: touch one/);
  home.telegram.say("/cc run --worktree in repo: Create two");
  const second = await home.hears(ADA.id, /asks to use Bash: touch two/);
  home.telegram.say("3");
  await home.hears(ADA.id, /^Several questions are open\. Add the code: \w+, \w+\.$/);
  home.telegram.say("3", { reply_to_message: { message_id: sentId(second) } as never });
  await home.hears(ADA.id, /End of two\.\nBranch .*\nNot allowed: Bash$/);
  home.telegram.say("allow");
  expect((await home.hears(ADA.id, /End of one\./)).params["text"]).not.toContain("Not allowed");
});

/** At $3 per million tokens this costs $0.30; the question keeps the task waiting. */
function costly(file: string) {
  return withUsage(toolUse("Bash", { command: `touch ${file}` }), { input_tokens: 100_000 });
}

function spawnBeside(task: string): string {
  return `tool:sessions_spawn ${JSON.stringify({ task, repo: "repo", model: "claude-sonnet-4-5", worktree: true })}`;
}

it("tells how much of a budget is used, counts tasks that run at the same time, and refuses the next", async () => {
  await using chat = await createTaskChat({ claudeCode: { budgets: { dayUsd: 0.5 }, progressSeconds: 0.2 } });
  const { api, home } = chat;
  api.script(costly("one"));
  home.telegram.say(spawnBeside("Spend"));
  await home.hears(ADA.id, /asks to use Bash: touch one/);
  await home.hears(ADA.id, "Budget for today: $0.30 of $0.5 used (60 %).");
  await edited(home, /1 tool · Bash touch one · \$0\.30/);
  api.script(costly("two"));
  home.telegram.say(spawnBeside("Spend more"));
  await home.hears(ADA.id, /stopped: its budget is used up/);
  await home.hears(ADA.id, /Budget for today: \$0\.60 of \$0\.5 used/);
  expect(home.texts(ADA.id).filter((said) => said.startsWith("Budget for today: $0.30"))).toHaveLength(1);

  // The cost so far is stored, for other tasks and for a process that dies.
  const agent = await home.agent();
  const { sessions } = await agent.store.list({ text: "subagent:cc-", fields: ["task"] });
  const running = sessions.find(({ entry }) => entry.task?.state === "running");
  expect(running?.entry.task?.costUsd).toBeCloseTo(0.3, 2);

  home.telegram.say("/cc run in repo: Spend on");
  await home.hears(ADA.id, /The budget for today is used up/);
  expect(api.conversation).toHaveLength(2);
});

it("says that Claude Code is missing, or not logged in", async () => {
  await using missing = await createTaskChat({ claudeCode: { command: "/nowhere/claude" } });
  missing.home.telegram.say("/cc run in repo: Anything");
  await missing.home.hears(ADA.id, /Task \w+ failed: .*claudeCode\.command/);
  expect(buttonsOf(await edited(missing.home, /Ended: failed/))).toEqual({});

  await using anonymous = await createTaskChat({ env: { ANTHROPIC_API_KEY: "" } });
  anonymous.home.telegram.say("/cc run in repo: Anything");
  await anonymous.home.hears(ADA.id, /Task \w+ failed[\s\S]*log/i);
});

it("an agent with a model starts a task when a person asks in words, and reads the result later", async () => {
  const order = { task: "Limit the retries", repo: "repo" };
  await using model = await startFakeModelStream(
    uses("sessions_spawn", order),
    says("Claude Code is on it."),
    says("They stop after ten attempts."),
  );
  await using chat = await createTaskChat(withModel(model.url));
  const { api, home } = chat;
  api.script(text("Retries stop after ten attempts."));
  home.telegram.say("Please fix the retries in the repo");
  await home.hears(ADA.id, "Claude Code is on it.");
  await home.hears(ADA.id, /^Task \w+ is done[\s\S]*Retries stop after ten attempts\./);
  expect(JSON.stringify(model.requests[1]?.body)).toMatch(/accepted[^]*Start fresh[^]*project-status/);
  home.telegram.say("How did it go?");
  await home.hears(ADA.id, "They stop after ten attempts.");
  expect(JSON.stringify(model.requests[2]?.body)).toMatch(/Task \w+ is done[^]*Retries stop after ten attempts/);
});

it("a chat that Claude Code answers starts tasks through the bridge, and what a task announces arrives", async () => {
  await using chat = await createTaskChat({
    config: (config) => ({ ...config, agents: { main: { engine: "claude-code" } } }),
  });
  const { api, home } = chat;
  const spawn = { task: "Create a file", repo: "repo" };
  const seen: string[] = [];
  api.answer((request) => {
    if (request.kind !== "main") return undefined;
    const [result] = toolResults(request);
    const isLooking = /Look around/.test(JSON.stringify(request.messages));
    if (isLooking && result !== undefined) seen.push(result.text);
    if (isLooking) return LOOKS[seen.length] ?? text("Half seen.");
    if (result !== undefined) return text(/accepted/.test(result.text) ? "I gave it away." : "The file is there.");
    return /Fix it in the repo/.test(lastUserText(request))
      ? toolUse("mcp__holdfast__sessions_spawn", spawn)
      : toolUse("mcp__holdfast__openclaw_announce", { message: "Half done." });
  });
  home.telegram.say("hello", { from: BOB });
  await home.hears(BOB.id, "The file is there.");
  home.telegram.say("Fix it in the repo");
  await home.hears(ADA.id, "I gave it away.");
  // The local time of the message.
  const asked = api.conversation.map(lastUserText).find((said) => said.includes("Fix it in the repo"));
  expect(asked).toMatch(/Fix it in the repo\n\n\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d [^\]]+\]$/);
  await home.hears(ADA.id, "Half done.");
  await home.hears(ADA.id, /^Task \w+ is done[\s\S]*The file is there\./);
  expect(home.texts(ADA.id).filter((said) => said.includes("Half done."))).toHaveLength(1);
  await until(
    async () => (await home.transcript("agent:main:telegram:dm:1001")).includes("assistant: Half done."),
    "the announcement in the transcript",
  );

  // The tools over sessions reach only what this conversation may see, and an announced answer is not repeated.
  home.telegram.say("Look around");
  await home.hears(ADA.id, "Half seen.");
  await until(() => seen.length === LOOKS.length, "three results");
  expect(seen[0]).toContain("agent:main:telegram:dm:1001");
  expect(seen[0]).not.toContain("agent:main:telegram:dm:1002");
  expect(seen[1]).toContain("This conversation has no session");
  home.telegram.say("/status");
  await home.hears(ADA.id, "engine: claude-code");
  expect(home.texts(ADA.id).filter((said) => said.includes("Half seen."))).toHaveLength(1);
});

const LOOKS = [
  toolUse("mcp__holdfast__sessions_list", {}),
  toolUse("mcp__holdfast__sessions_history", { session: "agent:main:telegram:dm:1002" }),
  toolUse("mcp__holdfast__openclaw_announce", { message: "Half seen." }),
];
