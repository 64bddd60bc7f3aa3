/**
 * The one place that builds concrete parts. Everything else takes what it needs as arguments.
 * Implementations are loaded when they are chosen, so that a command pays for what it uses.
 */
import { dirname, extname, join } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";
import { HoldfastError } from "./base/errors.ts";
import { ensurePrivateFolder, fileExists, readFolderIfPresent } from "./base/files.ts";
import { type Ids, randomIds } from "./base/ids.ts";
import { type Logger, createLogger } from "./base/log.ts";
import type { HoldfastConfig } from "./config/config.ts";
import { ARCHIVE_FOLDER_NAME, agentLayout, agentsFolder } from "./config/layout.ts";
import { normalizeAgentId } from "./keys/names.ts";
import type { AgentHandle } from "./session/agent-handle.ts";
import type { KeptHandoff, Store } from "./store/store.ts";
import type { StoreRepair } from "./store/store-repair.ts";

export interface OpenAgentOptions {
  home: string;
  config: HoldfastConfig;
  /** Left out: the configured default agent. */
  agentId?: string | undefined;
  /** A `sessions.json` (or a `.sqlite` file) to use instead of the agent's own store. */
  storePath?: string | undefined;
  /** `thread` keeps disk waits off the event loop of a long-running process. Left out: `inline`. */
  execution?: "inline" | "thread";
  /** False: a store that is not there yet is an error of kind `not-found`. Left out: true. */
  create?: boolean;
  clock?: Clock;
  ids?: Ids;
  logger?: Logger;
}

/** An agent that is ready for use. Close its store when done. */
export async function openAgent(options: OpenAgentOptions): Promise<AgentHandle> {
  const { config, home } = options;
  const agentId = normalizeAgentId(options.agentId ?? config.defaultAgent);
  const layout = agentLayout(home, agentId);
  const sessionsFolder = options.storePath === undefined ? layout.sessionsFolder : dirname(options.storePath);
  const parts = {
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    logger: options.logger ?? createLogger({ level: config.log.level }),
  };
  return {
    agentId,
    mainKey: config.session.mainKey,
    store: await openStore(options, agentId, parts),
    sessionsFolder,
    archiveFolder: join(sessionsFolder, ARCHIVE_FOLDER_NAME),
    workspace: config.agents[agentId]?.workspace ?? layout.workspace,
    durability: config.transcript.durability,
    ...parts,
  };
}

export type OpenRepairOptions = Pick<OpenAgentOptions, "home" | "config" | "clock"> & { agentId: string };

/** The files of an agent's store, for when it cannot be opened. Opens and changes nothing yet. */
export async function openStoreRepair(options: OpenRepairOptions): Promise<StoreRepair> {
  const { config, home, agentId, clock = systemClock } = options;
  const layout = agentLayout(home, agentId);
  const { kind, path } = chooseStore(options, layout);
  if (kind === "json") {
    const { createJsonRepair } = await import("./store/json/json-repair.ts");
    return createJsonRepair({ path, owner: { agentId, mainKey: config.session.mainKey }, clock });
  }
  const { createSqliteRepair } = await import("./store/sqlite/sqlite-repair.ts");
  const viewPath = config.store.view ? layout.sessionsFile : undefined;
  return createSqliteRepair({ path, sessionsFolder: layout.sessionsFolder, viewPath, clock });
}

export interface ReadHandoffsOptions {
  home: string;
  config: HoldfastConfig;
  agentId: string;
  /** Only keys that begin with it. */
  prefix: string;
  limit: number;
  /** How long a lock of another process is waited for. */
  busyMs: number;
}

/** What sessions have left, newest first, without opening the store: changes nothing and waits for nobody. */
export async function readHandoffs(options: ReadHandoffsOptions): Promise<KeptHandoff[]> {
  const { kind, path } = chooseStore(options, agentLayout(options.home, options.agentId));
  if (!(await fileExists(path))) return [];
  if (kind === "json") {
    const { readJsonHandoffs } = await import("./store/json/read-handoffs.ts");
    return await readJsonHandoffs(path, options);
  }
  const { readHandoffs: read } = await import("./store/sqlite/read-handoffs.ts");
  return await read(path, options);
}

type StoreParts = Required<Pick<OpenAgentOptions, "clock" | "ids" | "logger">>;

async function openStore(options: OpenAgentOptions, agentId: string, parts: StoreParts): Promise<Store> {
  const layout = agentLayout(options.home, agentId);
  const { kind, path } = chooseStore(options, layout);
  if (options.create === false && !(await fileExists(path))) throw await noStore(options, agentId, path);
  await ensurePrivateFolder(dirname(path));
  const common = { path, agentId, mainKey: options.config.session.mainKey, ...parts };

  if (kind === "json") {
    const { createJsonStore } = await import("./store/json/json-store.ts");
    return await createJsonStore(common);
  }
  const { createSqliteStore } = await import("./store/sqlite/sqlite-store.ts");
  const isOwn = options.storePath === undefined;
  return await createSqliteStore({
    ...common,
    execution: options.execution,
    sessionsFolder: isOwn ? layout.sessionsFolder : undefined,
    viewPath: isOwn && options.config.store.view ? layout.sessionsFile : undefined,
  });
}

function chooseStore(
  { storePath, config }: Pick<OpenAgentOptions, "storePath" | "config">,
  layout: ReturnType<typeof agentLayout>,
): { kind: "sqlite" | "json"; path: string } {
  if (storePath !== undefined) return { kind: extname(storePath) === ".sqlite" ? "sqlite" : "json", path: storePath };
  const kind = config.store.kind;
  return { kind, path: kind === "json" ? layout.sessionsFile : layout.database };
}

/** A store that was lost is not one that was never there. */
async function noStore(options: OpenAgentOptions, agentId: string, path: string): Promise<HoldfastError> {
  if (options.storePath !== undefined) {
    return new HoldfastError("not-found", "store-not-found", `There is no store ${path}`, {
      hint: "Give --store the path of a sessions.json or of a .sqlite file.",
      data: { agentId, path },
    });
  }
  const damage = await (await openStoreRepair({ ...options, agentId })).diagnose();
  if (damage !== undefined) {
    return new HoldfastError("corrupt", "store-lost", damage.message, {
      hint: "Run `holdfast doctor --fix` to rebuild the store from what is left of it. Nothing was changed.",
      data: { agentId, path },
    });
  }
  return new HoldfastError("not-found", "store-not-found", `Agent "${agentId}" has no sessions yet (${path})`, {
    hint: "Start a conversation with `holdfast chat`, or name another agent with --agent.",
    data: { agentId, path },
  });
}

/** The agents that have a folder, in alphabetical order. */
export async function listAgentIds(home: string): Promise<string[]> {
  const items = await readFolderIfPresent(agentsFolder(home));
  return items
    .filter((item) => item.isDirectory() && normalizeAgentId(item.name) === item.name)
    .map((item) => item.name)
    .toSorted();
}
