/** The examples run as they are, from a scratch home. */
import { execFileSync } from "node:child_process";
import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temp-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

function run(home: string, ...args: string[]): string {
  const env = { ...process.env, HOLDFAST_HOME: home };
  return execFileSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
}

it("01 keeps a conversation through a reset and back", async () => {
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

it("03 answers through a channel of its own, once", async () => {
  await using home = await temporaryFolder();
  expect(run(home.path, "examples/03-a-channel-of-your-own.ts")).toBe(
    "to ada: [echo] message 1 of this window: hello\n",
  );
});
