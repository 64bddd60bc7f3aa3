/** The page in a real browser, served by a real gateway. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpCaller } from "../../src/rpc/client.ts";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { type TestBrowser, type TestTab, startBrowser } from "../support/browser.ts";
import { startFakeModelStream } from "../support/fake-model-stream/fake-model-stream.ts";
import { says, uses } from "../support/fake-model-stream/stream-reply.ts";
import { startPortSquatter } from "../support/port-squatter.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";
import { type WebStage, createWebStage } from "../support/web-stage.ts";

const TEAM = "agent:main:web:dm:team";

let browser: TestBrowser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
});

describe("signing in", () => {
  it("takes the token out of the address, stays signed in, and asks nobody but the gateway", async () => {
    await using stage = await createWebStage([{ key: TEAM, label: "Team", entries: [userDraft("hi")] }]);
    await using tab = await browser.open();
    const { page } = tab;
    const { url, token, tokenLink } = stage.gateway;
    await page.goto(tokenLink);
    await row(page, "Team").waitFor();
    expect(page.url()).toBe(`${url}/`);
    await row(page, "Team").click();
    await page.reload();
    await heading(page, "Team").waitFor();
    // Nothing that the browser could show or send on: neither addresses nor the history.
    await page.goBack();
    expect(page.url()).not.toContain(token);
    expect(tab.requests.join("\n")).not.toContain(token);
    expectOnlyTheGateway(tab, stage);
    expect(tab.complaints).toEqual([]);
  });

  it("explains where the link comes from, refuses a wrong token, and takes a pasted link", async () => {
    await using stage = await createWebStage();
    await using tab = await browser.open();
    const { page } = tab;
    await page.goto(stage.gateway.url);
    await page.getByText("holdfast gateway link", { exact: true }).waitFor();
    const field = page.getByLabel("Link or token");
    await field.fill(`${stage.gateway.url}/#token=wrong`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("does not know this token").waitFor();
    await field.fill(stage.gateway.tokenLink);
    await field.press("Enter");
    await page.getByText("No conversations yet").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    await page.reload();
    await field.waitFor();
    expect(tab.requests.join("\n")).not.toContain(stage.gateway.token);
  });
});

describe("another program on the port of a gateway that ended", () => {
  it("is not told the token by a page that is open, and the page forgets it", async () => {
    await using stage = await createWebStage();
    await using tab = await browser.open();
    const { page } = tab;
    const { port, token, tokenLink } = stage.gateway;
    await page.goto(tokenLink);
    await page.getByText("No conversations yet").waitFor();
    await stage.stop();
    await using squatter = await startPortSquatter({ port });
    await page.getByRole("alert").getByText("does not know this token").waitFor();
    expect(squatter.heard.length).toBeGreaterThan(0);
    expect(squatter.heard.join("\n")).not.toContain(token);
    const kept = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
    expect(kept).not.toContain(token);
  });
});

describe("talking", () => {
  it("sends with Enter, shows each message once, and loses nothing on a reload", async () => {
    await using stage = await createWebStage();
    await using tab = await signIn(stage);
    const { page } = tab;
    await page.getByRole("button", { name: "New conversation" }).click();
    await composer(page).pressSequentially("first line");
    await composer(page).press("Shift+Enter");
    await composer(page).pressSequentially("second line");
    await composer(page).press("Enter");
    await answer(page, "message 1 of this window: first line second line").waitFor();
    await say(page, "once more");
    await answer(page, "message 2 of this window: once more").waitFor();
    await composer(page).fill("not sent yet");
    await page.reload();
    await answer(page, "message 2 of this window: once more").waitFor();
    expect(await composer(page).inputValue()).toBe("not sent yet");
    expect(await spoken(page)).toEqual([
      "first line second line",
      "[echo] message 1 of this window: first line second line",
      "once more",
      "[echo] message 2 of this window: once more",
    ]);
    await row(page, "first line second line").waitFor();
  });

  it("shows words as they come and stops with Escape", async () => {
    await using model = await startFakeModelStream(
      says(WORDS, { breaks: { after: 8, with: "silence" } }),
      says("It goes on."),
    );
    await using stage = await createWebStage([{ key: TEAM, label: "Team" }], modelConfig(model.url));
    await using tab = await signIn(stage);
    const { page } = tab;
    await row(page, "Team").click();
    await say(page, "Count, please");
    await page.locator(".live").getByText("one two").waitFor();
    await page.getByRole("button", { name: "Stop the answer" }).waitFor();
    await row(page, "Team").getByRole("img", { name: "Answering" }).waitFor();
    await say(page, "And then?");
    await page.getByText("Queued").waitFor();
    await page.keyboard.press("Escape");
    await transcript(page).getByText("Stopped", { exact: true }).first().waitFor();
    await answer(page, "It goes on.").waitFor();
    expect(model.requests[0]?.gone.aborted).toBe(true);
    const [asked, begun = "", ...rest] = await spoken(page);
    expect([asked, ...rest]).toEqual(["Count, please", "And then?", "It goes on."]);
    expect(WORDS.startsWith(begun.trim())).toBe(true);
  });

  it("folds tool calls, and shows a failure where it happened", async () => {
    await using model = await startFakeModelStream(uses("list_files", { path: "." }, "I look."), says("That is all."), {
      status: 400,
      body: JSON.stringify({ error: { message: "no such model" } }),
    });
    await using stage = await createWebStage([{ key: TEAM, label: "Team" }], modelConfig(model.url));
    await using tab = await signIn(stage);
    const { page } = tab;
    await row(page, "Team").click();
    await say(page, "What is there?");
    await answer(page, "That is all.").waitFor();
    const call = transcript(page).locator("details.tool");
    await call.waitFor();
    expect(await call.locator("pre").first().isVisible()).toBe(false);
    await call.locator("summary").click();
    await call.getByText('"path": "."').waitFor();
    await say(page, "And now?");
    await page.locator(".error-box").waitFor();
    expect(await page.locator(".error-box").count()).toBe(1);
  });

  it("opens a new window with /new and reads the old one, where nothing can be said", async () => {
    await using stage = await createWebStage([
      { key: TEAM, label: "Team", entries: [userDraft("When do we ship?"), assistantDraft("On Thursday.")] },
    ]);
    await using tab = await signIn(stage);
    const { page } = tab;
    await row(page, "Team").click();
    await transcript(page).getByText("On Thursday.").waitFor();
    await say(page, "/new");
    await transcript(page).getByText("A new conversation has begun").waitFor();
    expect(await transcript(page).getByText("On Thursday.").count()).toBe(0);
    await say(page, "/status");
    await transcript(page).getByText("engine: echo").waitFor();
    await say(page, "hello");
    await answer(page, "message 1 of this window: hello").waitFor();
    await page.getByRole("button", { name: "Windows of this session: 2" }).click();
    await page.getByRole("button", { name: "When do we ship?" }).click();
    await page.getByText("Old window.").waitFor();
    await transcript(page).getByText("On Thursday.").waitFor();
    expect(await composer(page).count()).toBe(0);
    await page.reload();
    await transcript(page).getByText("On Thursday.").waitFor();
    await page.getByRole("button", { name: "Back to the current window" }).click();
    await answer(page, "message 1 of this window: hello").waitFor();
  });

  it("shows what comes from elsewhere, and marks it unread where it is not looked at", async () => {
    await using stage = await createWebStage([
      { key: TEAM, label: "Team" },
      { key: "agent:main:telegram:dm:7", label: "Ana" },
    ]);
    await using tab = await signIn(stage);
    const { page } = tab;
    await row(page, "Team").click();
    await composer(page).waitFor();
    const { url, token } = stage.gateway;
    const elsewhere = createHttpCaller({ url, token });
    const send = async (sessionKey: string, message: string): Promise<void> => {
      await elsewhere.call("chat.send", { sessionKey, message, idempotencyKey: message });
    };
    await send(TEAM, "from a terminal");
    await answer(page, "from a terminal").waitFor();
    await send("agent:main:telegram:dm:7", "from Telegram");
    await row(page, "Ana").getByRole("img", { name: "Unread" }).waitFor();
    expect(await spoken(page)).toEqual(["from a terminal", "[echo] message 1 of this window: from a terminal"]);
    await row(page, "Ana").click();
    await answer(page, "from Telegram").waitFor();
    expect(await row(page, "Ana").getByRole("img", { name: "Unread" }).count()).toBe(0);
  });
});

describe("a gateway that goes and comes back", () => {
  it("is waited for; nothing is missing and nothing is said twice", async () => {
    await using stage = await createWebStage([{ key: TEAM, label: "Team" }]);
    await using tab = await signIn(stage);
    const { page } = tab;
    await row(page, "Team").click();
    await say(page, "before");
    await answer(page, "message 1 of this window: before").waitFor();
    await stage.stop();
    await page.getByText("The gateway cannot be reached").waitFor();
    await say(page, "while you were away");
    await page.getByText("Is sent when the gateway is back").waitFor();
    await stage.start();
    await answer(page, "message 2 of this window: while you were away").waitFor();
    await page.getByText("The gateway cannot be reached").waitFor({ state: "detached" });
    await say(page, "after");
    await answer(page, "message 3 of this window: after").waitFor();
    expect(await spoken(page)).toEqual([
      "before",
      "[echo] message 1 of this window: before",
      "while you were away",
      "[echo] message 2 of this window: while you were away",
      "after",
      "[echo] message 3 of this window: after",
    ]);
  });
});

describe("hostile content", () => {
  it("is shown as the text that it is", async () => {
    await using stage = await createWebStage([
      { key: TEAM, label: '<img src=x onerror="hacked=1">', entries: hostileEntries() },
    ]);
    await using tab = await browser.open();
    const { page } = tab;
    await page.goto(stage.gateway.tokenLink);
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
    expectOnlyTheGateway(tab, stage);
    expect(tab.complaints).toEqual([]);
  });

  it("could reach nobody even if it ran: the page's policy forbids it", async () => {
    let visits = 0;
    const other = createServer((_request, response) => {
      visits++;
      response.setHeader("Access-Control-Allow-Origin", "*").end("hello");
    }).listen(0, "127.0.0.1");
    await using stage = await createWebStage();
    await using tab = await signIn(stage);
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

describe("much of it", () => {
  it("loads older messages without moving what is read", async () => {
    const entries = Array.from({ length: 150 }, (_, index) =>
      index % 2 === 0 ? userDraft(`question ${index}.`) : assistantDraft(`answer ${index}. ${"word ".repeat(60)}`),
    );
    await using stage = await createWebStage([{ key: TEAM, label: "Team", entries }]);
    await using tab = await signIn(stage);
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

  it("pages through many sessions, finds one, and is worked by keys", async () => {
    const sessions = Array.from({ length: 130 }, (_, index) => ({
      key: `agent:main:telegram:dm:${index}`,
      label: `Person ${index}`,
    }));
    await using stage = await createWebStage(sessions);
    await using tab = await signIn(stage);
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

  it("fits a telephone", async () => {
    await using stage = await createWebStage([
      {
        key: TEAM,
        label: "Team",
        entries: [assistantDraft(`\`\`\`\n${"wide ".repeat(80)}\n\`\`\`\n${"x".repeat(300)}`)],
      },
    ]);
    await using tab = await signIn(stage, { viewport: { width: 360, height: 640 } });
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

const WORDS = "one two three four five six seven eight nine ten eleven twelve";

function modelConfig(baseUrl: string): Partial<HoldfastConfig> {
  return {
    agents: { main: { engine: "model", model: "local/llama3" } },
    providers: { ...DEFAULT_CONFIG.providers, local: { baseUrl } },
  };
}

async function signIn(stage: WebStage, options = {}): Promise<TestTab> {
  const tab = await browser.open(options);
  await tab.page.goto(stage.gateway.tokenLink);
  await tab.page.getByRole("searchbox").waitFor();
  return tab;
}

function row(page: Page, title: string): Locator {
  return page.locator(".session-row").filter({ has: page.getByText(title, { exact: true }) });
}

function heading(page: Page, name: string): Locator {
  return page.getByRole("heading", { name, exact: true });
}

function composer(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message" });
}

function transcript(page: Page): Locator {
  return page.getByRole("log", { name: "Transcript" });
}

/** Of a turn that is over: it stands in the transcript. */
function answer(page: Page, text: string): Locator {
  return page.locator(".entry .assistant").filter({ hasText: text });
}

async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Everything that anybody said, as it stands there. */
async function spoken(page: Page): Promise<string[]> {
  const texts = await transcript(page).locator(".user .markdown, .assistant .markdown").allTextContents();
  return texts.map((text) => text.replace(/\s+/g, " "));
}

async function topOf(element: Locator): Promise<number> {
  return (await element.boundingBox())?.y ?? Number.NaN;
}

function expectOnlyTheGateway({ requests }: TestTab, { gateway }: WebStage): void {
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
