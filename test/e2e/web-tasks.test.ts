/** Tasks for Claude Code on the page, in a real browser with a real gateway and the real `claude`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { createTaskChat } from "../support/task-chat.ts";
import { browserOfFile, say } from "../support/web-home.ts";
import { until } from "../support/time.ts";

const KEY = "agent:main:web:dm:shop";
const browser = browserOfFile();

it("shows what a task does and asks, and the buttons answer it", async () => {
  await using chat = await createTaskChat({
    config: (config) => ({ ...config, channels: { telegram: {}, discord: {}, whatsapp: {} } }),
    claudeCode: { progressSeconds: 1 },
    started: false,
  });
  const { api, claude, home } = chat;
  const { tokenLink, url } = await home.start({ connected: false });
  api.script(
    toolUse("Bash", { command: "touch limit.ts && git add -A && git commit -qm 'Limit retries'" }),
    toolUse("Bash", { command: "git push --force origin main" }),
    text("Retries now stop after ten attempts. I did not push."),
  );
  await using tab = await browser.open();
  const { page, complaints } = tab;
  await page.goto(tokenLink);
  await page.goto(`${url}/#s=${encodeURIComponent(KEY)}`);
  await say(page, "/cc run in repo: make webhook retries give up after ten attempts");
  const tasks = page.getByRole("region", { name: "Tasks of Claude Code" });
  await tasks.getByText("make webhook retries give up").waitFor();
  // The conversation is new, so the command's answer came before its first window.
  await page
    .getByRole("log")
    .getByText(/is accepted\. Start fresh: /)
    .waitFor();
  await tasks.getByText("asks to use Bash: touch limit.ts").waitFor();
  // The request is now in the transcript, and shown once, before the answer.
  await page.getByRole("log").getByText("asks to use Bash: touch limit.ts").waitFor();
  const said = await page.getByRole("log").getByText("make webhook retries give up").allTextContents();
  expect(said).toHaveLength(1);
  await tasks.getByRole("button", { name: "Allow once" }).click();
  await tasks.getByText("asks to use Bash: git push").waitFor();
  // The buttons can be reached on a phone.
  await page.setViewportSize({ width: 390, height: 780 });
  await tasks.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("log").getByText("I did not push.").waitFor();
  await until(async () => (await tasks.count()) === 0, "no tasks");
  expect(existsSync(join(claude.repo, "limit.ts"))).toBe(true);
  expect(await page.getByRole("log").getByText("Limit retries").count()).toBeGreaterThan(0);

  api.script(toolUse("Bash", { command: "touch two" }));
  await say(page, "/cc run in repo: Wait for me");
  await tasks.getByText("asks to use Bash: touch two").waitFor();
  // A page that is opened later shows it too.
  await page.reload();
  await tasks.getByRole("button", { name: "Stop" }).click();
  await page
    .getByRole("log")
    .getByText(/Task \w+ was stopped/)
    .waitFor();
  expect(existsSync(join(claude.repo, "two"))).toBe(false);
  expect(complaints).toEqual([]);
}, 90_000);
