/** The parts of the page, as a person finds them. */
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import type { TestBrowser, TestTab } from "./browser.ts";
import type { WebStage } from "./web-stage.ts";

export async function signIn(
  browser: TestBrowser,
  stage: WebStage,
  options: BrowserContextOptions = {},
): Promise<TestTab> {
  const tab = await browser.open(options);
  await tab.page.goto(stage.gateway.tokenLink);
  await tab.page.getByRole("searchbox").waitFor();
  return tab;
}

export function row(page: Page, title: string): Locator {
  return page.locator(".session-row").filter({ has: page.getByText(title, { exact: true }) });
}

export function heading(page: Page, name: string): Locator {
  return page.getByRole("heading", { name, exact: true });
}

export function composer(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message" });
}

export function transcript(page: Page): Locator {
  return page.getByRole("log", { name: "Transcript" });
}

/** Of a turn that is over: it stands in the transcript. */
export function answer(page: Page, text: string): Locator {
  return page.locator(".entry .assistant").filter({ hasText: text });
}

export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Everything that anybody said, as it stands there. */
export async function spoken(page: Page): Promise<string[]> {
  const texts = await transcript(page).locator(".user .markdown, .assistant .markdown").allTextContents();
  return texts.map((text) => text.replace(/\s+/g, " "));
}
