/** Open items are passed from window to window until they are finished. */
import { expect, it } from "vitest";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import type { SessionState, SummaryKind } from "./state.ts";

const RED = [
  "Please migrate the ledger to the new schema.",
  "<I'm on it.",
  "We decided to use Postgres for the ledger.",
  "I'm blocked: the broker refuses our certificate.",
];

async function leave(home: HandoffHome): Promise<SessionState | undefined> {
  return await home.handoff.capture({ kind: "session", sessionKey: KEY }, "new");
}

/** A window of work, whose hand-off a second window with these messages received. */
async function secondWindow(home: HandoffHome, said: readonly string[]): Promise<SessionState | undefined> {
  await home.open();
  await home.say(WORK);
  await leave(home);
  await home.next();
  const offer = await home.offer();
  if (offer !== undefined) await home.handoff.markOffered(offer);
  await home.say(said);
  return await leave(home);
}

function textsOf(state: SessionState | undefined, kind: SummaryKind): string[] {
  return (state?.items ?? []).filter((item) => item.kind === kind).map(({ text }) => text);
}

it("open items that are not mentioned reach the window after the next, with their origin", async () => {
  await using home = await createHandoffHome();
  const { sessionId } = await home.open();
  const ids = await home.say(WORK);
  await leave(home);
  await home.next();
  await home.say(["The deployment to staging is broken: the pods crash on start."]);
  const second = await leave(home);
  expect(textsOf(second, "blocker")).toHaveLength(2);
  await home.next();
  await home.say(["We decided to keep the old chart for staging."]);
  const third = await leave(home);
  expect(textsOf(third, "blocker")).toEqual(textsOf(second, "blocker"));
  const carried = third?.items.find(({ text }) => text.includes("webhook-retry"));
  expect(carried).toMatchObject({ kind: "blocker", sessionId, entryId: ids[3] });
  expect((await home.next(), await home.offer())?.text).toContain(`[${ids[3]} in window ${sessionId.slice(0, 8)}]`);
});

it.each(["yes, go on", "please continue", "Hi, let's go on where we left off", "go ahead then", "weiter bitte"])(
  "a window that only says %j inherits the previous items and passes them all on",
  async (words) => {
    await using home = await createHandoffHome();
    const state = await secondWindow(home, [words, "<Sure."]);
    expect(state).toMatchObject({ previousSessionId: (await home.entry()).sessionId, resumeOfferedAt: null });
    await home.next();
    expect((await home.offer())?.text).toContain("webhook-retry");
    expect(textsOf(state, "blocker")).toEqual([expect.stringContaining("webhook-retry")]);
    expect(textsOf(state, "decision")[0]).toContain("Redis");
    expect(textsOf(state, "next-step")).toEqual([expect.stringContaining("fix the Redis connection")]);
    expect(JSON.stringify(state?.items)).not.toContain(words);
  },
);

it.each(["hi", "thanks!", "Where were we?", "what is next?"])(
  "a window that only says %j leaves the items to the previous one",
  async (words) => {
    await using home = await createHandoffHome();
    const state = await secondWindow(home, [words, "<The Redis connection is next."]);
    expect(state?.previousSessionId).not.toBe((await home.entry()).sessionId);
    // Told a moment ago, it is not told again.
    await home.next();
    expect(await home.offer()).toBeUndefined();
  },
);

it("items finished in the next window are dropped, changed decisions are passed on", async () => {
  await using home = await createHandoffHome();
  const state = await secondWindow(home, [
    "<The integration test webhook-retry passes now: I fixed the Redis connection in CI.",
    "We decided to use Postgres for the queue after all, not Redis.",
  ]);
  expect(textsOf(state, "blocker")).toEqual([]);
  expect(textsOf(state, "decision")[0]).toContain("Postgres for the queue after all");
  expect(textsOf(state, "accomplishment")).toEqual([expect.stringContaining("webhook-retry passes")]);
});

it("cleared and expired items are not passed on", async () => {
  await using home = await createHandoffHome();
  await home.open();
  await home.say(WORK);
  await leave(home);
  await home.handoff.clear(KEY);
  await home.next();
  await home.say(["The deployment to staging is broken: the pods crash on start."]);
  expect(textsOf(await leave(home), "blocker")).toHaveLength(1);
  home.fixture.clock.advance(25 * 3_600_000);
  await home.next();
  await home.say(["We decided to keep the old chart for staging."]);
  const late = await leave(home);
  expect(textsOf(late, "blocker")).toEqual([]);
  expect(late).toMatchObject({ earlier: undefined });
});

it("captures in pieces and at once give the same result", async () => {
  const said = ["Please rename the queue to retries.", "<I renamed the queue.", "The linter still complains about it."];
  await using once = await createHandoffHome();
  await using often = await createHandoffHome();
  const whole = await secondWindow(once, said);
  await secondWindow(often, said.slice(0, 1));
  await often.say(said.slice(1, 2));
  await leave(often);
  await often.say(said.slice(2));
  const last = await leave(often);
  expect(last?.items.map(({ kind, text }) => [kind, text])).toEqual(whole?.items.map(({ kind, text }) => [kind, text]));
});

it.each([
  [
    "work",
    ["Please paint the landing page.", "<I painted the landing page.", "We decided to use blue for the buttons."],
  ],
  ["small talk", ["hi", "<Hello!"]],
])("open items of one project stay open while windows of another come and go with %s", async (_what, said) => {
  await using home = await createHandoffHome();
  await home.open(KEY, { project: "red" });
  await home.say(RED);
  for (let window = 0; window < 2; window++) {
    expect(await toldNext(home, "blue")).not.toContain("ledger");
    await home.say(said);
  }
  const text = await toldNext(home, "red");
  expect(text).toContain("migrate the ledger to the new schema");
  expect(text).toContain("use Postgres for the ledger");
  expect(text).toContain("the broker refuses our certificate");
  expect(text).not.toMatch(/landing page|buttons/);
});

it("a single request stays open in its project and never reaches another", async () => {
  await using home = await createHandoffHome();
  await home.open(KEY, { project: "red" });
  await home.say(["Can you tell me which port the ledger listens on?"]);
  for (let window = 0; window < 2; window++) {
    expect(await toldNext(home, "blue")).toBe("");
    await home.say(["hi", "<Hello!"]);
  }
  expect(await toldNext(home, "red")).toContain("which port the ledger listens on");
});

it("only its own project finishes an item, not another one", async () => {
  await using home = await createHandoffHome();
  await home.open(KEY, { project: "red" });
  await home.say(RED);
  await toldNext(home, "blue");
  await home.say(["<Done: the broker accepts our certificate now."]);
  expect(await toldNext(home, "red")).toContain("the broker refuses our certificate");
  await home.say(["<Done: the broker accepts our certificate now."]);
  await toldNext(home, "blue");
  await home.say(["We decided to use blue for the buttons."]);
  const text = await toldNext(home, "red");
  expect(text).not.toContain("the broker refuses our certificate");
  expect(text).toContain("use Postgres for the ledger");
});

/** The hand-off of the first message after `/new` and `/project`. */
async function toldNext(home: HandoffHome, project: string): Promise<string> {
  await leave(home);
  home.fixture.clock.advance(60_000);
  await home.next();
  await home.agent.store.update(KEY, (entry) => entry && { ...entry, project });
  return (await home.offer())?.text ?? "";
}
