import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createCommandHome } from "../../../test/support/command-home.ts";
import { createChatCommands } from "./chat-commands.ts";
import { compactNow } from "../run/compact.ts";

const commands = createChatCommands({ compact: compactNow });

describe("finding a command", () => {
  it.each([
    "hello",
    "/new",
    "/Reset now",
    "/usr/bin/env",
    "/quit",
    "a /status",
    "/",
    "//status",
    "/status.",
    "/ status",
  ])("leaves %j to others", (text) => {
    expect(commands.find(text)).toBeUndefined();
  });

  it.each([
    ["/status", "status", ""],
    [" /STATUS ", "status", ""],
    ["/label  my garden ", "label", "my garden"],
    ["/compact keep\nthe names", "compact", "keep\nthe names"],
    ["/status@HoldfastBot", "status", ""],
    ["/think@holdfastbot high", "think", "high"],
  ])("finds %j", (text, name, argument) => {
    const found = commands.find(text, "holdfastBot");
    expect({ name: found?.command.name, argument: found?.argument }).toEqual({ name, argument });
  });

  it("ignores commands for other agents", () => {
    expect(commands.find("/status@otherbot", "holdfastbot")).toBeUndefined();
    expect(commands.find("/status@otherbot")).toBeUndefined();
    expect(commands.answerMistyped("/staus@otherbot")).toBeUndefined();
  });

  it("has what the specification lists, each name once", () => {
    const names = commands.all.map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      "activation back cc compact handoff help label model project queue reasoning resume send status stop think usage verbose whoami windows".split(
        " ",
      ),
    );
    expect(commands.all.every(({ name, usage }) => usage.startsWith(`/${name}`))).toBe(true);
  });
});

describe("a mistyped word", () => {
  it("gets a suggestion", () => {
    expect(commands.answerMistyped("/staus")).toBe("There is no /staus. Did you mean /status?");
  });

  it.each(["/nwe", "/rest", "/stp", "/comapct", "/lable", "/resum"])(
    "%j, which is almost a command that changes something, is answered with the list",
    (text) => {
      expect(commands.answerMistyped(text)).toBe(`There is no ${text}. /help shows the commands.`);
    },
  );

  it.each(["/new", "/quit", "/status", "/staus of things", "/etc", "staus", "/completely-else"])(
    "%j gets none",
    (text) => {
      expect(commands.answerMistyped(text)).toBeUndefined();
    },
  );
});

describe("who may give commands", () => {
  const stranger = { CommandAuthorized: false, SenderId: "1001", Provider: "telegram", Surface: "telegram" };

  it("refuses strangers everything but help and their own id, and changes nothing", async () => {
    await using home = await createCommandHome();
    const before = await home.say("one");
    const refused: string[] = [];
    for (const { name } of commands.all) {
      const answer = await home.type(`/${name} off`, { ctx: stranger });
      if (answer?.startsWith(`You may not use /${name} here.`) === true) refused.push(name);
    }
    const others = commands.all.map(({ name }) => name).filter((name) => !refused.includes(name));
    expect(others).toEqual(["whoami", "help"]);
    expect(await home.entry()).toEqual(before);
  });

  it("shows the commands that the person may use", async () => {
    await using home = await createCommandHome();
    expect(await home.type("/help", { ctx: stranger })).toBe(
      "/whoami – your id here, for allow lists\n/help – this list",
    );
    const help = (await home.type("/help", { ctx: { Surface: "telegram" } })) ?? "";
    expect(help).toContain("/new [model] [text] – start a new window; the old one stays\n/reset – the same as /new\n");
    for (const { usage, summary } of commands.all) expect(help).toContain(`${usage} – ${summary}`);
  });

  it("aligns columns in a terminal", async () => {
    await using home = await createCommandHome();
    const lines = ((await home.type("/help")) ?? "").split("\n");
    const starts = commands.all.map(({ summary }) => lines.find((line) => line.endsWith(summary))?.indexOf(summary));
    expect(new Set(starts).size).toBe(1);
    expect(starts[0]).toBeGreaterThan(0);
  });

  it("shows the sender's id, with names made safe", async () => {
    await using home = await createCommandHome();
    const ctx = { ...stranger, From: "telegram:group:-100", ChatType: "group", SenderName: "\u001b[31mEve\n<@1>" };
    expect(await home.type("/whoami", { ctx })).toBe(
      "id: 1001\nname: \\u001b[31mEve < @1>\nchannel: telegram\ngroup: -100\ncommands: not allowed",
    );
  });
});

it("docs/chat-commands.md has the current table", () => {
  const page = readFileSync(new URL("../../../docs/chat-commands.md", import.meta.url), "utf8");
  const rows = page
    .split("\n")
    .filter((line) => line.startsWith("| `/"))
    .map((line) =>
      line
        .replaceAll("\\|", "¦")
        .split("|")
        .slice(1, 4)
        .map((cell) => cell.trim().replaceAll("¦", "|")),
    );
  const expected = commands.all.map(({ usage, summary, when }) => [
    `\`${usage}\``,
    summary,
    when === "now" ? "at once" : "in order",
  ]);
  expect(rows.filter(([usage]) => !/^`\/(new|reset)/.test(usage ?? ""))).toEqual(expected);
});
