import { describe, expect, it } from "vitest";
import { createChatCommands } from "./chat-commands.ts";
import { createCommandHome } from "../../../test/support/command-home.ts";
import { compactNow } from "../run/compact.ts";

const GROUP = { Provider: "telegram", Surface: "telegram", From: "telegram:group:-100", ChatType: "group" };

describe("levels", () => {
  it("are set, shown and removed", async () => {
    await using home = await createCommandHome();
    await home.say("one");
    expect(await home.type("/think")).toContain("Thinking: model default.");
    expect(await home.type("/think HIGH")).toBe("Thinking: high.");
    expect(await home.entry()).toMatchObject({ thinkingLevel: "high" });
    expect(await home.type("/think")).toMatch(/^Thinking: high\.\n.*off\|minimal\|low\|medium\|high\|xhigh/);
    await home.type("/think default");
    expect(await home.entry()).not.toHaveProperty("thinkingLevel");

    expect(await home.type("/verbose on")).toBe("Verbose: on.");
    expect(await home.entry()).toMatchObject({ verboseLevel: "on" });
    expect(await home.type("/verbose off")).toBe("Verbose: off.");
    expect(await home.entry()).toMatchObject({ verboseLevel: "off" });
  });

  it("open a session when they come first", async () => {
    await using home = await createCommandHome();
    await home.type("/think low");
    const begun = await home.entry();
    expect(begun).toMatchObject({ thinkingLevel: "low" });
    expect((await home.say("one")).sessionId).toBe(begun?.sessionId);
  });

  it.each(["/think hgih", "/think constructor", "/think high low", "/verbose \u001b[2J"])("refuse %j", async (text) => {
    await using home = await createCommandHome();
    const before = await home.say("one");
    const answer = await home.type(text);
    expect(answer).toContain("does not know");
    expect(answer).not.toContain("\u001b");
    expect(await home.entry()).toEqual(before);
  });

  it("suggest the nearest word", async () => {
    await using home = await createCommandHome();
    expect(await home.type("/think hgih")).toContain("Did you mean /think high?");
  });
});

describe("answering", () => {
  it("is switched off, on, and reset to the configuration", async () => {
    const session = { sendPolicy: { default: "deny" as const } };
    await using home = await createCommandHome();
    Object.assign(home.parts.config, { session: { ...home.parts.config.session, ...session } });
    expect(await home.type("/send")).toContain("off (as configured)");
    expect(await home.type("/send on")).toBe("Answers here: on.");
    expect(await home.entry()).toMatchObject({ sendPolicy: "allow" });
    expect(await home.type("/send off")).toBe("Answers here: off.");
    expect(await home.entry()).toMatchObject({ sendPolicy: "deny" });
    expect(await home.type("/send inherit")).toBe("Answers here: off (as configured).");
    expect(await home.entry()).not.toHaveProperty("sendPolicy");
  });

  it("in a group is for mentions or for everything, and refused elsewhere", async () => {
    await using home = await createCommandHome();
    expect(await home.type("/activation always")).toContain("/activation is for groups.");
    expect(await home.entry()).toBeUndefined();
    expect(await home.type("/activation", { ctx: GROUP })).toContain("when I am mentioned");
    expect(await home.type("/activation always", { ctx: GROUP })).toContain("every message");
    expect(await home.entry()).toMatchObject({ groupActivation: "always", chatType: "group" });
  });
});

describe("/queue", () => {
  it("shows, changes, and resets the settings", async () => {
    await using home = await createCommandHome();
    expect(await home.type("/queue")).toContain("Queue: followup (each message waits for its turn). At most 20 wait;");
    expect(await home.type("/queue collect debounce:2s cap:10 drop:old")).toBe(
      "Queue: collect (messages are answered together after 2000 ms without a new one). At most 10 wait; then the oldest is dropped.",
    );
    const set = { queueMode: "collect", queueDebounceMs: 2000, queueCap: 10, queueDrop: "old" };
    expect(await home.entry()).toMatchObject(set);
    await home.type("/queue debounce=0");
    expect(await home.entry()).toMatchObject({ ...set, queueDebounceMs: 0 });
    await home.type("/queue default");
    for (const field of Object.keys(set)) expect(await home.entry()).not.toHaveProperty(field);
  });

  it.each([
    ["/queue colect", "Did you mean /queue collect?"],
    ["/queue cap:0", "cap: 1 to 1000 messages"],
    ["/queue steer debounce:9999999", "debounce: 0 to 600000 milliseconds"],
    ["/queue drop:all", "drop: old or new or summarize"],
    ["/queue constructor:1", "does not know"],
    ["/queue cap:1e3", "cap: 1 to 1000 messages"],
  ])("changes nothing when it does not understand all of %j", async (text, answer) => {
    await using home = await createCommandHome();
    const before = await home.say("one");
    expect(await home.type(text)).toContain(answer);
    expect(await home.entry()).toEqual(before);
  });
});

describe("/label", () => {
  it("sets and removes the label", async () => {
    await using home = await createCommandHome();
    expect(await home.type("/label garden")).toBe('This session is now called "garden".');
    expect(await home.entry()).toMatchObject({ label: "garden" });
    expect(await home.type("/label")).toBe("The label was removed.");
    expect(await home.entry()).not.toHaveProperty("label");
  });

  it("says why a label is refused", async () => {
    await using home = await createCommandHome();
    expect(await home.type(`/label ${"x".repeat(65)}`)).toContain("too long (max 64)");
    expect(await home.type("/label [[reply_to:1]][x](http://y)")).toBe(
      'This session is now called "[ [reply_to:1]][x] (http://y)".',
    );
  });
});

it("writes nothing once the lease is lost", async () => {
  await using home = await createCommandHome();
  await home.say("one");
  const { agent } = home;
  const held = await agent.store.leases.acquire("agent:main:cli:dm:ada", { ttlMs: 10 });
  home.clock.advance(60_000);
  if (!held.acquired) throw new Error("the session was taken");
  const another = await home.another();
  await another.store.leases.acquire("agent:main:cli:dm:ada", { ttlMs: 60_000 });

  const found = createChatCommands({ compact: compactNow }).find("/think high");
  const stale = { lease: held.lease, fence: async () => {}, signal: new AbortController().signal };
  const running = found?.command.run({
    parts: home.parts,
    sessionKey: "agent:main:cli:dm:ada",
    ctx: { CommandAuthorized: true },
    argument: found.argument,
    held: stale,
    lane: { stop: async () => ({ aborted: false, dropped: 0 }), state: () => ({ queued: 0 }) },
    signal: stale.signal,
  });
  await expect(running).rejects.toMatchObject({ kind: "fenced" });
  expect(await home.entry()).not.toHaveProperty("thinkingLevel");
});
