/** Imports an OpenClaw folder. It is only read; everything in it is taken once, however often the import runs. */
import { join, resolve } from "node:path";
import { inParallel, lazyMap } from "../base/async.ts";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder, fileExists, readFolderIfPresent, realPath } from "../base/files.ts";
import type { JsonRecord } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";
import { printableLine } from "../base/text.ts";
import type { HoldfastConfig } from "../config/config.ts";
import {
  CLAUDE_REGISTRY_NAME,
  OPENCLAW_DATABASE_NAME,
  agentLayout,
  agentsFolder,
  resolveOpenClawHome,
} from "../config/layout.ts";
import { normalizeAgentId } from "../keys/names.ts";
import { parseAgentSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { readDatabaseSessions, readWaitingMessages, withOpenClawDatabase } from "./openclaw-database.ts";
import { SESSIONS_FILE, readFileSessions } from "./openclaw-files.ts";
import {
  type SettingsOptions,
  openClawWorkspace,
  readOpenClawConfig,
  takeHooks,
  takeRegistry,
  takeSettings,
  takeSkills,
} from "./openclaw-settings.ts";
import { type ImportItem, type ImportReport, createReport } from "./report.ts";
import { type FoundSession, type SessionTaker, createSessionTaker } from "./take-sessions.ts";

export interface ImportOptions {
  from: string;
  home: string;
  config: HoldfastConfig;
  origins: SettingsOptions["origins"];
  dryRun: boolean;
  /** Undefined in a dry run, if the agent has no store yet. The caller closes the store. */
  openAgent: (agentId: string) => Promise<AgentHandle | undefined>;
}

export async function importOpenClaw(options: ImportOptions): Promise<ImportReport> {
  const { home, dryRun } = options;
  const sources = await findSources(options.from, options.config.defaultAgent);
  if (sources.length === 0 && !(await fileExists(join(options.from, "openclaw.json"))))
    throw nothingFound(options.from);
  await refuseOwnFolder(sources, options);
  const run = async (): Promise<ImportReport> => await takeEverything(sources, options);
  if (dryRun) return await run();
  await ensurePrivateFolder(home);
  return await withFileLock(join(home, "import.lock"), {}, run);
}

function nothingFound(from: string): HoldfastError {
  return new HoldfastError("not-found", "nothing-to-import", `No OpenClaw data found in ${from}`, {
    hint: "Give the folder that has openclaw.json and agents/: `holdfast import openclaw <dir>`.",
    data: { from },
  });
}

/** With the store `sqlite`, the view would be written over OpenClaw's own file. */
async function refuseOwnFolder(sources: readonly Source[], { home, config }: ImportOptions): Promise<void> {
  if (config.store.kind === "json") return;
  for (const { agentId, sessionsFolder } of sources) {
    const isSame = realPath(sessionsFolder) === realPath(agentLayout(home, agentId).sessionsFolder);
    if (!isSame || !(await fileExists(join(sessionsFolder, SESSIONS_FILE)))) continue;
    if (await fileExists(agentLayout(home, agentId).database)) continue;
    throw new HoldfastError("usage", "import-into-itself", `${home} is the OpenClaw folder itself`, {
      hint: "Use it in place with `holdfast config set store.kind json`, or point HOLDFAST_HOME to another folder.",
    });
  }
}

/** An agent's data in the OpenClaw folder. */
interface Source {
  agentId: string;
  sessionsFolder: string;
  database: string;
  registry: string;
}

/** Also accepts the folder of one agent, and a folder with a database or transcripts in it. */
async function findSources(from: string, defaultAgent: string): Promise<Source[]> {
  const folders = (await readFolderIfPresent(agentsFolder(from))).filter((item) => item.isDirectory());
  if (folders.length > 0) return folders.map(({ name }) => sourceAt(join(agentsFolder(from), name), name));
  const names = (await readFolderIfPresent(from)).map(({ name }) => name);
  if (names.includes("sessions") || names.includes("agent")) return [sourceAt(from, defaultAgent)];
  const hasSessions = names.some(
    (name) => name === SESSIONS_FILE || name === OPENCLAW_DATABASE_NAME || /\.jsonl(?:\.|$)/.test(name),
  );
  if (!hasSessions) return [];
  const flat = {
    sessionsFolder: from,
    database: join(from, OPENCLAW_DATABASE_NAME),
    registry: join(from, CLAUDE_REGISTRY_NAME),
  };
  return [{ agentId: defaultAgent, ...flat }];
}

function sourceAt(root: string, name: string): Source {
  return {
    agentId: normalizeAgentId(name),
    sessionsFolder: join(root, "sessions"),
    database: join(root, "agent", OPENCLAW_DATABASE_NAME),
    registry: join(root, CLAUDE_REGISTRY_NAME),
  };
}

/** Settings first: the name of the main session is one of them. */
async function takeEverything(sources: readonly Source[], options: ImportOptions): Promise<ImportReport> {
  const { from, home, config, dryRun } = options;
  const items: ImportItem[] = [];
  const taking: Taking = { ...options, add: (item) => void items.push(item) };
  const attempt = createAttempt(taking.add);
  let openClaw: JsonRecord = {};
  await attempt({ kind: "file", name: join(from, "openclaw.json") }, async () => {
    openClaw = (await readOpenClawConfig(from)) ?? {};
    await takeSettings(openClaw, taking);
  });
  for (const source of sources) {
    const { agentId, registry } = source;
    await takeSessions(source, taking);
    await attempt({ kind: "file", name: registry, agentId }, async () => {
      await takeRegistry({ path: registry, agentId }, taking);
    });
    const workspace = config.agents[agentId]?.workspace ?? agentLayout(home, agentId).workspace;
    const places = { agentId, source: openClawWorkspace(from, openClaw, agentId), workspace };
    await attempt({ kind: "file", name: places.source, agentId }, async () => {
      await takeSkills(places, taking);
      await takeHooks(places, taking);
    });
  }
  return createReport({ from, home, dryRun }, items);
}

type Taking = ImportOptions & Pick<SettingsOptions, "add">;

/** A source that is damaged, newer or in use is reported, and the rest is still imported. */
function createAttempt(add: (item: ImportItem) => void) {
  return async (source: Pick<ImportItem, "kind" | "name" | "agentId">, task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      const reason = [error.message, error.hint].filter((part) => part !== undefined).join(". ");
      add({ ...source, outcome: "left", reason, isProblem: true });
    }
  };
}

/** The database first: it is newer than files beside it. A file may hold sessions of several agents. */
async function takeSessions({ agentId, sessionsFolder, database }: Source, taking: Taking): Promise<void> {
  const { home, config, dryRun, add } = taking;
  const { root, sessionsFolder: ownFolder } = agentLayout(home, agentId);
  const attempt = createAttempt(add);
  const takers = lazyMap<string, SessionTaker>();
  const takerOf = async (id: string): Promise<SessionTaker> =>
    await takers.get(id, async () => {
      const agent = await taking.openAgent(id);
      const owner = { agentId: id, mainKey: agent?.mainKey ?? config.session.mainKey };
      return await createSessionTaker({ agent, owner, dryRun, add });
    });
  const take = async (found: FoundSession): Promise<void> =>
    await (await takerOf(normalizeAgentId(parseAgentSessionKey(found.key)?.agentId ?? agentId))).take(found);
  await attempt({ kind: "file", name: root, agentId }, async () => {
    const { keyOf, skip } = await takerOf(agentId);
    await attempt({ kind: "database", name: database, agentId }, async () => {
      if (!(await fileExists(database))) return;
      await withOpenClawDatabase(database, async (tables) => {
        for (const found of readDatabaseSessions(tables, agentId)) await take(found);
        for (const { key, text } of readWaitingMessages(tables)) {
          const reason = `OpenClaw had not answered “${printableLine(text, 80)}”; send it again`;
          add({ kind: "waiting message", name: key, agentId, outcome: "left", reason });
        }
      });
    });
    // Files in the home itself are in use already.
    if (realPath(sessionsFolder) === realPath(ownFolder)) return;
    await attempt({ kind: "file", name: join(sessionsFolder, SESSIONS_FILE), agentId }, async () => {
      for await (const found of readFileSessions({ folder: sessionsFolder, agentId, keyOf, skip })) await take(found);
    });
  });
}

/** For a home without sessions: a sentence about OpenClaw databases in it, or in OpenClaw's own folder. */
export async function describeOpenClawDatabases(home: string): Promise<string | undefined> {
  const usual = resolveOpenClawHome();
  for (const from of new Set([resolve(home), usual])) {
    const sources = await findSources(from, "main");
    const paths = (
      await inParallel(sources, async ({ database }) => ((await fileExists(database)) ? [database] : []))
    ).flat();
    if (paths.length === 0) continue;
    const what = paths.length === 1 ? "an OpenClaw database" : `${paths.length} OpenClaw databases`;
    try {
      const counts = await inParallel(
        paths,
        async (path) =>
          await withOpenClawDatabase(path, async (tables) => await Promise.resolve(tables.countSessions())),
      );
      const sum = counts.reduce((total, count) => total + count, 0);
      const command = `holdfast import openclaw${from === usual ? "" : ` ${from}`}`;
      return `Found ${what} with ${sum} ${sum === 1 ? "session" : "sessions"}: ${paths.join(", ")}. Run \`${command}\` to use them here.`;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      return `Found ${what}: ${error.message}. ${error.hint ?? ""}`.trim();
    }
  }
  return undefined;
}
