import { describe, expect, it } from "vitest";
import {
  ADA,
  ADA_KEY,
  answer,
  scriptedEngine,
  toolCall,
  toolResult,
  createTurnHome,
  usage,
} from "../../../test/support/turn-home.ts";
import { HoldfastError } from "../../base/errors.ts";
import { createEchoEngine } from "../../engine/echo/echo.ts";
import { contentText, messageText, isFlushEntry, saidText } from "../../transcript/messages.ts";

const MINUTE = 60_000;
const group = {
  ...ADA,
  From: "telegram:group:-100",
  OriginatingTo: "telegram:-100",
  ChatType: "group",
  WasMentioned: true,
};

const friendly = () => scriptedEngine(({ text }) => [usage(100), answer(`re: ${text}`)]);

describe("a turn", () => {
  it("writes the message before the engine sees it, and everything that the engine says", async () => {
    let before: string[] = [];
    const engine = scriptedEngine(async function* () {
      before = (await home.messages()).map(({ message }) => messageText(message));
      yield toolCall("c1", "looking");
      yield toolResult("c1", "a.txt");
      yield answer("one file");
    });
    await using home = await createTurnHome(engine);
    const result = await home.say("what is there?");
    expect(before).toEqual(["what is there?"]);
    expect(result).toMatchObject({ outcome: "answered", text: "looking\n\none file" });
    expect(result.payloads).toEqual([{ text: "looking" }, { text: "one file" }]);
    const lines = await home.messages();
    expect(lines.map(({ message, turnId }) => [message.role, turnId])).toEqual([
      ["user", "turn-1"],
      ["assistant", "turn-1"],
      ["toolResult", "turn-1"],
      ["assistant", "turn-1"],
    ]);
  });

  it("gives the engine its system prompt, the conversation and the workspace", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine);
    await home.say("hello");
    await home.fixture.agent.store.update(
      ADA_KEY,
      (entry) => entry && { ...entry, thinkingLevel: "high", modelOverride: "m", providerOverride: "p" },
    );
    await home.say("again");
    expect(engine.turns[1]).toMatchObject({
      kind: "message",
      text: "again",
      system: "You are a test.",
      model: "p/m",
      thinking: "high",
      workspace: home.fixture.agent.workspace,
    });
    expect(engine.turns[1]?.context.map(messageText)).toEqual(["hello", "re: hello", "again"]);
  });

  it("puts tokens, skills and the time of the answer into the entry with two updates", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine, { skills: [{ name: "weather" }] });
    await home.say("hello");
    let updates = 0;
    const { store } = home.fixture.agent;
    const update = store.update.bind(store);
    store.update = async (...given) => {
      updates += 1;
      return await update(...given);
    };
    await home.say("again");
    expect(updates).toBe(2);
    expect(await home.entry()).toMatchObject({
      inputTokens: 100,
      totalTokens: 100,
      model: "scripted",
      modelProvider: "test",
      skillsSnapshot: { version: 1, skills: [{ name: "weather" }] },
      abortedLastRun: false,
    });
  });

  it("is answered by the echo engine, which saves its memory before a reset too", async () => {
    await using home = await createTurnHome(createEchoEngine());
    expect((await home.say("hello")).text).toContain("hello");
    const before = await home.entry();
    const result = await home.say("/new again");
    expect(result).toMatchObject({ outcome: "answered", payloads: [{ text: expect.stringContaining("again") }] });
    const flush = (await home.messages(before)).filter(isFlushEntry);
    expect(flush.map(({ message }) => messageText(message)).at(-1)).toBe("NO_REPLY");
  });

  it("counts idle time from the answer, not from the question", async () => {
    const slow = scriptedEngine(function* () {
      home.fixture.clock.advance(50 * MINUTE);
      yield answer("done");
    });
    await using home = await createTurnHome(slow, {
      config: (config) => ({ ...config, session: { ...config.session, reset: { mode: "idle", idleMinutes: 60 } } }),
    });
    const first = await home.say("a long task");
    home.fixture.clock.advance(20 * MINUTE);
    expect((await home.say("thanks")).session.sessionId).toBe(first.session.sessionId);
  });

  it("runs the first turn of a window with the model that the reset named", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine, {
      config: (config) => ({ ...config, models: { "minimax/MiniMax-M2.1": {} } }),
    });
    const result = await home.say("/new minimax summarize");
    expect(engine.turns).toMatchObject([{ text: "summarize", model: "minimax/MiniMax-M2.1" }]);
    expect(result.model).toMatchObject({ provider: "minimax" });
  });

  it("handles a bare reset without the engine", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine, {
      config: (config) => ({ ...config, memory: { ...config.memory, flush: false } }),
    });
    const first = await home.say("hello");
    const reset = await home.say("/new");
    expect(reset).toMatchObject({ outcome: "command", text: "A new conversation has begun." });
    expect(reset.session.sessionId).not.toBe(first.session.sessionId);
    expect(engine.turns).toHaveLength(1);
  });
});

describe("the body of a turn", () => {
  it("joins messages that waited together, each with its sender, and keeps what people typed", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine);
    const bob = { ...group, SenderId: "2", SenderName: "Bob" };
    await home.say([
      { ...group, Body: "one" },
      { ...bob, Body: "two", MediaPaths: ["media/a.jpg"], MediaTypes: ["image/jpeg"] },
    ]);
    expect(engine.turns[0]?.text.replace(/^System: .*\n\n/, "")).toBe(
      "one\n[from: Ada (1)]\n\ntwo\n[media attached: media/a.jpg (image/jpeg)]\n[from: Bob (2)]",
    );
    const [question] = await home.messages();
    expect(question && saidText(question)).toBe("one\ntwo");
  });

  it("includes the group's history and events once", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine);
    const key = "agent:main:telegram:group:-100";
    await home.parts.agent.store.history.append(key, { sender: "Bob", body: "lunch?", messageId: "7" });
    await home.parts.agent.store.systemEvents.enqueueSystemEvent(key, "Model switched.");
    await home.say({ ...group, Body: "what did Bob say?" });
    await home.say({ ...group, Body: "and now?" });
    expect(engine.turns[0]?.text).toMatch(
      /^System: \[.*\] Model switched\.\nSystem: \[.*\] This is a group.*\n\n\[Chat messages since[^]*Bob: lunch\?[^]*what did Bob say\?/,
    );
    expect(engine.turns[1]?.text).toBe("and now?\n[from: Ada (1)]");
  });

  it("accepts a file without text, and ignores an empty message", async () => {
    const engine = friendly();
    await using home = await createTurnHome(engine);
    expect(await home.say({ Body: " " })).toMatchObject({ outcome: "silent", payloads: [] });
    await home.say({ Body: "", MediaPaths: ["media/a.ogg"] });
    expect(engine.turns.map(({ text }) => text)).toEqual(["[media attached: media/a.ogg]"]);
  });
});

describe("a reply", () => {
  it("is not delivered when it is silent or the send policy forbids it", async () => {
    await using home = await createTurnHome(scriptedEngine(({ text }) => [answer(text)]));
    expect(await home.say("NO_REPLY")).toMatchObject({ outcome: "silent", payloads: [] });
    await home.fixture.agent.store.update(ADA_KEY, (entry) => entry && { ...entry, sendPolicy: "deny" });
    expect(await home.say("hello")).toMatchObject({ outcome: "answered", payloads: [] });
  });

  it("comes after notices, without text that a tool sent", async () => {
    const engine = scriptedEngine(() => [
      { type: "notice", text: "A fresh session was started." },
      { type: "sent", text: "The report is ready." },
      answer("The report is ready."),
      answer("[[reply_to_current]] done"),
    ]);
    await using home = await createTurnHome(engine);
    const result = await home.say({ Body: "go", MessageSid: "42" });
    expect(result.payloads).toMatchObject([
      { text: "A fresh session was started." },
      { text: "done", replyToId: "42" },
    ]);
    expect(home.events).toContainEqual(
      expect.objectContaining({ type: "turn.notice", text: "A fresh session was started." }),
    );
  });
});

describe("an engine", () => {
  it("that fails reports the reason without secrets, also in the transcript", async () => {
    const engine = scriptedEngine(function* () {
      yield { type: "text", text: "I was about" };
      throw new HoldfastError(
        "unavailable",
        "model-server-failed",
        "test/m failed: key sk-ant-abcdefghijklmnopqrstuvwxyz",
        { hint: "Try again later." },
      );
    });
    await using home = await createTurnHome(engine);
    const result = await home.say("hello");
    expect(result).toMatchObject({ outcome: "failed", error: { code: "model-server-failed" } });
    expect(result.payloads).toEqual([
      { text: "I was about" },
      { text: expect.stringMatching(/^test\/m failed: key sk-ant-\[redacted\]\. Try again later\.$/), isError: true },
    ]);
    expect((await home.messages()).at(-1)?.message).toMatchObject({ role: "assistant", stopReason: "error" });
  });

  it("that has a defect shows no internals", async () => {
    const engine = scriptedEngine(() => {
      throw new TypeError("cannot read /home/ada/secret.txt");
    });
    await using home = await createTurnHome(engine);
    const result = await home.say("hello");
    expect(result.outcome).toBe("failed");
    expect(result.text).not.toContain("/home");
  });

  it("that is stopped keeps its text", async () => {
    const stop = new AbortController();
    const engine = scriptedEngine(async function* (_turn, signal) {
      yield { type: "text", text: "half a" };
      stop.abort();
      if (!signal.aborted) throw new Error("the signal did not get through");
    });
    await using home = await createTurnHome(engine);
    expect(await home.say("hello", { signal: stop.signal })).toMatchObject({ outcome: "aborted", payloads: [] });
    expect(await home.entry()).toMatchObject({ abortedLastRun: true });
    const last = (await home.messages()).at(-1)?.message;
    expect(last).toMatchObject({ role: "assistant", stopReason: "aborted", content: [{ text: "half a" }] });
    const next = await home.say("go on", { signal: new AbortController().signal });
    expect(next.session.abortedLastRun).toBe(true);
    expect((await home.entry()).abortedLastRun).toBe(false);
  });

  it("that hangs is given up in time", async () => {
    const engine = scriptedEngine(async function* (_turn, signal) {
      yield { type: "text", text: "thinking" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await using home = await createTurnHome(engine, {
      config: (config) => ({ ...config, turns: { ...config.turns, timeoutSeconds: 0.05 } }),
    });
    const result = await home.say("hello");
    expect(result).toMatchObject({ outcome: "failed", error: { code: "turn-timeout" } });
    expect(result.text).toContain("not answered within 0.05 s");
  });

  it("that says too much is stopped and reported", async () => {
    const engine = scriptedEngine(async function* (_turn, signal) {
      while (!signal.aborted) yield { type: "text", text: "spam ".repeat(20_000) };
    });
    await using home = await createTurnHome(engine);
    const result = await home.say("hello");
    expect(result).toMatchObject({ outcome: "failed", error: { code: "answer-too-long" } });
    expect(result.payloads).toHaveLength(1);
    const last = (await home.messages()).at(-1)?.message;
    expect(last && contentText(last.role === "assistant" ? last.content : "").length).toBeGreaterThan(900_000);
    // Pieces are emitted together.
    expect(home.events.filter(({ type }) => type === "turn.text").length).toBeLessThan(10);
  });

  it("that reports a session id gets it in the next turn", async () => {
    const engine = scriptedEngine(
      () => [
        { type: "session", id: "native-1" },
        { type: "compaction", phase: "start" },
        { type: "compaction", phase: "end" },
        answer("ok"),
      ],
      { keepsConversation: true },
    );
    await using home = await createTurnHome(engine);
    await home.say("hello");
    expect(await home.entry()).toMatchObject({ sdkSessionId: "native-1", compactionCount: 1 });
    await home.say("again");
    expect(engine.turns[1]?.engineSessionId).toBe("native-1");
    expect(home.events.filter(({ type }) => type === "turn.compaction")).toHaveLength(4);
  });

  it.each([
    [{ sdkSessionId: "sdk", claudeCliSessionId: "old", cliSessionIds: { "claude-cli": "cli" } }, "sdk"],
    [{ claudeCliSessionId: "old", cliSessionIds: { "claude-cli": "cli", "codex-cli": "codex" } }, "cli"],
    [{ claudeCliSessionId: "old", cliSessionIds: { "codex-cli": "codex" } }, "old"],
    [{ cliSessionIds: { "codex-cli": "codex" } }, undefined],
  ])("of Claude Code continues the session that OpenClaw has recorded: %o", async (recorded, expected) => {
    const script = () => [{ type: "session" as const, id: expected ?? "new" }, answer("ok")];
    for (const name of ["claude-code", "model"] as const) {
      const engine = scriptedEngine(script, { name });
      await using home = await createTurnHome(engine);
      const { store } = home.fixture.agent;
      await home.say("hello");
      await store.update(ADA_KEY, (entry) => entry && { ...entry, sdkSessionId: undefined, ...recorded });
      await home.say("again");
      const own = "sdkSessionId" in recorded ? "sdk" : undefined;
      expect(engine.turns[1]?.engineSessionId).toBe(name === "claude-code" ? expected : own);
      expect(await home.entry()).toMatchObject({ sdkSessionId: expected ?? "new" });
    }
  });
});
