/** /verbose, /reasoning and /usage do what they say, through a real gateway and a fake Telegram. */
import { expect, it } from "vitest";
import { createChatHome } from "../support/chat-home.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

it("shows tools while the turn runs, thinking before the answer, and usage below it", async () => {
  const clock = createHeldClock();
  await using home = await createChatHome({ gateway: { clock } });
  const { telegram } = home;
  telegram.say("tool:list_files .\nthink:nobody sees this\nsay:quiet");
  await home.hears(ADA.id, "quiet");
  expect(home.texts(ADA.id)).toEqual(["quiet"]);

  for (const command of ["/verbose on", "/reasoning on", "/usage full"]) telegram.say(command);
  await home.hears(ADA.id, "Usage line: full.");
  telegram.say(`tool:list_files .\n${HELD}\nthink:The folder has one file.\nsay:One file.`);
  await home.hears(ADA.id, "→ list_files .");
  expect(home.texts(ADA.id).join("\n")).not.toContain("One file.");
  clock.release();
  await home.hears(ADA.id, "One file.");
  expect(home.texts(ADA.id).slice(4)).toEqual([
    "→ list_files .",
    "Thinking:\n> The folder has one file.",
    expect.stringMatching(/^One file\.\n\nTokens: [\d,]+ in, \d+ out · holdfast\/echo$/),
  ]);

  telegram.say("say:NO_REPLY\nthink:hidden");
  for (const command of ["/verbose off", "/reasoning off", "/usage off"]) telegram.say(command);
  await home.hears(ADA.id, "Usage line: off.");
  telegram.say("tool:list_files .\nthink:hidden\nsay:plain");
  await home.hears(ADA.id, "plain");
  expect(home.texts(ADA.id).slice(-1)).toEqual(["plain"]);
  expect(home.texts(ADA.id).join("\n")).not.toContain("hidden");
});

it("shows a long answer while it grows, and in the end what the transcript has", async () => {
  await using home = await createChatHome();
  const { telegram } = home;
  const long = "A line of the answer that is long enough to be shown. ".repeat(2).trim();
  const other = "Another line. ".repeat(400).trim();
  telegram.say(`stream:${long}\nsleep:1700\nstream:${other}\nsleep:3500\nsay:The end.\nsay:MEDIA:./missing.png`);
  await home.hears(ADA.id, "A line of the answer");
  expect(telegram.shown(ADA.id)).toEqual([long]);
  await until(() => telegram.shown(ADA.id).length === 2, "a second block");
  await until(() => telegram.shown(ADA.id)[1]?.endsWith("The end.") === true, "the end");
  await home.hears(ADA.id, "missing.png");
  const [answer] = (await home.transcript("agent:main:telegram:dm:1001")).slice(-1);
  const shown = telegram.shown(ADA.id);
  expect(shown).toHaveLength(3);
  expect(words(shown.slice(0, 2).join(" "))).toBe(words(`${long} ${other} The end.`));
  expect(words(answer ?? "")).toContain(words(`${other} The end.`));
  expect(shown[2]).toContain("missing.png");

  // Silence at the end takes back what was shown.
  telegram.say(`stream:${long}\nsleep:1700\nsay:NO_REPLY`);
  await until(() => telegram.shown(ADA.id).length === 4, "a block");
  await until(() => telegram.shown(ADA.id).length === 3, "its removal");
});

function words(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

it("keeps settings of OpenClaw features, and says that they have no effect", async () => {
  await using home = await createChatHome();
  home.telegram.say("hello");
  await home.hears(ADA.id, "hello");
  const key = "agent:main:telegram:dm:1001";
  const patched = await home.rpc("sessions.patch", { key, elevatedLevel: "on", thinkingLevel: "low" });
  expect(patched).toMatchObject({
    entry: { elevatedLevel: "on" },
    notes: ["elevatedLevel is kept for OpenClaw and has no effect in Holdfast."],
  });
  expect(await home.rpc("sessions.patch", { key, thinkingLevel: "high" })).not.toHaveProperty("notes");
  home.telegram.say("again");
  await home.hears(ADA.id, "again");
  expect(await (await home.agent()).store.get(key)).toMatchObject({ elevatedLevel: "on" });
});
