/** Conversations on the page in a real browser, served by a real gateway. */
import { describe, expect, it } from "vitest";
import { type HoldfastConfig, DEFAULT_CONFIG } from "../../src/config/config.ts";
import { createHttpCaller } from "../../src/rpc/client.ts";
import {
  browserOfFile,
  answer,
  composer,
  row,
  say,
  signIn,
  spoken,
  transcript,
  createWebHome,
} from "../support/web-home.ts";
import { startFakeModelStream, says, uses } from "../support/fake-model-stream.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";

const TEAM = "agent:main:web:dm:team";

const browser = browserOfFile();

describe("talking", () => {
  it("sends with Enter, shows each message once, and loses nothing on a reload", async () => {
    await using home = await createWebHome();
    await using tab = await signIn(browser, home);
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

  it("streams words and stops on Escape", async () => {
    await using model = await startFakeModelStream(
      says(WORDS, { breaks: { after: 8, with: "silence" } }),
      says("It goes on."),
    );
    await using home = await createWebHome([{ key: TEAM, label: "Team" }], modelConfig(model.url));
    await using tab = await signIn(browser, home);
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
    await using home = await createWebHome([{ key: TEAM, label: "Team" }], modelConfig(model.url));
    await using tab = await signIn(browser, home);
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

  it("opens a new window with /new and shows the old one read-only", async () => {
    await using home = await createWebHome([
      { key: TEAM, label: "Team", entries: [userDraft("When do we ship?"), assistantDraft("On Thursday.")] },
    ]);
    await using tab = await signIn(browser, home);
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

  it("shows messages from elsewhere, and marks them unread when not visible", async () => {
    await using home = await createWebHome([
      { key: TEAM, label: "Team" },
      { key: "agent:main:telegram:dm:7", label: "Ana" },
    ]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    await composer(page).waitFor();
    const { url, token } = home.gateway;
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

describe("a gateway that stops and restarts", () => {
  it("is waited for; nothing is lost and nothing is sent twice", async () => {
    await using home = await createWebHome([{ key: TEAM, label: "Team" }]);
    await using tab = await signIn(browser, home);
    const { page } = tab;
    await row(page, "Team").click();
    await say(page, "before");
    await answer(page, "message 1 of this window: before").waitFor();
    await home.stop();
    await page.getByText("Cannot reach the gateway").waitFor();
    await say(page, "while you were away");
    await page.getByText("Will be sent when the gateway is back").waitFor();
    await home.start();
    await answer(page, "message 2 of this window: while you were away").waitFor();
    await page.getByText("Cannot reach the gateway").waitFor({ state: "detached" });
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

const WORDS = "one two three four five six seven eight nine ten eleven twelve";

function modelConfig(baseUrl: string): Partial<HoldfastConfig> {
  return {
    agents: { main: { engine: "model", model: "local/llama3" } },
    providers: { ...DEFAULT_CONFIG.providers, local: { baseUrl } },
  };
}
