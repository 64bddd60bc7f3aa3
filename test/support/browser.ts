/**
 * A real browser: one that is installed on the machine, else the Chromium that comes through npm. It
 * speaks to loopback only, and every address that a page asks for is kept for the test to look at.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

export interface TestBrowser {
  /** A fresh profile: nothing of another test is in it. */
  open(options?: BrowserContextOptions): Promise<TestTab>;
}

export interface TestTab extends AsyncDisposable {
  context: BrowserContext;
  page: Page;
  /** Every address that was asked for, also in vain. */
  requests: string[];
  /** What the browser complained about: errors of scripts, and what the content security policy refused. */
  complaints: string[];
}

/** One browser for all tests of a file, from before the first until after the last. */
export function browserOfFile(): TestBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launch(await findBrowser());
  });
  afterAll(async () => await browser?.close());
  return {
    open: async (options) => {
      if (browser === undefined) throw new Error("It is tests that open tabs: nothing runs before them.");
      return await openTab(browser, options);
    },
  };
}

async function launch(executablePath: string): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--force-color-profile=srgb"];
  try {
    return await chromium.launch({ executablePath, args });
  } catch (error) {
    if (!executablePath.startsWith(tmpdir())) throw error;
    // Unpacking was cut short some time ago, and what it left is taken for the whole.
    await rm(executablePath, { force: true });
    return await chromium.launch({ executablePath: await findBrowser(), args });
  }
}

async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<TestTab> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, locale: "en-GB", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("websocket", (socket) => requests.push(socket.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return {
    context,
    page,
    requests,
    complaints,
    [Symbol.asyncDispose]: async () => await context.close(),
  };
}

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

async function findBrowser(): Promise<string> {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const installed = folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
  if (installed !== undefined) return installed;
  const { default: packed } = await import("@sparticuz/chromium");
  return await packed.executablePath();
}
