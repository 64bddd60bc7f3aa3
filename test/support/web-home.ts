/**
 * A home with conversations, a real gateway and a real browser, for tests of the page. The browser is an
 * installed one, else the Chromium from npm. It connects to loopback only.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, delimiter } from "node:path";
import { type Browser, type BrowserContextOptions, type Page, chromium, type Locator } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { silentLogger } from "../../src/base/log.ts";
import { webFolder } from "../../src/base/package.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { type OpenedGateway, openGateway } from "../../src/compose/turns.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import type { Environment } from "../../src/config/layout.ts";
import { initSessionState } from "../../src/session/init.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import { patchSession } from "../../src/session/patch.ts";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import { openTurnLog } from "../../src/turn/run/turn-record.ts";
import { temporaryFolder } from "./temp-folder.ts";

export interface SeededSession {
  key: string;
  entries?: readonly DraftEntry[];
  label?: string;
}

export interface WebHome extends AsyncDisposable {
  readonly gateway: OpenedGateway;
  /** Stops the gateway; the page stays open. */
  stop(): Promise<void>;
  /** Restarts the gateway at the same address. */
  start(): Promise<void>;
}

export async function createWebHome(
  sessions: readonly SeededSession[] = [],
  changes: Partial<HoldfastConfig> = {},
  env: Environment = process.env,
): Promise<WebHome> {
  if (!existsSync(join(webFolder(), "index.html"))) throw new Error("The page is not built: run `npm run build`.");
  const folder = await temporaryFolder();
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, log: { level: "silent" }, ...changes };
  await seedSessions(folder.path, config, sessions);
  const open = async (port: number): Promise<OpenedGateway> =>
    await openGateway({ home: folder.path, config, env, port, channels: false, logger: silentLogger });
  let gateway = await open(0);
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (isOpen) await gateway.close();
    isOpen = false;
  };
  return {
    get gateway() {
      return gateway;
    },
    stop,
    start: async () => {
      gateway = await open(gateway.port);
      isOpen = true;
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function seedSessions(home: string, config: HoldfastConfig, sessions: readonly SeededSession[]): Promise<void> {
  if (sessions.length === 0) return;
  const agent = await openAgent({ home, config, logger: silentLogger });
  try {
    for (const { key, entries = [], label } of sessions) {
      const { sessionEntry } = await initSessionState({
        agent,
        ctx: { SessionKey: key, Body: "hello" },
        cfg: config,
      });
      if (entries.length > 0) {
        await withSessionLease(agent, key, {}, async (held) => {
          await using log = await openTurnLog({ agent }, held, sessionEntry);
          await log.append([...entries]);
          await log.sync();
        });
      }
      if (label !== undefined) await patchSession(agent, key, { label });
    }
  } finally {
    await agent.store.close();
  }
}

export interface TestBrowser {
  /** Opens a tab with a fresh profile. */
  open(options?: BrowserContextOptions): Promise<TestTab>;
}

export interface TestTab extends AsyncDisposable {
  page: Page;
  /** Every requested URL, including failed ones. */
  requests: string[];
  /** Script errors and violations of the content security policy. */
  complaints: string[];
}

/** One browser for all tests of a file. */
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
    // An earlier unpacking was interrupted and left an incomplete file.
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

export async function signIn(
  browser: TestBrowser,
  home: WebHome,
  options: BrowserContextOptions = {},
): Promise<TestTab> {
  const tab = await browser.open(options);
  await tab.page.goto(home.gateway.tokenLink);
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

/** The answer of an ended turn, in the transcript. */
export function answer(page: Page, text: string): Locator {
  return page.locator(".entry .assistant").filter({ hasText: text });
}

export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** All messages as shown on the page. */
export async function spoken(page: Page): Promise<string[]> {
  const texts = await transcript(page).locator(".user .markdown, .assistant .markdown").allTextContents();
  return texts.map((text) => text.replace(/\s+/g, " "));
}
