/** An OpenClaw folder made from real files, and a home to import it to. */
import { cp, mkdir, readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { silentLogger } from "../../src/base/log.ts";
import { openAgent } from "../../src/compose/agent.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { importOpenClaw } from "../../src/import/openclaw.ts";
import type { ImportReport } from "../../src/import/report.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import { locateTranscript } from "../../src/session/agent-handle.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { readContext } from "../../src/transcript/context.ts";
import { messageText } from "../../src/transcript/messages.ts";
import { temporaryFolder } from "./temp-folder.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/openclaw", import.meta.url));

const isTranscript = (path: string): boolean => !/\.(?:sqlite|md)$/.test(path);

export type OpenClawHome = Awaited<ReturnType<typeof createOpenClawHome>>;

export interface OpenClawHomeOptions {
  /** `database` and `exports`: 2026.9.6. `files`: 2026.1.30. Default: an empty folder. */
  with?: readonly ("database" | "exports" | "files")[];
  store?: StoreKind;
}

export async function createOpenClawHome(options: OpenClawHomeOptions = {}) {
  const folder = await temporaryFolder();
  const from = folder.join("openclaw");
  const home = folder.join("holdfast");
  const sessions = join(from, "agents/main/sessions");
  const database = join(from, "agents/main/agent/openclaw-agent.sqlite");
  await mkdir(sessions, { recursive: true });
  await mkdir(join(database, ".."), { recursive: true });
  const parts = options.with ?? [];
  if (parts.includes("database")) await cp(join(FIXTURES, "v2026.9.6/openclaw-agent.sqlite"), database);
  if (parts.includes("exports")) {
    await cp(join(FIXTURES, "v2026.9.6"), sessions, { recursive: true, filter: isTranscript });
  }
  if (parts.includes("files")) await cp(join(FIXTURES, "v2026.1.30/after-rpc"), sessions, { recursive: true });
  const places = { from, home, store: options.store };

  const open = async (agentId = "main"): Promise<AgentHandle & AsyncDisposable> => {
    const agent = await openAgent({ ...(await loadSetup(places)), agentId, logger: silentLogger });
    return { ...agent, [Symbol.asyncDispose]: async () => await agent.store.close() };
  };
  return {
    from,
    home,
    sessions,
    database,
    open,
    run: async (settings: { dryRun?: boolean } = {}): Promise<ImportReport> => await runImport(places, settings),
    /** Changes OpenClaw's database, as OpenClaw would. */
    change: (...statements: readonly string[]): void => {
      const connection = new DatabaseSync(database);
      for (const sql of statements) connection.exec(sql);
      connection.close();
    },
    [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose](),
  };
}

interface Places {
  from: string;
  home: string;
  store?: StoreKind | undefined;
}

async function loadSetup({ from, home, store = "sqlite" }: Places) {
  const { config, origins } = await loadConfig({ env: {}, cwd: from, home });
  const chosen: HoldfastConfig = { ...config, store: { kind: store, view: true } };
  return { home, config: chosen, origins };
}

/** Imports, as `holdfast import openclaw` does. */
export async function runImport(places: Places, { dryRun = false }: { dryRun?: boolean }): Promise<ImportReport> {
  const setup = await loadSetup(places);
  const opened: AgentHandle[] = [];
  const open = async (agentId: string): Promise<AgentHandle | undefined> => {
    if (dryRun) return undefined;
    opened.push(await openAgent({ ...(await loadSetup(places)), agentId, logger: silentLogger }));
    return opened.at(-1);
  };
  try {
    return await importOpenClaw({ ...setup, from: places.from, dryRun, openAgent: open });
  } finally {
    for (const { store } of opened) await store.close();
  }
}

/** Every session with its windows: session id, and the texts of the conversation. */
export async function readHome(agent: AgentHandle): Promise<Record<string, [sessionId: string, texts: string[]][]>> {
  const { sessions } = await agent.store.list({ sort: "key" });
  const found = sessions.map(async ({ key, entry }) => {
    const windows = await agent.store.windows(key);
    const read = windows.map(async (window): Promise<[string, string[]]> => {
      const isCurrent = window.sessionId === entry.sessionId;
      const { path } = await locateTranscript(agent, isCurrent ? { key, entry } : { key, entry, window });
      const { messages } = await readContext(path).catch(() => ({ messages: [] }));
      return [window.sessionId, messages.map((message) => messageText(message))];
    });
    return [key, await Promise.all(read)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Path, content and time of every file below a folder. */
export async function snapshotOf(folder: string): Promise<Record<string, string>> {
  const items = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = items.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name));
  const contents = files.toSorted().map(async (path) => {
    return [path, `${(await readFile(path)).toString("base64")} ${(await stat(path)).mtimeMs}`] as const;
  });
  return Object.fromEntries(await Promise.all(contents));
}
