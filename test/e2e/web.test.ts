/** The page in a real browser with a real gateway: signing in, hostile content, large amounts. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import {
  type TestTab,
  browserOfFile,
  composer,
  heading,
  row,
  signIn,
  spoken,
  transcript,
  type WebHome,
  createWebHome,
} from "../support/web-home.ts";
import { startFakeHoldfast } from "../support/fake-holdfast.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";

const TEAM = "agent:main:web:dm:team";

const browser = browserOfFile();

describe("signing in", () => {
  it("removes the token from the address, stays signed in, and contacts only the gateway", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries: [userDraft("hi")] }]);
    await using tab = await browser.open();
    const { page } = tab;
    const { url, token, tokenLink } = home.gateway;
    await page.goto(tokenLink);
    await row(page, "Team").waitFor();
    expect(page.url()).toBe(`${url}/`);
    await row(page, "Team").click();
    await page.reload();
    await heading(page, "Team").waitFor();
    // The token is neither in addresses nor in the history.
    await page.goBack();
    expect(page.url()).not.toContain(token);
    expect(tab.requests.join("\n")).not.toContain(token);
    expectOnlyTheGateway(tab, home);
    expect(tab.complaints).toEqual([]);
  });

  it("explains where to get the link, rejects a wrong token, and accepts a pasted link", async () => {
    await using home = await createWebHome();
    await using tab = await browser.open();
    const { page } = tab;
    await page.goto(home.gateway.url);
    await page.getByText("holdfast gateway link", { exact: true }).waitFor();
    const field = page.getByLabel("Link or token");
    await field.fill(`${home.gateway.url}/#token=wrong`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("Wrong token").waitFor();
    await field.fill(home.gateway.tokenLink);
    await field.press("Enter");
    await page.getByText("No conversations yet").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    await page.reload();
    await field.waitFor();
    expect(tab.requests.join("\n")).not.toContain(home.gateway.token);
  });
});

describe("another program on the port of an ended gateway", () => {
  it("does not get the token from an open page, and the page forgets the token", async () => {
    await using home = await createWebHome();
    await using tab = await browser.open();
    const { page } = tab;
    const { port, token, tokenLink } = home.gateway;
    await page.goto(tokenLink);
    await page.getByText("No conversations yet").waitFor();
    await home.stop();
    await using squatter = await startFakeHoldfast({ port });
    await page.getByRole("alert").getByText("Wrong token").waitFor();
    expect(squatter.heard.length).toBeGreaterThan(0);
    expect(squatter.heard.join("\n")).not.toContain(token);
    const kept = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
    expect(kept).not.toContain(token);
  });
});

describe("hostile content", () => {
  it("is shown as text", async () => {
    await using home = await createWebHome([
      { key: TEAM, label: '<img src=x onerror="hacked=1">', entries: hostileEntries() },
    ]);
    await using tab = await browser.open();
    const { page } = tab;
    await page.goto(home.gateway.tokenLink);
    await page.locator(".session-row").first().click();
    await transcript(page).getByText("the end of it").waitFor();
    for (const fold of await transcript(page).locator("summary").all()) await fold.click();
    expect(await page.evaluate("[typeof hacked, document.title]")).toEqual(["undefined", "Holdfast"]);
    expect(await transcript(page).getByText("<script>hacked=1</script>").count()).toBeGreaterThan(0);
    expect(await page.locator("#root script, #root iframe, #root object, #root svg a, #root img").count()).toBe(0);
    const links = (await page.evaluate(
      "[...document.querySelectorAll('#root a')].map(({ href, rel, target, textContent }) => ({ href, rel, target, textContent }))",
    )) as { href: string; rel: string; target: string; textContent: string }[];
    expect(links.map(({ href }) => href)).toEqual([
      "https://evil.example/",
      "https://evil.example/a",
      "https://evil.example/p.png",
    ]);
    expect(links[0]?.textContent).toBe("https://evil.example/");
    for (const link of links) expect(link).toMatchObject({ rel: "noopener noreferrer nofollow", target: "_blank" });
    expectOnlyTheGateway(tab, home);
    expect(tab.complaints).toEqual([]);
  });

  it("could send nothing even if it ran: the page's policy forbids it", async () => {
    let visits = 0;
    const other = createServer((_request, response) => {
      visits++;
      response.setHeader("Access-Control-Allow-Origin", "*").end("hello");
    }).listen(0, "127.0.0.1");
    await using home = await createWebHome();
    await using tab = await signIn(browser, home);
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const outcome = await tab.page.evaluate(`(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.hacked = 1";
      document.body.append(script);
      const image = new Image();
      const seen = new Promise((resolve) => { image.onload = () => resolve("loaded"); image.onerror = () => resolve("refused"); });
      image.src = "${address}";
      const fetched = await fetch("${address}").then(() => "loaded", () => "refused");
      return [fetched, await seen, typeof hacked];
    })()`);
    other.close();
    expect(outcome).toEqual(["refused", "refused", "undefined"]);
    expect(visits).toBe(0);
  });
});

describe("large amounts", () => {
  it("loads older messages without moving the view", async () => {
    const entries = Array.from({ length: 150 }, (_, index) =>
      index % 2 === 0 ? userDraft(`question ${index}.`) : assistantDraft(`answer ${index}. ${"word ".repeat(60)}`),
    );
    await using home = await createWebHome([{ key: TEAM, label: "Team", entries }]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    const shown = transcript(page).getByText("question 94.");
    await shown.waitFor();
    expect(await transcript(page).getByText("question 0.").count()).toBe(0);
    await shown.scrollIntoViewIfNeeded();
    await expect.poll(async () => await transcript(page).getByText("question 60.").count()).toBe(1);
    // Thirty messages were put above it, and it stays in sight.
    expect(await topOf(shown)).toBeGreaterThan(0);
    expect(await topOf(shown)).toBeLessThan(800);
    await transcript(page).press("Home");
    await expect.poll(async () => await transcript(page).getByText("question 0.").count()).toBe(1);
    // Some three thousand pixels came above it; the browser may still be scrolling.
    expect(Math.abs(await topOf(transcript(page).getByText("question 30.")))).toBeLessThan(900);
    expect(await spoken(page)).toHaveLength(150);
    await page.getByRole("button", { name: "Latest" }).click();
    await expect.poll(async () => await page.getByRole("button", { name: "Latest" }).count()).toBe(0);
  });

  it("pages through many sessions, finds one, and works by keyboard", async () => {
    const sessions = Array.from({ length: 130 }, (_, index) => ({
      key: `agent:main:telegram:dm:${index}`,
      label: `Person ${index}`,
    }));
    await using home = await createWebHome(sessions);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Person 129").waitFor();
    await page.getByText("100 of 130").scrollIntoViewIfNeeded();
    await row(page, "Person 0").waitFor();
    const field = page.getByRole("searchbox", { name: "Search sessions" });
    await field.fill("Person 77");
    await expect.poll(async () => await page.locator(".session-row").count()).toBe(1);
    await field.press("ArrowDown");
    await page.keyboard.press("Enter");
    await heading(page, "Person 77").waitFor();
    await field.press("Escape");
    await row(page, "Person 129").waitFor();
    await page.getByRole("combobox", { name: "Channel" }).selectOption("discord");
    await page.getByText("Nothing found.").waitFor();
  });

  it("fits a phone", async () => {
    await using home = await createWebHome([
      {
        key: TEAM,
        label: "Team",
        entries: [assistantDraft(`\`\`\`\n${"wide ".repeat(80)}\n\`\`\`\n${"x".repeat(300)}`)],
      },
    ]);
    await using tab = await signIn(browser, home, { viewport: { width: 360, height: 640 } });
    const { page } = tab;
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    await row(page, "Team").waitFor();
    expect(await page.evaluate(overflow)).toBe(0);
    await row(page, "Team").click();
    await composer(page).waitFor();
    expect(await page.getByRole("searchbox").isVisible()).toBe(false);
    expect(await page.evaluate(overflow)).toBe(0);
    await page.getByRole("button", { name: "Back to the sessions" }).click();
    await page.getByRole("searchbox").waitFor();
  });
});

async function topOf(element: Locator): Promise<number> {
  return (await element.boundingBox())?.y ?? Number.NaN;
}

function expectOnlyTheGateway({ requests }: TestTab, { gateway }: WebHome): void {
  const hosts = new Set(requests.map((request) => new URL(request).host));
  expect([...hosts]).toEqual([new URL(gateway.url).host]);
}

function hostileEntries(): DraftEntry[] {
  const tool = { type: "toolCall" as const, id: "t", name: "<b onclick=hacked=1>", arguments: { path: HTML } };
  return [
    userDraft(
      `${HTML}\n\n[click](javascript:hacked=1) [b](JaVaScRiPt:hacked=1) [c](data:text/html,<script>hacked=1</script>)`,
    ),
    assistantDraft(`# ${HTML}\n- ${HTML}\n> ${HTML}\n\n\`\`\`html\n${HTML}\n\`\`\`\n\n| ${HTML} |\n|---|\n| x |`),
    assistantDraft(
      "[bank.example](https://evil.example) and [here](https://evil.example/a) ![x](https://evil.example/p.png)",
    ),
    {
      type: "message",
      message: { role: "assistant", content: [tool], stopReason: "error", errorMessage: HTML, timestamp: 1 },
    },
    {
      type: "message",
      message: {
        role: "user",
        content: [{ type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" }],
        timestamp: 1,
      },
    },
    { type: "custom_message", customType: HTML, content: HTML, display: true },
    assistantDraft("the end of it"),
  ];
}

const HTML = `<script>hacked=1</script><img src=x onerror="hacked=1"><svg onload="hacked=1"><a href="javascript:hacked=1">x</a>`;
