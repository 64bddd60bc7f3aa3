/** Tasks for Claude Code from Discord, WhatsApp and a terminal: real gateway, real client libraries, real `claude`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startInTerminal } from "../support/cli.ts";
import { hang, text, toolUse } from "../support/fake-anthropic/reply.ts";
import { startFakeDiscord } from "../support/fake-discord/fake-discord.ts";
import { type FakeMessage, fakeUser } from "../support/fake-discord/objects.ts";
import { createFakeWhatsApp } from "../support/fake-whatsapp.ts";
import { createTaskChat } from "../support/task-chat.ts";
import { until } from "../support/time.ts";

const ada = fakeUser("1400000000000000001", "ada");
const bob = fakeUser("1400000000000000002", "bob");

interface Row {
  components: { label: string; custom_id: string }[];
}

/** The ids of a message's buttons, by label. */
function buttonsOf({ components }: FakeMessage): Record<string, string> {
  const rows = (components ?? []) as Row[];
  return Object.fromEntries(
    rows.flatMap((row) => row.components.map(({ label, custom_id: id }) => [label, id] as const)),
  );
}

it("Discord: buttons, edits, and presses of other people", async () => {
  await using discord = await startFakeDiscord();
  const { general, bot } = discord;
  await using chat = await createTaskChat({
    config: (config) => ({
      ...config,
      channels: {
        telegram: {},
        discord: { default: { apiRoot: discord.url, allowFrom: [ada.id, general.id] } },
        whatsapp: {},
      },
    }),
    env: { DISCORD_BOT_TOKEN: discord.token },
    started: false,
  });
  const { api, claude, home } = chat;
  await home.start({ connected: false });
  await until(() => home.statuses.includes("discord connected"), "connected");
  const said = (): FakeMessage[] => discord.messages(general.id).filter(({ author }) => author.id === bot.id);
  const hears = async (words: RegExp): Promise<FakeMessage> =>
    await until(
      () => said().find(({ content }) => words.test(content)),
      () => `${words}; there was ${JSON.stringify(said().map(({ content }) => content))}`,
    );
  api.script(toolUse("Bash", { command: "touch one" }), text("It is there."));
  discord.say(general.id, `<@${bot.id}> /cc run in repo: Create a file`, { author: ada, mentions: [bot] });
  const status = await hears(/^Task \w+: Create a file/);
  expect(Object.keys(buttonsOf(status))).toEqual(["Stop"]);
  const question = await hears(/asks to use Bash: touch one/);
  const allow = buttonsOf(question)["Allow once"] ?? "";
  expect(Object.keys(buttonsOf(question))).toEqual(["Allow once", "Allow for this task", "Deny"]);

  discord.press(question, allow, bob);
  await hears(/You may not use \/cc here/);
  expect(existsSync(join(claude.repo, "one"))).toBe(false);
  discord.press(question, allow, ada);
  const result = await hears(/^Task \w+ is done[\s\S]*It is there\./);
  expect(existsSync(join(claude.repo, "one"))).toBe(true);
  await until(() => /Ended: completed/.test(status.content), "the last edit");
  expect([buttonsOf(status), buttonsOf(question)]).toEqual([{}, {}]);
  expect(question.content).toMatch(/Allowed once\.$/);
  expect(discord.requests.filter(({ route }) => route.startsWith("POST /interactions/"))).toHaveLength(2);

  api.script(text("It has a test."));
  const reference = { message_id: result.id, channel_id: general.id };
  const reply = { type: 19, message_reference: reference, referenced_message: result };
  discord.say(general.id, "And a test", { author: ada, ...reply });
  await hears(/It has a test\./);
  expect(JSON.stringify(api.conversation.at(-1))).toContain("It is there.");
});

it("WhatsApp: a question lists its answers, a number answers it, and notes tell how far a task is", async () => {
  const whatsapp = await createFakeWhatsApp();
  const phone = "15551111@s.whatsapp.net";
  await using chat = await createTaskChat({
    config: (config) => ({
      ...config,
      channels: { telegram: {}, discord: {}, whatsapp: { default: { allowFrom: ["+15551111"] } } },
    }),
    gateway: { makeWhatsAppSocket: (config) => whatsapp.makeSocket(config) },
    claudeCode: { progressSeconds: 0.1 },
    started: false,
  });
  const { api, claude, home } = chat;
  await home.start({ connected: false });
  await until(() => whatsapp.made > 0, "a WhatsApp socket");
  whatsapp.open();
  await until(() => home.statuses.includes("whatsapp connected"), "connected");
  const say = (words: string): void => whatsapp.receive(whatsapp.message({ from: phone, text: words }));
  const texts = (): string[] => whatsapp.sent.map(({ content }) => ("text" in content ? content.text : ""));
  const hears = async (words: RegExp): Promise<string> =>
    await until(
      () => texts().find((said) => words.test(said)),
      () => `${words}; there was ${JSON.stringify(texts())}`,
    );
  api.script(
    toolUse("Bash", { command: "touch one" }),
    toolUse("Bash", { command: "touch two" }),
    text("One of them is there."),
  );
  say("/cc run in repo: Create two files");
  await hears(/^Task \w+ is accepted\. Start fresh/);
  const question = await hears(/asks to use Bash: touch one/);
  expect(question).toMatch(/\n1\. Allow once: \/cc allow \w+\n2\. Allow for this task: .*\n3\. Deny: \/cc deny \w+$/);
  say("1");
  await hears(/asks to use Bash: touch two/);
  say("3");
  await hears(/One of them is there\./);
  const result = whatsapp.sent.find(({ content }) => "text" in content && /One of them/.test(content.text));
  expect(["one", "two"].filter((name) => existsSync(join(claude.repo, name)))).toEqual(["one"]);
  // Without an open question a number is an ordinary message.
  say("1");
  await hears(/^\[echo\].*1$/);

  api.script(text("Now both are there."));
  const contextInfo = { stanzaId: result?.message.key.id ?? null, participant: "15550000@s.whatsapp.net" };
  const content = { extendedTextMessage: { text: "And the other?", contextInfo } };
  whatsapp.receive(whatsapp.message({ from: phone, content }));
  await hears(/Now both are there\./);
  expect(JSON.stringify(api.conversation.at(-1))).toContain("One of them is there.");

  // WhatsApp cannot edit messages.
  const before = texts().length;
  api.script(hang());
  say("/cc run in repo: Think for long");
  const words = /^Task \w+: \d+ s · 0 tools\n\/cc stop \w+ stops it\.$/;
  const isNote = (said: string): boolean => words.test(said);
  const note = await until(() => texts().slice(before).find(isNote), "a note");
  say(/\/cc stop \w+/.exec(note)?.[0] ?? "");
  await hears(/^Task \w+ was stopped \(/);
});

it("terminal: a task writes above the prompt, and words answer it", async () => {
  await using chat = await createTaskChat({
    config: (config) => ({ ...config, channels: { telegram: {}, discord: {}, whatsapp: {} } }),
    started: false,
  });
  const { api, claude, home } = chat;
  await home.start({ connected: false });
  api.script(toolUse("Bash", { command: "touch one" }), text("It is there."));
  using terminal = startInTerminal("chat", 100, { cwd: home.home, env: { HOLDFAST_HOME: home.home } });
  await terminal.shows("> ");
  terminal.type("/cc run in repo: Create a file\r");
  await terminal.shows("is accepted. Start fresh");
  await terminal.shows("asks to use Bash: touch one");
  await terminal.shows("1. Allow once: /cc allow ");
  await terminal.shows("> ");
  terminal.type("allow\r");
  await terminal.shows("Allowed once.");
  await terminal.shows("is done");
  await terminal.shows("It is there.");
  await terminal.shows("> ");
  api.script(toolUse("mcp__holdfast__openclaw_announce", { message: "Half of it works." }), text("All of it works."));
  terminal.type("/cc run in repo: Work\r");
  await terminal.shows("Half of it works.");
  await terminal.shows("All of it works.");
  await terminal.shows("> ");
  terminal.type("/quit\r");
  expect(await terminal.ended).toBe(0);
  expect(existsSync(join(claude.repo, "one"))).toBe(true);
});
