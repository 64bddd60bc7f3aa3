/** Tools over sessions through a real gateway: who sees what, messages between sessions, and subagents. */
import { expect, it } from "vitest";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

const ADAS = "agent:main:telegram:dm:1001";
const BOBS = "agent:main:telegram:dm:1002";

async function askMain(home: ChatHome, message: string): Promise<string> {
  const { result } = (await home.rpc("agent", { message, idempotencyKey: message })) as {
    result: { payloads: { text: string }[] };
  };
  return result.payloads.map(({ text }) => text).join("\n");
}

it("shows a person only their own sessions, and the main session all", async () => {
  await using home = await createChatHome();
  const { telegram } = home;
  telegram.say("the launch code is heron", { from: BOB });
  await home.hears(BOB.id, "heron");
  telegram.say("tool:sessions_list");
  await home.hears(ADA.id, `"key": "${ADAS}"`);
  expect(home.texts(ADA.id).join("\n")).not.toContain(BOBS);

  // The same answer for a session of another person and for none at all.
  for (const [at, session] of [BOBS, "agent:main:main", "nothing", "agent:other:main"].entries()) {
    telegram.say(`tool:sessions_history ${session}`);
    telegram.say(`tool:session_status ${session}`);
    telegram.say(`tool:sessions_send {"session":"${session}","message":"say:hi"}`);
    await until(() => home.texts(ADA.id).length === 1 + 3 * (at + 1), "three answers");
    for (const text of home.texts(ADA.id).slice(-3)) {
      expect(text).toContain(`This conversation has no session "${session}"`);
      expect(text).not.toContain("heron");
    }
  }
  telegram.say("tool:sessions_history");
  await home.hears(ADA.id, '"role": "user"');
  telegram.say("tool:session_status");
  await home.hears(ADA.id, '"contextWindow"');
  telegram.say("tool:project_status ../..");
  await home.hears(ADA.id, /project_status:\n.*(?:not allowed|may not)/i);

  const listed = await askMain(home, "tool:sessions_list");
  expect(listed).toContain(ADAS);
  expect(listed).toContain(BOBS);
  expect(await askMain(home, `tool:sessions_history ${BOBS}`)).toContain("the launch code is heron");
});

it("sends a message to another session, which answers there and here", async () => {
  await using home = await createChatHome();
  home.telegram.say("hello");
  await home.hears(ADA.id, "hello");
  const asked = `tool:sessions_send {"session":"${ADAS}","message":"say:Dinner is ready."}`;
  const answer = await askMain(home, asked);
  expect(answer).toContain('"status": "answered"');
  expect(answer).toContain("Dinner is ready.");
  await home.hears(ADA.id, "Dinner is ready.");
  // A command in it is text, not a command.
  expect(await askMain(home, `tool:sessions_send {"session":"${ADAS}","message":"/new"}`)).toContain("/new");
  expect((await home.transcript(ADAS)).join("\n")).toContain("Message from your session agent:main:main");
  expect(await askMain(home, 'tool:sessions_send {"session":"main","message":"say:hi"}')).toContain("to itself");
});

it("runs a subagent, whose result comes back to the conversation once", async () => {
  await using home = await createChatHome();
  home.telegram.say('tool:sessions_spawn {"mode":"subagent","label":"Count","task":"say:There are 42 files."}');
  await home.hears(ADA.id, '"status": "accepted"');
  const { params } = await home.hears(ADA.id, /Your subagent "Count"/);
  expect(params["text"]).toContain("> There are 42 files.");
  const { store } = await home.agent();
  const [child] = (await store.list({ text: "subagent:" })).sessions;
  expect(child?.entry).toMatchObject({ spawnedBy: ADAS, displayName: "Count" });
  await until(async () => (await store.get(child?.key ?? ""))?.reportDue === undefined, "reported");

  home.telegram.say("tool:sessions_list");
  await home.hears(ADA.id, /sessions_list:[^]*"title": "Count"/);
  home.telegram.say("tool:sessions_list", { from: BOB });
  await home.hears(BOB.id, '"total": 1');
  home.telegram.say(`tool:sessions_history ${child?.key}`, { from: BOB });
  await home.hears(BOB.id, "This conversation has no session");
  home.telegram.say(`tool:sessions_send {"session":"${child?.key}","message":"say:Still 42."}`);
  await home.hears(ADA.id, '"reply": "Still 42."');
  await home.stop();
  // As if the process had died between the report and its mark.
  await store.update(child?.key ?? "", (entry) => entry && { ...entry, ...child?.entry, reportDue: true });
  await home.start();
  home.telegram.say("after the restart");
  await home.hears(ADA.id, "after the restart");
  await until(async () => (await store.get(child?.key ?? ""))?.reportDue === undefined, "reported");
  expect(home.texts(ADA.id).filter((text) => text.includes("Your subagent"))).toHaveLength(1);
});

function spawn(task: string): string {
  return `tool:sessions_spawn ${JSON.stringify({ mode: "subagent", label: "L", task })}`;
}

it("limits depth and number, and a chain of subagents reports upwards", async () => {
  const clock = createHeldClock();
  await using home = await createChatHome({
    config: (base) => ({ ...base, turns: { ...base.turns, subagents: { maxDepth: 2, maxActive: 2 } } }),
    gateway: { clock },
  });
  home.telegram.say(spawn(spawn(spawn("say:too deep"))));
  await home.hears(ADA.id, /Your subagent[^]*Your subagent[^]*would be deeper/);

  home.telegram.say([HELD, HELD, HELD].map(spawn).join("\n"), { from: BOB });
  const { params } = await home.hears(BOB.id, "2 subagents are working already");
  clock.release();
  expect(String(params["text"]).match(/"accepted"/g)).toHaveLength(2);
});

it("reports the result of a subagent that was running when the gateway stopped", async () => {
  const clock = createHeldClock();
  await using home = await createChatHome({
    config: (base) => ({ ...base, turns: { ...base.turns, drainSeconds: 0 } }),
    gateway: { clock },
  });
  home.telegram.say(spawn(`${HELD}\nsay:Done after all.`));
  await home.hears(ADA.id, '"status": "accepted"');
  await home.stop();
  expect(home.texts(ADA.id).join("\n")).not.toContain("> Done after all.");
  clock.release();
  await home.start();
  await home.hears(ADA.id, "> Done after all.");
});
