/** One real Claude Code under control, against a model API on loopback: its turns and its sessions. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClaudeEvent, ClaudeProcess } from "../../src/claude/runner/process/claude-process.ts";
import {
  AT_ONCE,
  type ProcessHome,
  collect,
  createProcessHome,
  eventOf,
  eventsOfTurn,
  isText,
  runOnce,
} from "../support/process-home.ts";
import type { FakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import {
  apiError,
  cutAfter,
  hang,
  heldUntil,
  slowly,
  text,
  thinking,
  toolUse,
  withUsage,
} from "../support/fake-anthropic/reply.ts";
import { until } from "../support/time.ts";

const SESSION = "6b9c6f0e-3f5c-4d9e-9a59-0a4f5d8f2a11";
const FORK = "6b9c6f0e-3f5c-4d9e-9a59-0a4f5d8f2a12";

describe("one process, turn after turn", () => {
  let home: ProcessHome;
  let claude: ClaudeProcess;
  /** The text of the interrupted turn. */
  let interrupted: string;
  beforeAll(async () => {
    home = await createProcessHome();
    claude = home.start({
      session: { kind: "new", sessionId: SESSION },
      model: "claude-haiku-4-5",
      allowedTools: ["Read", "Bash(echo:*)"],
      env: { ...home.home.env, CLAUDE_CODE_MAX_RETRIES: "1", CLAUDE_CODE_AUTO_COMPACT_WINDOW: "150000" },
    });
  });
  afterAll(async () => {
    await claude[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test("answers a message and follow-ups", async () => {
    const first = await claude.send("--help me");
    expect(first).toMatchObject({
      outcome: "completed",
      text: "echo: --help me",
      sessionId: SESSION,
      numTurns: 1,
      denials: [],
      canContinue: true,
    });
    const second = await claude.send("and\nmore “text”");
    expect(second.text).toBe("echo: and\nmore “text”");
    expect(first.costUsd).toBeGreaterThan(0);
    expect(second.costUsd).toBeCloseTo(first.costUsd);
    expect(second.totalCostUsd).toBeCloseTo(2 * first.costUsd);
    for (const text of ["one", "two", "three"]) expect((await claude.send(text)).text).toBe(`echo: ${text}`);
    expect(home.api.conversation.map(lastUserText).slice(2)).toEqual(["one", "two", "three"]);
    expect(claude.state).toBe("idle");
  });

  test("reports a tool call and its result as events", async () => {
    home.api.script(
      toolUse("Bash", { command: "echo from the tool" }),
      slowly(thinking("let me see", "all is well"), 1),
    );
    const events = eventsOfTurn(claude);
    const turn = await claude.send("go");
    expect(turn).toMatchObject({ outcome: "completed", text: "all is well", numTurns: 2 });
    expect(home.api.conversation.flatMap(toolResults)).toMatchObject([{ text: "from the tool", isError: false }]);
    const seen = await events;
    expect(seen.filter(({ type }) => type === "init" || type === "turn-ended")).toMatchObject([
      { type: "init" },
      { type: "turn-ended", asked: true, turn },
    ]);
    expect(seen.flatMap((event) => (!("blocks" in event) ? [] : event.blocks))).toMatchObject([
      { type: "text", text: "go" },
      { type: "tool_use", name: "Bash", input: { command: "echo from the tool" } },
      { type: "tool_result", text: "from the tool", isError: false },
      { type: "thinking", text: "let me see" },
      { type: "text", text: "all is well" },
    ]);
    const pieces = seen.flatMap((event) => (event.type === "stream_event" ? [event.event] : []));
    expect(joined(pieces, "thinking")).toBe("let me see");
    expect(joined(pieces, "text")).toBe("all is well");
  });

  test("reports a denied tool", async () => {
    const path = join(home.home.repo, "new.txt");
    home.api.script(toolUse("Write", { file_path: path, content: "x" }), text("I may not"));
    expect(await claude.send("go")).toMatchObject({
      outcome: "permission-denied",
      text: "I may not",
      error: "not allowed: Write",
      denials: [{ toolName: "Write", input: { file_path: path } }],
    });
    expect(existsSync(path)).toBe(false);
  });

  test("reports an API error", async () => {
    const busy = apiError(529, "too busy", 0.1);
    home.api.script(apiError(400, "no such thing"), busy, busy, text("back again"));
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

  test("reports retries and the final API error", async () => {
    const slowDown = apiError(429, "slow down", 0.1);
    home.api.script(slowDown, slowDown);
    const events = eventsOfTurn(claude);
    expect(await claude.send("go")).toMatchObject({ outcome: "rate-limited", apiStatus: 429, canContinue: true });
    expect(await events).toContainEqual(expect.objectContaining({ type: "api_retry", attempt: 1, status: 429 }));
  });

  test("retries an answer that breaks off", async () => {
    home.api.script(cutAfter(text("red green blue yellow"), 2), text("the whole answer"));
    expect(await claude.send("go")).toMatchObject({ outcome: "completed", text: "the whole answer" });
  });

  test("a hanging turn times out; the process continues", async () => {
    home.api.script(hang());
    expect(await claude.send("go", { timeoutMs: 500 })).toMatchObject({ outcome: "timed-out", canContinue: true });
    expect(await claude.send("still there?")).toMatchObject({ outcome: "completed" });
  });

  test("an interrupted turn keeps its text, and the process continues", async () => {
    home.api.script(slowly(text("one two three ".repeat(200)), 20));
    const running = claude.send("count");
    await eventOf(claude, isText);
    expect(await claude.interrupt()).toBe("answered");
    const turn = await running;
    expect(turn).toMatchObject({ outcome: "interrupted", canContinue: true });
    expect(turn.text).toMatch(/^one /);
    expect(await claude.interrupt()).toBe("idle");
    expect((await claude.send("go on")).text).toContain("go on");
    interrupted = turn.text;
  });
  /** The turn, and its events of one type. */
  const sendSeeing = async (type: ClaudeEvent["type"], message: string): Promise<unknown[]> => {
    const events = eventsOfTurn(claude);
    const turn = await claude.send(message);
    return [turn, ...(await events).filter((event) => event.type === type)];
  };

  test("compacts automatically and on request", async () => {
    home.api.script(text("one"), withUsage(text("two"), { input_tokens: 195_000 }), text("three"));
    expect(await sendSeeing("compact_boundary", "first")).toMatchObject([{ text: "one" }]);
    expect(await sendSeeing("compact_boundary", "second")).toMatchObject([{ text: "two" }]);
    expect(await sendSeeing("compact_boundary", "third")).toMatchObject([
      { outcome: "completed", text: "three" },
      { trigger: "auto" },
    ]);
    expect(await sendSeeing("compact_boundary", "/compact")).toMatchObject([
      { outcome: "completed", text: "" },
      { trigger: "manual" },
    ]);
  });

  test("/clear gives the process another session", async () => {
    const cleared = await claude.send("/clear");
    expect(cleared.outcome).toBe("completed");
    expect(cleared.sessionId).not.toBe(SESSION);
    expect((await claude.send("again")).sessionId).toBe(cleared.sessionId);
  });

  test("stops cleanly and refuses further messages", async () => {
    expect(await claude.stop()).toMatchObject({ code: 0 });
    expect(claude.state).toBe("ended");
    await expect(claude.send("too late")).rejects.toMatchObject({ code: "claude-ended" });
    const lines = await home.home.transcript(SESSION);
    const prompts = lines.filter((line) => line["promptSource"] === "sdk");
    const first = ["--help me", "and\nmore “text”", "one", "two", "three"];
    expect(prompts.slice(0, first.length)).toMatchObject(first.map((content) => ({ message: { content } })));
    expect(new Set(prompts.map((line) => line["entrypoint"]))).toEqual(new Set(["holdfast"]));
    expect(lines.some((line) => JSON.stringify(line["message"] ?? "").includes(interrupted))).toBe(true);
  });
});

describe("one process with all permissions", () => {
  let home: ProcessHome;
  let claude: ClaudeProcess;
  beforeAll(async () => {
    home = await createProcessHome();
    claude = home.start({ permissionMode: "bypassPermissions" });
  });
  afterAll(async () => {
    await claude[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test("a subagent works for the turn", async () => {
    home.api.answer((request) => (request.kind === "subagent" ? text("found it") : undefined));
    home.api.script(
      toolUse("Agent", { subagent_type: "general-purpose", description: "look", prompt: "look around" }),
      text("done"),
    );
    const events = eventsOfTurn(claude);
    expect(await claude.send("go")).toMatchObject({ outcome: "completed", text: "done" });
    expect(home.api.requests.map(({ kind }) => kind)).toEqual(["main", "subagent", "main"]);
    expect(home.api.conversation.flatMap(toolResults)[0]?.text).toContain("found it");
    expect(await events).toContainEqual(expect.objectContaining({ type: "task", event: "started" }));
  });

  test("a turn that Claude Code starts itself is not the answer", async () => {
    const released = Promise.withResolvers<void>();
    home.api.answer((request) => {
      const said = JSON.stringify(request.messages.findLast(({ role }) => role === "user"));
      if (said.includes("start it")) return toolUse("Bash", { command: "sleep 0.2", run_in_background: true });
      return said.includes("<task-notification>")
        ? heldUntil(released.promise, text("it has ended by now"))
        : undefined;
    });
    const events = collect(claude);
    await claude.send("start it");
    await home.api.waitFor((request) => JSON.stringify(request.messages).includes("<task-notification>"));
    // The event of the turn may arrive after the request.
    await until(() => claude.state === "busy", "its own turn");
    const next = claude.send("next");
    released.resolve();
    expect(await next).toMatchObject({ outcome: "completed", text: "echo: next" });
    await claude.stop();
    const ended = events.filter((event) => event.type === "turn-ended");
    expect(ended.map(({ asked }) => asked)).toEqual([true, false, true]);
  });
});

describe("sessions", AT_ONCE, () => {
  test("resume keeps the id, fork gets a new one", async () => {
    await using home = await createProcessHome();
    await runOnce(home, { session: { kind: "new", sessionId: SESSION } }, "the first");
    const resumed = await runOnce(home, { session: { kind: "resume", sessionId: SESSION } }, "the second");
    expect(resumed).toMatchObject({ outcome: "completed", sessionId: SESSION });
    expect(sentTexts(home.api)).toEqual(["the first", "the second"]);
    const session = { kind: "fork", sessionId: SESSION, newSessionId: FORK } as const;
    const forked = await runOnce(home, { session }, "aside");
    expect(forked).toMatchObject({ outcome: "completed", sessionId: FORK });
    expect(sentTexts(home.api)).toEqual(["the first", "the second", "aside"]);
  });

  test("a missing session is a stale resume", async () => {
    await using home = await createProcessHome();
    await using claude = home.start({ session: { kind: "resume", sessionId: SESSION } });
    expect(await claude.send("hello")).toMatchObject({
      outcome: "stale-resume",
      error: `No conversation found with session ID: ${SESSION}`,
      canContinue: false,
      costUsd: 0,
    });
    expect(await claude.ended).toMatchObject({ code: 1 });
  });
});

describe("limits", AT_ONCE, () => {
  test("turns", async () => {
    await using home = await createProcessHome();
    home.api.script(toolUse("Bash", { command: "echo 1" }), text("enough"));
    await using claude = home.start({ maxTurns: 1, permissionMode: "bypassPermissions" });
    expect(await claude.send("go")).toMatchObject({
      outcome: "limit-turns",
      error: "Reached maximum number of turns (1)",
      canContinue: true,
    });
    expect(await claude.send("go on")).toMatchObject({ outcome: "completed", text: "enough" });
  });

  test("budget", async () => {
    await using home = await createProcessHome();
    home.api.script(withUsage(toolUse("Bash", { command: "echo 1" }), { output_tokens: 100_000 }));
    await using claude = home.start({ maxBudgetUsd: 0.5, permissionMode: "bypassPermissions" });
    const turn = await claude.send("go");
    expect(turn).toMatchObject({ outcome: "limit-budget", canContinue: false });
    expect(turn.costUsd).toBeGreaterThan(0.5);
  });
});

/** The person's messages in the last request. */
function sentTexts(api: FakeAnthropic): string[] {
  const messages = api.conversation.at(-1)?.messages ?? [];
  return messages
    .filter(({ role }) => role === "user")
    .map((message) => lastUserText({ messages: [message] }))
    .filter((said) => said !== "");
}

function joined(pieces: readonly { kind: string }[], kind: "text" | "thinking"): string {
  return pieces.map((piece) => (piece.kind === kind && "text" in piece ? piece.text : "")).join("");
}
