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

async function leave(stage: HandoffHome): Promise<SessionState | undefined> {
  return await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "new");
}

/** A window of work, whose hand-off a second window with these messages received. */
async function secondWindow(stage: HandoffHome, said: readonly string[]): Promise<SessionState | undefined> {
  await stage.open();
  await stage.say(WORK);
  await leave(stage);
  await stage.next();
  const offer = await stage.offer();
  if (offer !== undefined) await stage.handoff.markOffered(offer);
  await stage.say(said);
  return await leave(stage);
}

function textsOf(state: SessionState | undefined, kind: SummaryKind): string[] {
  return (state?.items ?? []).filter((item) => item.kind === kind).map(({ text }) => text);
}

it("open items that are not mentioned reach the window after the next, with their origin", async () => {
  await using stage = await createHandoffHome();
  const { sessionId } = await stage.open();
  const ids = await stage.say(WORK);
  await leave(stage);
  await stage.next();
  await stage.say(["The deployment to staging is broken: the pods crash on start."]);
  const second = await leave(stage);
  expect(textsOf(second, "blocker")).toHaveLength(2);
  await stage.next();
  await stage.say(["We decided to keep the old chart for staging."]);
  const third = await leave(stage);
  expect(textsOf(third, "blocker")).toEqual(textsOf(second, "blocker"));
  const carried = third?.items.find(({ text }) => text.includes("webhook-retry"));
  expect(carried).toMatchObject({ kind: "blocker", sessionId, entryId: ids[3] });
  expect((await stage.next(), await stage.offer())?.text).toContain(`[${ids[3]} in window ${sessionId.slice(0, 8)}]`);
});

it.each(["yes, go on", "please continue", "Hi, let's go on where we left off", "go ahead then", "weiter bitte"])(
  "a window that only says %j inherits the previous items and passes them all on",
  async (words) => {
    await using stage = await createHandoffHome();
    const state = await secondWindow(stage, [words, "<Sure."]);
    expect(state).toMatchObject({ previousSessionId: (await stage.entry()).sessionId, resumeOfferedAt: null });
    await stage.next();
    expect((await stage.offer())?.text).toContain("webhook-retry");
    expect(textsOf(state, "blocker")).toEqual([expect.stringContaining("webhook-retry")]);
    expect(textsOf(state, "decision")[0]).toContain("Redis");
    expect(textsOf(state, "next-step")).toEqual([expect.stringContaining("fix the Redis connection")]);
    expect(JSON.stringify(state?.items)).not.toContain(words);
  },
);

it.each(["hi", "thanks!", "Where were we?", "what is next?"])(
  "a window that only says %j leaves the items to the previous one",
  async (words) => {
    await using stage = await createHandoffHome();
    const state = await secondWindow(stage, [words, "<The Redis connection is next."]);
    expect(state?.previousSessionId).not.toBe((await stage.entry()).sessionId);
    // Told a moment ago, it is not told again.
    await stage.next();
    expect(await stage.offer()).toBeUndefined();
  },
);

it("items finished in the next window are dropped, changed decisions are passed on", async () => {
  await using stage = await createHandoffHome();
  const state = await secondWindow(stage, [
    "<The integration test webhook-retry passes now: I fixed the Redis connection in CI.",
    "We decided to use Postgres for the queue after all, not Redis.",
  ]);
  expect(textsOf(state, "blocker")).toEqual([]);
  expect(textsOf(state, "decision")[0]).toContain("Postgres for the queue after all");
  expect(textsOf(state, "accomplishment")).toEqual([expect.stringContaining("webhook-retry passes")]);
});

it("cleared and expired items are not passed on", async () => {
  await using stage = await createHandoffHome();
  await stage.open();
  await stage.say(WORK);
  await leave(stage);
  await stage.handoff.clear(KEY);
  await stage.next();
  await stage.say(["The deployment to staging is broken: the pods crash on start."]);
  expect(textsOf(await leave(stage), "blocker")).toHaveLength(1);
  stage.fixture.clock.advance(25 * 3_600_000);
  await stage.next();
  await stage.say(["We decided to keep the old chart for staging."]);
  const late = await leave(stage);
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
  await using stage = await createHandoffHome();
  await stage.open(KEY, { project: "red" });
  await stage.say(RED);
  for (let window = 0; window < 2; window++) {
    expect(await toldNext(stage, "blue")).not.toContain("ledger");
    await stage.say(said);
  }
  const text = await toldNext(stage, "red");
  expect(text).toContain("migrate the ledger to the new schema");
  expect(text).toContain("use Postgres for the ledger");
  expect(text).toContain("the broker refuses our certificate");
  expect(text).not.toMatch(/landing page|buttons/);
});

it("a single request stays open in its project and never reaches another", async () => {
  await using stage = await createHandoffHome();
  await stage.open(KEY, { project: "red" });
  await stage.say(["Can you tell me which port the ledger listens on?"]);
  for (let window = 0; window < 2; window++) {
    expect(await toldNext(stage, "blue")).toBe("");
    await stage.say(["hi", "<Hello!"]);
  }
  expect(await toldNext(stage, "red")).toContain("which port the ledger listens on");
});

it("only its own project finishes an item, not another one", async () => {
  await using stage = await createHandoffHome();
  await stage.open(KEY, { project: "red" });
  await stage.say(RED);
  await toldNext(stage, "blue");
  await stage.say(["<Done: the broker accepts our certificate now."]);
  expect(await toldNext(stage, "red")).toContain("the broker refuses our certificate");
  await stage.say(["<Done: the broker accepts our certificate now."]);
  await toldNext(stage, "blue");
  await stage.say(["We decided to use blue for the buttons."]);
  const text = await toldNext(stage, "red");
  expect(text).not.toContain("the broker refuses our certificate");
  expect(text).toContain("use Postgres for the ledger");
});

/** The hand-off of the first message after `/new` and `/project`. */
async function toldNext(stage: HandoffHome, project: string): Promise<string> {
  await leave(stage);
  stage.fixture.clock.advance(60_000);
  await stage.next();
  await stage.agent.store.update(KEY, (entry) => entry && { ...entry, project });
  return (await stage.offer())?.text ?? "";
}
