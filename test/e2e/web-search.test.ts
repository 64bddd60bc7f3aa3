/** The page's search field in a real browser: names and contents, marked words, opening a hit. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import { answer, prompt } from "../support/search-home.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";
import { browserOfFile, createWebHome, row, signIn, transcript } from "../support/web-home.ts";

const browser = browserOfFile();

const GARDEN = {
  key: "agent:main:web:dm:garden",
  label: "Garden",
  entries: [
    userDraft("The tomatoes go to the south side of the fence."),
    assistantDraft("Noted: tomatoes south, beans <img src=x onerror=hacked=1> north."),
    ...Array.from({ length: 40 }, (_, index) => userDraft(`Another thought, number ${index}.`)),
  ],
};
const FENCE = { key: "agent:main:web:dm:fence", label: "Fence repair", entries: [userDraft("Buy new posts.")] };
const NATIVE = "11111111-0000-4000-8000-000000000001";

it("finds names and contents, marks the words, and opens a chat at the passage", async () => {
  await using claude = await claudeHome();
  await using home = await createWebHome([GARDEN, FENCE], {}, { ...process.env, CLAUDE_CONFIG_DIR: claude.path });
  await using tab = await signIn(browser, home);
  const { page } = tab;
  await page.getByRole("searchbox").fill("fence");
  await row(page, "Fence repair").waitFor();
  await hit(page, "The tomatoes go to the south").waitFor();
  expect(await marks(hit(page, "The tomatoes go to the south"))).toEqual(["fence"]);

  await hit(page, "The tomatoes go to the south").click();
  await transcript(page).getByText("south side of the fence").waitFor();
  expect(page.url()).toContain("&e=");

  // Hostile text stays text, and the list comes back when the field is cleared.
  await page.getByRole("searchbox").fill("onerror");
  await page.locator(".passage mark").first().waitFor();
  expect(await page.locator("#root img").count()).toBe(0);
  await page.getByRole("searchbox").press("Escape");
  await row(page, "Garden").waitFor();
  expect(tab.complaints).toEqual([]);
});

it("shows how to open a Claude Code session, and says when nothing is found", async () => {
  await using claude = await claudeHome();
  await using home = await createWebHome([FENCE], {}, { ...process.env, CLAUDE_CONFIG_DIR: claude.path });
  await using tab = await signIn(browser, home, { viewport: { width: 390, height: 800 } });
  const { page } = tab;
  await page.getByRole("searchbox").fill("retry queue");
  const found = hit(page, "Lost jobs");
  await found.waitFor();
  expect(await found.locator(".row-preview").textContent()).toBe("Claude Code · shop · fix/queue");
  await found.click();
  await page.getByText(`holdfast cc show ${NATIVE}`, { exact: true }).waitFor();
  await page.getByRole("searchbox").fill("zebra");
  await page.getByText("Nothing found in messages").waitFor();
});

/** With one session, called "Lost jobs". */
async function claudeHome() {
  const folder = await temporaryFolder();
  const project = join(folder.path, "projects", projectFolderName("/work/shop"));
  const envelope = { gitBranch: "fix/queue" };
  const lines = [
    prompt("/work/shop", "the retry queue drops jobs", envelope),
    answer("/work/shop", "The worker acknowledged too early; retryQueue now waits for the commit.", envelope),
    { type: "ai-title", aiTitle: "Lost jobs" },
  ];
  await mkdir(project, { recursive: true });
  await writeFile(join(project, `${NATIVE}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return folder;
}

function hit(page: Page, title: string): Locator {
  return page.locator(".found .session-row").filter({ hasText: title });
}

async function marks(found: Locator): Promise<string[]> {
  return await found.locator("mark").allTextContents();
}
