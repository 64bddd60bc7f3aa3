/** An agent recalls what was said in earlier windows of the conversation that asks, and of no other. */
import { expect, it } from "vitest";
import { runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

async function say(home: string, session: string, ...lines: string[]): Promise<string> {
  const input = `${lines.join("\n")}\n`;
  const { stdout, stderr, code } = await runCliShared(["chat", "--local", "--session", `agent:main:${session}`], {
    home,
    input,
  });
  expect(code, stderr).toBe(0);
  return stdout;
}

it("finds the sentence and its window, and /back takes the reference", async () => {
  await using home = await temporaryFolder();
  await say(home.path, "ada", "we decided that the keys rotate every Monday", "/new", "what is for lunch");
  const answer = await say(home.path, "ada", "tool:memory_search keys");
  expect(answer).toContain("we decided that the **keys** rotate every Monday");
  expect(answer).toContain('"source": "window"');
  const command = /"command": "(\/back [0-9a-f]{8})"/.exec(answer)?.[1];
  expect(command).toBeDefined();
  expect(await say(home.path, "ada", command ?? "")).toContain("Back in window");
  expect(await say(home.path, "ada", "/windows")).toMatch(/we decided that the keys.*open/);
});

it("never shows one person what another said", async () => {
  await using home = await temporaryFolder();
  await say(home.path, "ada", "the keys rotate every Monday", "/new", "bye");
  await say(home.path, "bob", "hello", "/new", "hello again");
  for (const query of ["keys", "Monday", "eys", "kyes", '"the keys"', "agent:main:ada"]) {
    const answer = await say(home.path, "bob", `tool:memory_search ${query}`);
    expect(answer, query).not.toContain("rotate");
    expect(answer, query).toContain("memory_search:");
    expect(answer, query).not.toContain('"source": "window"');
  }
});
