/** One real Claude Code under control, against a model API on loopback. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ClaudeEvent } from "../../src/claude/runner/process/claude-process.ts";
import { collect, eventOf, readAll, runOnce, setStage, startParent, toolStarted } from "../support/claude-stage.ts";
import type { FakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import {
  apiError,
  cutAfter,
  hang,
  slowly,
  text,
  thinking,
  toolUse,
  withUsage,
} from "../support/fake-anthropic/reply.ts";

/** Several at a time: each of them waits for most of its time. A loaded machine gets more of it. */
const AT_ONCE = { concurrent: true, timeout: 60_000 };
const SESSION = "6b9c6f0e-3f5c-4d9e-9a59-0a4f5d8f2a11";
const FORK = "6b9c6f0e-3f5c-4d9e-9a59-0a4f5d8f2a12";

describe("turns", AT_ONCE, () => {
  test("a message, a follow-up in the same process, some at once that are answered one by one, the end", async () => {
    await using stage = await setStage();
    await using claude = stage.start({ session: { kind: "new", sessionId: SESSION } });
    const first = await claude.send("--help me");
    expect(first).toMatchObject({
      outcome: "completed",
      text: "echo: --help me",
      sessionId: SESSION,
      numTurns: 1,
      usage: { inputTokens: 100, outputTokens: 10 },
      denials: [],
      canContinue: true,
    });
    const second = await claude.send("and\nmore “text”");
    expect(second.text).toBe("echo: and\nmore “text”");
    expect(first.costUsd).toBeGreaterThan(0);
    expect(second.costUsd).toBeCloseTo(first.costUsd);
    expect(second.totalCostUsd).toBeCloseTo(2 * first.costUsd);
    const turns = await Promise.all([claude.send("one"), claude.send("two"), claude.send("three")]);
    expect(turns.map((turn) => turn.text)).toEqual(["echo: one", "echo: two", "echo: three"]);
    expect(stage.api.conversation.map(lastUserText).slice(2)).toEqual(["one", "two", "three"]);
    expect(claude.state).toBe("idle");
    expect(await claude.stop()).toMatchObject({ code: 0 });
    expect(claude.state).toBe("ended");
    await expect(claude.send("too late")).rejects.toMatchObject({ code: "claude-ended" });
    const lines = await stage.home.transcript(SESSION);
    const prompts = lines.filter((line) => line["promptSource"] === "sdk");
    expect(prompts.map((line) => line["entrypoint"])).toEqual(Array.from({ length: 5 }, () => "holdfast"));
  });

  test("a tool is used, its answer reaches the model, and all of it shows as events", async () => {
    await using stage = await setStage();
    stage.api.script(
      toolUse("Bash", { command: "echo from the tool" }),
      slowly(thinking("let me see", "all is well"), 1),
    );
    await using claude = stage.start({ allowedTools: ["Read", "Bash(echo:*)"] });
    const events = collect(claude);
    const turn = await claude.send("go");
    expect(turn).toMatchObject({ outcome: "completed", text: "all is well", numTurns: 2 });
    expect(stage.api.conversation.flatMap(toolResults)).toMatchObject([{ text: "from the tool", isError: false }]);
    await claude.stop();
    const seen = (await events).filter(({ type }) => type !== "status");
    expect(joinText(seen)).toMatchObject([
      { type: "turn-started" },
      { type: "tool-use", name: "Bash", input: { command: "echo from the tool" } },
      { type: "tool-result", text: "from the tool", isError: false },
      { type: "thinking", text: "let me see" },
      { type: "text", text: "all is well" },
      { type: "turn-ended", asked: true, turn },
    ]);
  });

  test("a subagent works for the turn", async () => {
    await using stage = await setStage();
    stage.api.answer((request) => (request.kind === "subagent" ? text("found it") : undefined));
    stage.api.script(
      toolUse("Agent", { subagent_type: "general-purpose", description: "look", prompt: "look around" }),
      text("done"),
    );
    await using claude = stage.start({ permissionMode: "bypassPermissions" });
    const events = collect(claude);
    expect(await claude.send("go")).toMatchObject({ outcome: "completed", text: "done" });
    expect(stage.api.requests.map(({ kind }) => kind)).toEqual(["main", "subagent", "main"]);
    expect(stage.api.conversation.flatMap(toolResults)[0]?.text).toContain("found it");
    await claude.stop();
    expect(await events).toContainEqual(expect.objectContaining({ type: "task", event: "started" }));
  });

  test("a turn that Claude Code begins by itself is not taken for the answer", async () => {
    await using stage = await setStage();
    stage.api.answer((request) => {
      const said = JSON.stringify(request.messages.findLast(({ role }) => role === "user"));
      if (said.includes("start it")) return toolUse("Bash", { command: "sleep 0.2", run_in_background: true });
      return said.includes("<task-notification>") ? slowly(text("it has ended by now"), 50) : undefined;
    });
    await using claude = stage.start({ permissionMode: "bypassPermissions" });
    const events = claude.events();
    await claude.send("start it");
    await stage.api.waitFor((request) => JSON.stringify(request.messages).includes("<task-notification>"));
    expect(claude.state).toBe("busy");
    expect(await claude.send("next")).toMatchObject({ outcome: "completed", text: "echo: next" });
    await claude.stop();
    const ended = (await readAll(events)).filter((event) => event.type === "turn-ended");
    expect(ended.map(({ asked }) => asked)).toEqual([true, false, true]);
  });
});

describe("sessions", AT_ONCE, () => {
  test("resume goes on under the same id, fork under another", async () => {
    await using stage = await setStage();
    await runOnce(stage, { session: { kind: "new", sessionId: SESSION } }, "the first");
    const resumed = await runOnce(stage, { session: { kind: "resume", sessionId: SESSION } }, "the second");
    expect(resumed).toMatchObject({ outcome: "completed", sessionId: SESSION });
    expect(sentTexts(stage.api)).toEqual(["the first", "the second"]);
    const session = { kind: "fork", sessionId: SESSION, newSessionId: FORK } as const;
    const forked = await runOnce(stage, { session }, "aside");
    expect(forked).toMatchObject({ outcome: "completed", sessionId: FORK });
    expect(sentTexts(stage.api)).toEqual(["the first", "the second", "aside"]);
  });

  test("a session that does not exist is a stale resume", async () => {
    await using stage = await setStage();
    await using claude = stage.start({ session: { kind: "resume", sessionId: SESSION } });
    expect(await claude.send("hello")).toMatchObject({
      outcome: "stale-resume",
      error: `No conversation found with session ID: ${SESSION}`,
      canContinue: false,
      costUsd: 0,
    });
    expect(await claude.ended).toMatchObject({ code: 1 });
  });

  test("/clear gives the process another session", async () => {
    await using stage = await setStage();
    await using claude = stage.start({ session: { kind: "new", sessionId: SESSION } });
    await claude.send("hello");
    const cleared = await claude.send("/clear");
    expect(cleared.outcome).toBe("completed");
    expect(cleared.sessionId).not.toBe(SESSION);
    expect((await claude.send("again")).sessionId).toBe(cleared.sessionId);
  });

  test("compaction, asked for and automatic", async () => {
    await using stage = await setStage();
    stage.api.script(text("one"), withUsage(text("two"), { input_tokens: 195_000 }), text("three"));
    await using claude = stage.start({
      model: "claude-haiku-4-5",
      env: { ...stage.home.env, CLAUDE_CODE_AUTO_COMPACT_WINDOW: "150000" },
    });
    const events = collect(claude);
    await claude.send("first");
    expect(await claude.send("second")).toMatchObject({ compactions: 0 });
    expect(await claude.send("third")).toMatchObject({ outcome: "completed", text: "three", compactions: 1 });
    expect(await claude.send("/compact")).toMatchObject({ outcome: "completed", text: "", compactions: 1 });
    await claude.stop();
    expect((await events).filter(({ type }) => type === "compaction")).toMatchObject([
      { trigger: "auto" },
      { trigger: "manual" },
    ]);
  });
});

describe("limits and refusals", AT_ONCE, () => {
  test("turns", async () => {
    await using stage = await setStage();
    stage.api.script(toolUse("Bash", { command: "echo 1" }), text("enough"));
    await using claude = stage.start({ maxTurns: 1, permissionMode: "bypassPermissions" });
    expect(await claude.send("go")).toMatchObject({
      outcome: "limit-turns",
      error: "Reached maximum number of turns (1)",
      canContinue: true,
    });
    expect(await claude.send("go on")).toMatchObject({ outcome: "completed", text: "enough" });
  });

  test("budget", async () => {
    await using stage = await setStage();
    stage.api.script(withUsage(toolUse("Bash", { command: "echo 1" }), { output_tokens: 100_000 }));
    await using claude = stage.start({ maxBudgetUsd: 0.5, permissionMode: "bypassPermissions" });
    const turn = await claude.send("go");
    expect(turn).toMatchObject({ outcome: "limit-budget", canContinue: false });
    expect(turn.costUsd).toBeGreaterThan(0.5);
  });

  test("the API refuses", async () => {
    await using stage = await setStage();
    stage.api.script(apiError(400, "no such thing"), apiError(529, "too busy"), text("back again"));
    await using claude = stage.start({ env: { ...stage.home.env, CLAUDE_CODE_MAX_RETRIES: "0" } });
    expect(await claude.send("go")).toMatchObject({
      outcome: "api-error",
      apiStatus: 400,
      error: "API Error: 400 no such thing",
      text: "",
      canContinue: true,
    });
    expect(await claude.send("go")).toMatchObject({ outcome: "api-error", apiStatus: 529 });
    expect(await claude.send("go")).toMatchObject({ outcome: "completed", text: "back again" });
  });

  test("the API asks to wait, and refuses in the end", async () => {
    await using stage = await setStage();
    stage.api.answer(() => apiError(429, "slow down", 0.1));
    await using claude = stage.start({ env: { ...stage.home.env, CLAUDE_CODE_MAX_RETRIES: "1" } });
    const events = collect(claude);
    expect(await claude.send("go")).toMatchObject({ outcome: "rate-limited", apiStatus: 429, canContinue: true });
    await claude.stop();
    expect(await events).toContainEqual(expect.objectContaining({ type: "retry", attempt: 1, status: 429 }));
  });

  test("an answer that breaks off is asked for again", async () => {
    await using stage = await setStage();
    stage.api.script(cutAfter(text("one two three four"), 2), text("the whole answer"));
    await using claude = stage.start();
    expect(await claude.send("go")).toMatchObject({ outcome: "completed", text: "the whole answer" });
  });

  test("a tool is not allowed", async () => {
    await using stage = await setStage();
    const path = join(stage.home.repo, "new.txt");
    stage.api.script(toolUse("Write", { file_path: path, content: "x" }), text("I may not"));
    await using claude = stage.start();
    expect(await claude.send("go")).toMatchObject({
      outcome: "permission-denied",
      text: "I may not",
      error: "not allowed: Write",
      denials: [{ toolName: "Write", input: { file_path: path } }],
    });
    expect(existsSync(path)).toBe(false);
  });
});

describe("ending", AT_ONCE, () => {
  test("an interrupted turn leaves its text in the transcript and the process alive", async () => {
    await using stage = await setStage();
    stage.api.script(slowly(text("one two three ".repeat(200)), 20));
    await using claude = stage.start();
    const running = claude.send("count");
    await eventOf(claude, "text");
    expect(await claude.interrupt()).toBe("answered");
    const turn = await running;
    expect(turn).toMatchObject({ outcome: "interrupted", canContinue: true });
    expect(turn.text).toMatch(/^one /);
    expect(await claude.interrupt()).toBe("idle");
    expect((await claude.send("go on")).text).toContain("go on");
    await claude.stop();
    const lines = await stage.home.transcript(turn.sessionId ?? "");
    expect(lines.some((line) => JSON.stringify(line["message"] ?? "").includes(turn.text))).toBe(true);
  });

  test("an interrupt before the turn has begun works too", async () => {
    await using stage = await setStage();
    stage.api.script(hang());
    await using claude = stage.start();
    const running = claude.send("go");
    expect(await claude.interrupt()).toBe("answered");
    expect(await running).toMatchObject({ outcome: "interrupted", canContinue: true });
  });

  test("a turn that hangs is timed out; the process goes on", async () => {
    await using stage = await setStage();
    stage.api.script(text("ready"), hang());
    await using claude = stage.start();
    await claude.send("hello");
    expect(await claude.send("go", { timeoutMs: 1000 })).toMatchObject({ outcome: "timed-out", canContinue: true });
    expect(await claude.send("still there?")).toMatchObject({ outcome: "completed" });
  });

  test("where a request is no use, SIGINT ends the turn and the process", async () => {
    await using stage = await setStage();
    stage.api.script(slowly(text("one two three ".repeat(200)), 20));
    await using claude = stage.start({ grace: { interruptMs: 0, terminateMs: 20_000 } });
    const running = claude.send("count");
    await eventOf(claude, "text");
    expect(await claude.interrupt()).toBe("process-ended");
    const turn = await running;
    expect(turn).toMatchObject({ outcome: "interrupted", canContinue: false });
    expect(turn.text).toMatch(/^one /);
    expect(await claude.ended).toMatchObject({ code: 0 });
  });

  test("a process that does not listen is ended by signals", async () => {
    await using stage = await setStage();
    stage.api.script(toolUse("Bash", { command: "sleep 300" }));
    await using claude = stage.start({
      permissionMode: "bypassPermissions",
      grace: { interruptMs: 200, endMs: 200, terminateMs: 200 },
    });
    const running = claude.send("go");
    await eventOf(claude, "tool-use");
    // It can neither answer nor end itself.
    process.kill(claude.pid, "SIGSTOP");
    expect(await claude.interrupt()).toBe("process-ended");
    expect(await running).toMatchObject({ outcome: "interrupted", canContinue: false });
    expect(await claude.ended).toMatchObject({ signal: "SIGKILL" });
    expect(stage.home.processes()).toEqual([]);
  });

  test("stop ends a turn, and what runs in the background", async () => {
    await using stage = await setStage();
    stage.api.script(toolUse("Bash", { command: "sleep 300", run_in_background: true }), hang());
    await using claude = stage.start({ permissionMode: "bypassPermissions" });
    const running = claude.send("go");
    await stage.api.waitFor((request) => toolResults(request).length > 0);
    await claude.stop();
    expect(await running).toMatchObject({ outcome: "interrupted", canContinue: false });
    expect(stage.home.processes()).toEqual([]);
  });

  test("a claude that is killed leaves a crashed turn and no tool behind", async () => {
    await using stage = await setStage();
    stage.api.script(toolUse("Bash", { command: "sleep 300" }));
    await using claude = stage.start({ permissionMode: "bypassPermissions" });
    const running = claude.send("go");
    await toolStarted(stage.home, "sleep");
    process.kill(claude.pid, "SIGKILL");
    expect(await running).toMatchObject({
      outcome: "crashed",
      error: "claude ended by SIGKILL before the turn had a result",
      canContinue: false,
    });
    await claude.ended;
    expect(stage.home.processes()).toEqual([]);
  });

  test("when the parent is killed nothing is left", async () => {
    await using stage = await setStage();
    stage.api.script(toolUse("Bash", { command: "nohup sleep 300 & sleep 300" }));
    const parent = await startParent({ ...stage.options, permissionMode: "bypassPermissions" });
    await toolStarted(stage.home, "sleep", 2);
    parent.kill("SIGKILL");
    await stage.home.empty();
    expect(stage.home.processes()).toEqual([]);
  });

  test("nor when it is killed while claude starts", async () => {
    await using stage = await setStage();
    for (const ms of [0, 3, 30, 300]) {
      const parent = await startParent(stage.options);
      await delay(ms);
      parent.kill("SIGKILL");
      await stage.home.empty();
    }
    expect(stage.home.processes()).toEqual([]);
  });
});

describe("starting", AT_ONCE, () => {
  test("a program that ends at once", async () => {
    await using stage = await setStage();
    const command = join(stage.home.home, "broken");
    await writeFile(command, "#!/bin/sh\necho 'half a line'; printf '{\"type\":'; echo 'no licence' >&2; exit 3\n", {
      mode: 0o755,
    });
    await using claude = stage.start({ command });
    const events = collect(claude);
    expect(await claude.send("hello")).toMatchObject({
      outcome: "crashed",
      sessionId: undefined,
      error: "claude ended with exit code 3 before the turn had a result: no licence",
    });
    expect((await events).filter(({ type }) => type === "damaged")).toMatchObject([
      { excerpt: "half a line" },
      { reason: "the output ended in the middle of a line", excerpt: '{"type":' },
    ]);
  });

  test("what got out of reach does not keep the process from ending", async () => {
    await using stage = await setStage();
    const command = join(stage.home.home, "forking");
    const marks = "env -u HOLDFAST_RUN -u HOLDFAST_TEST_MARK";
    await writeFile(command, `#!/bin/sh\nread -r _\n(${marks} setsid sleep 6 &)\nexit 0\n`, { mode: 0o755 });
    await using claude = stage.start({ command });
    expect(await claude.send("hello")).toMatchObject({ outcome: "crashed" });
    expect(await claude.ended).toMatchObject({ code: 0 });
  });

  test("control requests", async () => {
    await using stage = await setStage();
    await using claude = stage.start();
    await claude.request({ subtype: "set_permission_mode", mode: "plan" });
    await claude.request({ subtype: "set_model", model: "claude-haiku-4-5" });
    await claude.send("hello");
    expect(stage.api.conversation.at(-1)?.model).toBe("claude-haiku-4-5");
    expect(await claude.request({ subtype: "get_context_usage" })).toHaveProperty("maxTokens");
    await claude.stop();
    await expect(claude.request({ subtype: "mcp_status" })).rejects.toMatchObject({ code: "claude-control-failed" });
  });
});

/** What the person has said in the last request's conversation. */
function sentTexts(api: FakeAnthropic): string[] {
  const messages = api.conversation.at(-1)?.messages ?? [];
  return messages
    .filter(({ role }) => role === "user")
    .map((message) => lastUserText({ messages: [message] }))
    .filter((said) => said !== "");
}

function joinText(events: ClaudeEvent[]): ClaudeEvent[] {
  const joined: ClaudeEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if ((event.type === "text" || event.type === "thinking") && last?.type === event.type) last.text += event.text;
    else joined.push({ ...event });
  }
  return joined;
}
