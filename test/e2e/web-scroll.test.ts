/** What the transcript shows while messages are sent and received, in a real browser. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createHttpCaller } from "../../src/rpc/client.ts";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import {
  browserOfFile,
  answer,
  composer,
  row,
  say,
  signIn,
  transcript,
  type WebHome,
  createWebHome,
} from "../support/web-home.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";

const TEAM = "agent:main:web:dm:team";

/** Too low for the unfolded text. */
const LOW = { viewport: { width: 1200, height: 420 } };

const SOON = { timeout: 10_000 };

const browser = browserOfFile();

describe("a sent message", () => {
  it("is shown with its answer after a tool call was unfolded", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [...talk(20), command(80)] }]);
    await using tab = await signIn(browser, home, LOW);
    const { page } = tab;
    await row(page, "Team").click();
    await unfold(page);
    await page.getByText("line 1 of the output").waitFor();
    await expect.poll(async () => await latest(page).count()).toBe(1);
    await say(page, "can you see me?");
    await expect.poll(async () => await isInSight(page, answer(page, "can you see me?")), SOON).toBe(true);
    await expect
      .poll(
        async () => await isInSight(page, transcript(page).locator(".user").filter({ hasText: "can you see me?" })),
        SOON,
      )
      .toBe(true);
    await expect.poll(async () => await latest(page).count()).toBe(0);
  });

  it("is shown when sent from further up", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: talk(40) }]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    await scrollUp(page);
    await say(page, "I am at the end");
    await expect.poll(async () => await isInSight(page, answer(page, "I am at the end")), SOON).toBe(true);
    await expect
      .poll(
        async () => await isInSight(page, transcript(page).locator(".user").filter({ hasText: "I am at the end" })),
        SOON,
      )
      .toBe(true);
  });

  it("is shown while it waits for the gateway", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: talk(40) }]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    await scrollUp(page);
    await home.stop();
    await page.getByText("Cannot reach the gateway").waitFor();
    await say(page, "later, then");
    await expect
      .poll(async () => await isInSight(page, page.locator(".pending").filter({ hasText: "later, then" })), SOON)
      .toBe(true);
  });
});

describe("a message that arrives", () => {
  it("does not move a reader who scrolled up; a button announces and shows it", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: talk(40) }]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    await scrollUp(page);
    await latest(page).filter({ hasText: "Latest" }).waitFor();
    const before = await scrollTop(page);
    await sendFromElsewhere(home, "from a terminal");
    await latest(page).filter({ hasText: "New messages" }).waitFor();
    await answer(page, "from a terminal").waitFor({ state: "attached" });
    expect(await scrollTop(page)).toBe(before);
    await page.getByRole("button", { name: "New messages" }).click();
    await expect.poll(async () => await isInSight(page, answer(page, "from a terminal")), SOON).toBe(true);
    await expect.poll(async () => await latest(page).count()).toBe(0);
    // Back at the end, the next one is followed.
    await sendFromElsewhere(home, "and another");
    await expect.poll(async () => await isInSight(page, answer(page, "and another")), SOON).toBe(true);
  });

  it("is followed after something short was unfolded", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [...talk(20), command(5)] }]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    await unfold(page);
    await expect.poll(async () => await isInSight(page, page.getByText("line 1 of the output")), SOON).toBe(true);
    await expect.poll(async () => await distanceToEnd(page)).toBeLessThan(2);
    await sendFromElsewhere(home, "from a terminal");
    await expect.poll(async () => await isInSight(page, answer(page, "from a terminal")), SOON).toBe(true);
  });

  it("keeps an unfolded tool call in view", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [...talk(20), command(80)] }]);
    await using tab = await signIn(browser, home, LOW);
    const { page } = tab;
    await row(page, "Team").click();
    await unfold(page);
    await expect.poll(async () => await isInSight(page, page.locator("details.tool summary")), SOON).toBe(true);
    await sendFromElsewhere(home, "from a terminal");
    await page.getByRole("button", { name: "New messages" }).waitFor();
    await expect.poll(async () => await isInSight(page, page.locator("details.tool summary")), SOON).toBe(true);
    await page.getByRole("button", { name: "New messages" }).click();
    await expect.poll(async () => await isInSight(page, answer(page, "from a terminal")), SOON).toBe(true);
  });
});

function talk(count: number): DraftEntry[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? userDraft(`question ${index}.`) : assistantDraft(`answer ${index}. ${"word ".repeat(60)}`),
  );
}

function command(lines: number): DraftEntry {
  const output = Array.from({ length: lines }, (_, index) => `line ${index + 1} of the output`).join("\n");
  const message = { role: "bashExecution", command: "ls", output, exitCode: 0, cancelled: false, truncated: false };
  return { type: "message", message: { ...message, timestamp: 2 } } as DraftEntry;
}

async function unfold(page: Page): Promise<void> {
  await page.locator("details.tool summary").click();
}

async function scrollUp(page: Page): Promise<void> {
  await transcript(page).getByText("answer 39.").waitFor();
  await transcript(page).hover();
  await page.mouse.wheel(0, -1200);
  await latest(page).waitFor();
  // A wheel may scroll on for some frames.
  let before = Number.NaN;
  await expect.poll(async () => before === (before = await scrollTop(page)), { interval: 100 }).toBe(true);
}

function latest(page: Page): Locator {
  return page.locator("button.to-end");
}

async function scrollTop(page: Page): Promise<number> {
  return await transcript(page).evaluate((element) => element.scrollTop);
}

async function distanceToEnd(page: Page): Promise<number> {
  return await transcript(page).evaluate(
    ({ scrollHeight, scrollTop: top, clientHeight }) => scrollHeight - top - clientHeight,
  );
}

/** All of it, between the top of the transcript and the field below. */
async function isInSight(page: Page, element: Locator): Promise<boolean> {
  if ((await element.count()) === 0) return false;
  const [frame, box, field] = await Promise.all([
    transcript(page).boundingBox(),
    element.last().boundingBox(),
    composer(page).boundingBox(),
  ]);
  if (frame === null || box === null || field === null) return false;
  return box.y >= frame.y - 1 && box.y + box.height <= field.y + 1;
}

async function sendFromElsewhere({ gateway: { url, token } }: WebHome, message: string): Promise<void> {
  await createHttpCaller({ url, token }).call("chat.send", { sessionKey: TEAM, message, idempotencyKey: message });
}
