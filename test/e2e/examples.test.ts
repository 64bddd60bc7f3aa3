/** The examples run unchanged, in a scratch home. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temp-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

function run(home: string, ...args: string[]): string {
  const env = { ...process.env, HOLDFAST_HOME: home, CLAUDE_CONFIG_DIR: `${home}/claude` };
  return execFileSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
}

it("01 keeps a conversation across a reset and back", async () => {
  await using home = await temporaryFolder();
  expect(run(home.path, "examples/01-keep-a-conversation.ts").split("\n")).toEqual([
    "hello: 1 messages in window (new)",
    "are you there?: 2 messages in window (same)",
    "/new let us talk about something else: 1 messages in window (new)",
    "where were we?: 3 messages in window (same)",
    "",
  ]);
});

it("02 reads an OpenClaw store in place", async () => {
  await using home = await temporaryFolder();
  await cp(`${root}test/fixtures/openclaw/v2026.1.30/after-rpc`, home.join("openclaw"), { recursive: true });
  const output = run(home.path, "examples/02-read-an-openclaw-store.ts", home.join("openclaw/sessions.json"));
  expect(output).toBe(
    "2 sessions\nagent:main:discord:channel:123  fake-1  1219 tokens\nagent:main:main  fake-1  0 tokens\n",
  );
});

it("03 answers once through a custom channel", async () => {
  await using home = await temporaryFolder();
  expect(run(home.path, "examples/03-a-channel-of-your-own.ts")).toBe(
    "to ada: [echo] message 1 of this window: hello\n",
  );
});

it("04 answers with an engine that the program registers", async () => {
  await using home = await temporaryFolder();
  await writeFile(home.join("config.json"), JSON.stringify({ agents: { main: { engine: "shout" } } }));
  expect(run(home.path, "examples/04-an-engine-of-your-own.ts")).toBe(
    "HELLO! (0 messages before)\nIS ANYBODY THERE?! (1 messages before)\n",
  );
});

it.each(["03-a-channel-of-your-own.ts", "04-an-engine-of-your-own.ts"])("%s has fewer than 60 lines", (name) => {
  expect(readFileSync(`${root}examples/${name}`, "utf8").split("\n").length).toBeLessThan(60);
});

/** The output of each recipe of docs/library.md, in order. */
const PRINTED = [
  /^\[echo\] message 1 of this window: hello\n$/,
  /^\d+\n$/,
  /^$/,
  /^nothing to hand off\n$/,
  /^0 sessions\nfresh: .+\n$/,
];
const recipes = readFileSync(`${root}docs/library.md`, "utf8").matchAll(/```ts\n(.+?)```/gs);

it.each(Array.from(recipes, ([, code = ""], index) => [index + 1, code] as const))(
  "recipe %i of docs/library.md runs",
  async (number, code) => {
    await using home = await temporaryFolder();
    await mkdir(home.join("node_modules"));
    await symlink(root, home.join("node_modules/holdfast"));
    await writeFile(home.join("recipe.ts"), code);
    expect(run(home.path, home.join("recipe.ts"))).toMatch(PRINTED[number - 1] ?? /^never$/);
  },
);
