/** The hand-off on the page, in a real browser with a real gateway. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createHttpCaller } from "../../src/rpc/client.ts";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import {
  type TestBrowser,
  type TestTab,
  browserOfFile,
  say,
  type WebHome,
  createWebHome,
} from "../support/web-home.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";

const TEAM = "agent:main:web:dm:team";
const DECISION = "We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up.";
const BLOCKER = "I'm blocked: the integration tests fail on CI with connection refused to the database.";

const WORK: readonly DraftEntry[] = [
  userDraft("Please add idempotency keys to the webhook handler of the billing service."),
  assistantDraft("I am adding the column for the keys now."),
  userDraft(DECISION),
  assistantDraft("Noted."),
  userDraft("The build was broken: the linter fails on src/webhook.ts."),
  assistantDraft("I fixed the linter error in src/webhook.ts, the build is green again."),
];

/** More than two pages of small talk, which adds nothing to the hand-off. */
const TALK = Array.from({ length: 70 }, (_, index) => [
  userDraft(`hm ${index}`),
  assistantDraft(`yes ${index}`),
]).flat();

const browser = browserOfFile();

describe("the hand-off of a session", () => {
  it("is captured by a click, and its references lead to the messages", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [...WORK, ...TALK] }]);
    await using tab = await openSession(home);
    const { page } = tab;
    await page.getByRole("log").getByText("yes 69", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Hand-off", exact: true }).click();
    await button(page, "Capture now").click();
    await panel(page).getByText("It will be offered to the next window").waitFor();
    await panel(page).getByRole("status").getByText("Captured.").waitFor();
    expect(await line(page, "Decisions").allInnerTexts()).toEqual([expect.stringContaining(DECISION)]);
    await panel(page).locator("s", { hasText: "The build was broken" }).waitFor();

    // It is two pages further up, which are not loaded yet.
    expect(await page.getByRole("log").getByText(DECISION).count()).toBe(0);
    await line(page, "Decisions").getByRole("link").first().click();
    await expectShown(page, DECISION);
    expect(await page.locator(".revealed").innerText()).toContain(DECISION);
    // The same link again, after scrolling away.
    await page.getByRole("button", { name: "Latest" }).click();
    await line(page, "Decisions").getByRole("link").first().click();
    await expectShown(page, DECISION);
    // And in a new tab.
    const link = page.url();
    await page.reload();
    expect(page.url()).toBe(link);
    await expectShown(page, DECISION);
    expect(tab.complaints).toEqual([]);
  });

  it("is a folded note in the next window, and links to the previous window", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [...WORK, userDraft(BLOCKER)] }]);
    await using tab = await openSession(home);
    const { page } = tab;
    await page.getByRole("button", { name: "Hand-off", exact: true }).click();
    await say(page, "/new");
    await panel(page).getByText("It will be offered to the next window").waitFor();
    await say(page, "good morning");
    await page.getByRole("log").getByText("message 1 of this window: good morning").waitFor();
    await panel(page).getByText("Given to the agent").waitFor();

    const note = page.getByRole("log").locator("details", { hasText: "Hand-off from the previous window" });
    await note.waitFor();
    expect(await note.getAttribute("open")).toBeNull();
    const words = await page.getByRole("article", { name: "You" }).allInnerTexts();
    expect(words.map((text) => text.split("\n")[0])).toEqual(["/new", "good morning"]);
    await note.locator("summary").click();
    const told = await note.innerText();
    expect(told).toContain(BLOCKER);
    expect(told).not.toContain("<handoff");

    await line(page, "Decisions").getByRole("link").first().click();
    await page.getByText("Old window.").waitFor();
    await expectShown(page, DECISION);
    await page.getByRole("button", { name: "Back to the current window" }).click();
    await note.waitFor();
    expect(tab.complaints).toEqual([]);
  });

  it("updates on changes elsewhere, resumes and clears", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: WORK }]);
    await using tab = await openSession(home);
    const { page } = tab;
    const { call } = createHttpCaller(home.gateway);
    await page.getByRole("button", { name: "Hand-off", exact: true }).click();
    await line(page, "Decisions").waitFor();
    // It is cleared elsewhere, and a new decision is made.
    await call("handoff.clear", { sessionKey: TEAM });
    await panel(page).getByText("No hand-off yet.").waitFor();
    expect(await button(page, "Clear").isDisabled()).toBe(true);
    expect(await button(page, "Resume").isDisabled()).toBe(true);
    await call("agent", { sessionKey: TEAM, message: "We decided to ship the release on Friday." });
    await call("handoff.capture", { sessionKey: TEAM });
    await line(page, "Decisions").getByText("ship the release on Friday").waitFor();
    expect(await line(page, "Decisions").count()).toBe(1);
    await button(page, "Resume").click();
    await panel(page).getByRole("status").getByText("Your next message will include it").waitFor();
    expect(await button(page, "Resume").isDisabled()).toBe(true);
    await button(page, "Clear").click();
    await panel(page).getByText("No hand-off yet").waitFor();
    await panel(page).getByRole("status").getByText("Deleted.").waitFor();
    expect((await call("handoff.status", { sessionKey: TEAM })).handoff).toBeUndefined();
    await page.getByRole("button", { name: "Close the hand-off" }).click();
    expect(await panel(page).count()).toBe(0);
    expect(tab.complaints).toEqual([]);
  });

  it("covers a narrow page, and closes when a link is followed", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [...WORK, ...TALK] }]);
    await createHttpCaller(home.gateway).call("handoff.capture", { sessionKey: TEAM });
    await using tab = await openSession(home, { viewport: { width: 390, height: 780 } });
    const { page } = tab;
    await page.getByRole("button", { name: "Hand-off", exact: true }).click();
    await line(page, "Decisions").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await line(page, "Decisions").getByRole("link").first().click();
    await panel(page).waitFor({ state: "detached" });
    await expectShown(page, DECISION);
  });
});

async function openSession(home: WebHome, options: Parameters<TestBrowser["open"]>[0] = {}): Promise<TestTab> {
  const tab = await browser.open(options);
  await tab.page.goto(home.gateway.tokenLink);
  await tab.page.locator(".session-row").filter({ hasText: "Team" }).click();
  await tab.page.getByRole("heading", { name: "Team", level: 2 }).waitFor();
  return tab;
}

function panel(page: Page): Locator {
  return page.getByRole("complementary", { name: "Hand-off" });
}

function button(page: Page, name: string): Locator {
  return panel(page).getByRole("button", { name });
}

/** The lines under a heading. */
function line(page: Page, title: string): Locator {
  return panel(page)
    .locator("section", { has: page.getByRole("heading", { name: title }) })
    .getByRole("listitem");
}

async function expectShown(page: Page, text: string): Promise<void> {
  const entry = page.getByRole("log").getByText(text);
  await entry.waitFor();
  const height = page.viewportSize()?.height ?? 0;
  await expect
    .poll(async () => {
      const box = await entry.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= height;
    })
    .toBe(true);
}
