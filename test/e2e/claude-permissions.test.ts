/** Permission questions of a real Claude Code, answered by Holdfast for the person. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionAnswer, PermissionQuestion } from "../../src/claude/protocol/messages.ts";
import { toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { AT_ONCE, createProcessHome } from "../support/process-home.ts";

const touch = (file: string) => toolUse("Bash", { command: `touch ${file}`, description: `Create ${file}` });

test("allows once, then for the session, and denies with the person's words", AT_ONCE, async () => {
  await using home = await createProcessHome();
  const asked: PermissionQuestion[] = [];
  const answers: PermissionAnswer[] = [{ allow: "once" }, { allow: "session" }, { deny: "Not on a Friday." }];
  await using claude = home.start({
    onPermission: async (question) => {
      asked.push(question);
      return await Promise.resolve(answers[asked.length - 1] ?? { deny: "asked too often" });
    },
  });
  home.api.script(touch("one"), touch("two"), touch("two three"), touch("four"), text("done"));
  const turn = await claude.send("go");
  expect(turn.outcome).toBe("permission-denied");
  // The rule for the session covers the third command, which begins like the second.
  expect(asked.map(({ tool, description }) => [tool, description])).toEqual([
    ["Bash", "Create one"],
    ["Bash", "Create two"],
    ["Bash", "Create four"],
  ]);
  const names = ["one", "two", "three", "four"];
  expect(names.filter((name) => existsSync(join(home.home.repo, name)))).toEqual(["one", "two", "three"]);
  expect(home.api.conversation.flatMap(toolResults).at(-1)).toMatchObject({ text: "Not on a Friday.", isError: true });
  expect(existsSync(join(home.home.repo, ".claude", "settings.local.json"))).toBe(false);
});

test("a session rule for a tool without commands allows that tool only", AT_ONCE, async () => {
  await using home = await createProcessHome();
  const asked: string[] = [];
  await using claude = home.start({
    onPermission: async ({ tool }) => {
      asked.push(tool);
      return await Promise.resolve({ allow: "session" });
    },
  });
  const write = (name: string) => toolUse("Write", { file_path: join(home.home.repo, name), content: name });
  home.api.script(write("one"), write("two"), touch("three"), text("done"));
  expect((await claude.send("go")).outcome).toBe("completed");
  expect(asked).toEqual(["Write", "Bash"]);
});

test("an interrupt withdraws the question, and a failed answer denies", AT_ONCE, async () => {
  await using home = await createProcessHome();
  const withdrawn = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isFirst = true;
  await using claude = home.start({
    onPermission: async (_question, signal) => {
      if (!isFirst) throw new Error("The chat cannot be reached.");
      isFirst = false;
      asked.resolve();
      signal.addEventListener("abort", () => withdrawn.resolve());
      return await new Promise<never>(() => {});
    },
  });
  home.api.script(touch("one"));
  const turn = claude.send("go");
  await asked.promise;
  await claude.interrupt();
  await withdrawn.promise;
  expect((await turn).outcome).toBe("interrupted");
  home.api.script(touch("one"), text("done"));
  expect((await claude.send("again")).outcome).toBe("permission-denied");
  expect(home.api.conversation.flatMap(toolResults).at(-1)).toMatchObject({ text: "The chat cannot be reached." });
  expect(existsSync(join(home.home.repo, "one"))).toBe(false);
});
