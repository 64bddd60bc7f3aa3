/** Runs the example of docs/hooks.md. */
import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { createHookHome } from "../../test/support/hook-home.ts";

it("runs as documented", async () => {
  await using home = await createHookHome();
  const page = await readFile(new URL("../../docs/hooks.md", import.meta.url), "utf8");
  const block = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(page)?.[1] ?? "";
  await home.add("home", "small-talk", { "HOOK.md": block("md"), "handler.ts": block("ts") });
  const sessionFile = home.folder.join("window.jsonl");
  await writeFile(sessionFile, '{"type":"session"}\n{"type":"message"}\n{"type":"message"}\n');
  const runner = await home.open({
    clock: { now: () => Date.UTC(2026, 10, 15, 12), sleep: async () => await Promise.resolve() },
  });
  expect(runner.list()).toMatchObject([{ name: "small-talk", state: "ready" }]);
  const request = { sessionKey: "agent:main:main", context: { sessionFile, bootstrapFiles: [] } };
  expect(await runner.fire("command:new", request)).toEqual({
    messages: ["That conversation had 2 entries."],
    bootstrapFiles: [],
    failures: [],
  });
  expect(await runner.fire("agent:bootstrap", request)).toEqual({
    messages: [],
    bootstrapFiles: [{ name: "TODAY.md", content: "It is Sunday." }],
    failures: [],
  });
});
