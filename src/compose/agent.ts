/**
 * Opens one agent and its store. The folder `compose` is the only place that builds concrete parts; all other
 * code gets them as arguments. Implementations are loaded when they are used, so that commands start fast.
 */
import { existsSync } from "node:fs";
import { basename, dirname, extname, relative } from "node:path";
import { closing, lazy } from "../base/async.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder, fileExists, readFolderIfPresent, sweepFolder } from "../base/files.ts";
import { type Ids, randomIds } from "../base/ids.ts";
import { type Logger, createLogger, silentLogger } from "../base/log.ts";
import type { HoldfastConfig } from "../config/config.ts";
import {
  OPENCLAW_DATABASE_NAME,
  agentLayout,
  agentsFolder,
  mediaCopiesFolder,
  returnedMediaFolder,
} from "../config/layout.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { createDocumentFiles } from "../store/document-files.ts";
import type { Documents } from "../store/documents.ts";
import type { PostgresSettings } from "../store/postgres/connection.ts";
import type { PostgresNode } from "../store/postgres/node.ts";
import type { KeptHandoff, Store, StoreKind } from "../store/store.ts";
import type { TranscriptFolders } from "../store/transcripts.ts";

export interface OpenAgentOptions {
  home: string;
  config: HoldfastConfig;
  /** Default: the configured default agent. */
  agentId?: string | undefined;
  /** A `sessions.json` (or a `.sqlite` file) to use instead of the agent's own store. */
  storePath?: string | undefined;
  /** `thread`, for a server: under load, a worker thread waits for the disk. Default: `inline`. */
  execution?: "inline" | "thread" | undefined;
  /** False: a store that does not exist is an error of kind `not-found`. Default: true. */
  create?: boolean | undefined;
  clock?: Clock | undefined;
  ids?: Ids | undefined;
  logger?: Logger | undefined;
}

export async function openAgent(options: OpenAgentOptions): Promise<AgentHandle> {
  const { config, home } = options;
  const agentId = normalizeAgentId(options.agentId ?? config.defaultAgent);
  const layout = agentLayout(home, agentId);
  const parts = {
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    logger: options.logger ?? createLogger({ level: config.log.level }),
  };
  const store = await openStore(options, agentId, parts);
  if (options.storePath !== undefined) await sweepElsewhere(store, parts.logger);
  return {
    agentId,
    mainKey: config.session.mainKey,
    store,
    workspace: config.agents[agentId]?.workspace ?? layout.workspace,
    ...parts,
  };
}

/** Removes temporary files of killed processes beside a store outside the home. A gateway sweeps only its home. */
async function sweepElsewhere({ transcripts }: Store, logger: Logger): Promise<void> {
  const folders = Object.values(transcripts.folders ?? {});
  try {
    for (const folder of folders) await sweepFolder(folder);
  } catch (error) {
    logger.warn("could not remove temporary files of killed processes", { folders, error });
  }
}

type OwnStore = Pick<OpenAgentOptions, "home" | "config">;

/** Documents that all gateways of the home share. `folder` is inside the home. */
export async function openDocuments(
  { home, config, clock = systemClock }: OwnStore & { clock?: Clock | undefined },
  folder: string,
): Promise<Documents> {
  if (config.store.kind !== "postgres") return createDocumentFiles(folder, clock);
  const { createPostgresDocuments } = await import("../store/postgres/documents.ts");
  // Closed after each use, because documents have no end. In a gateway, its stores keep the connections open.
  const query: PostgresNode["query"] = async (...given) => {
    const node = await openPostgresNode(config);
    await using _closing = closing(node);
    return await node.query(...given);
  };
  return createPostgresDocuments({ node: { query }, agentId: "", folder: relative(home, folder), clock });
}

/** The folders with an agent's transcripts. Opens the store only if they are not files of this machine. */
export async function bringTranscripts(options: OwnStore, agentId: string): Promise<TranscriptFolders> {
  const { sessionsFolder, archiveFolder } = agentLayout(options.home, agentId);
  if (options.config.store.kind !== "postgres") return { sessions: sessionsFolder, archive: archiveFolder };
  const { store } = await openAgent({ ...options, agentId });
  try {
    return await store.transcripts.bringHere();
  } finally {
    await store.close();
  }
}

/** For a store that cannot be opened. Opens and changes nothing yet. */
export async function openStoreRepair(options: OwnStore & { agentId: string; clock?: Clock | undefined }) {
  const { config, home, agentId, clock = systemClock } = options;
  const layout = agentLayout(home, agentId);
  const { kind, path } = chooseStore(options, layout);
  if (kind === "postgres") {
    const { createPostgresRepair } = await import("../store/postgres/postgres-repair.ts");
    return createPostgresRepair(postgresSettings(config), async () => await openPostgresNode(config));
  }
  if (kind === "json") {
    const { createJsonRepair } = await import("../store/json/json-repair.ts");
    return createJsonRepair({ path, owner: { agentId, mainKey: config.session.mainKey }, clock });
  }
  const { createSqliteRepair } = await import("../store/sqlite/sqlite-repair.ts");
  const viewPath = config.store.view ? layout.sessionsFile : undefined;
  return createSqliteRepair({ path, sessionsFolder: layout.sessionsFolder, viewPath, clock });
}

/**
 * Reads the hand-offs of sessions whose keys begin with `prefix`, newest first, without opening the store for
 * writing. `busyMs`: how long to wait for a lock of another process.
 */
export async function readHandoffs(
  options: OwnStore & { agentId: string; prefix: string; limit: number; busyMs: number },
): Promise<KeptHandoff[]> {
  const { kind, path } = chooseStore(options, agentLayout(options.home, options.agentId));
  if (kind === "postgres") {
    const [{ readPostgresHandoffs }, node] = await Promise.all([
      import("../store/postgres/read-only.ts"),
      openPostgresNode(options.config),
    ]);
    return await readPostgresHandoffs(node, options);
  }
  if (!(await fileExists(path))) return [];
  if (kind === "json") {
    const { readJsonHandoffs } = await import("../store/json/read-only.ts");
    return await readJsonHandoffs(path, options);
  }
  const { readHandoffs: read } = await import("../store/sqlite/read-only.ts");
  return await read(path, options);
}

/**
 * Maps session ids of other programs, such as Claude Code, to the keys of the conversations that use them or did before
 * a reset or archiving. Covers all agents, OpenClaw's included. Opens no store for writing.
 */
export async function readConversations(options: OwnStore & { openClawHome: string }): Promise<Map<string, string>> {
  const { home, config, openClawHome } = options;
  const [{ readJsonProgramSessions }, { readProgramSessions }, { readManifests }, { programSessions }] =
    await Promise.all([
      import("../store/json/read-only.ts"),
      import("../store/sqlite/read-only.ts"),
      import("../session/archive.ts"),
      import("../store/session-entry.ts"),
    ]);
  const ofAgent = async (agentId: string): Promise<Map<string, string>> => {
    const layout = agentLayout(home, agentId);
    const { kind, path } = chooseStore({ config }, layout);
    const { records } = await readManifests(createDocumentFiles(layout.archiveFolder));
    const archived = records.flatMap(({ key, entry, windows }) =>
      [entry, ...windows.map(({ state }) => state ?? {})].flatMap((state) =>
        programSessions(state).map((id): [string, string] => [id, key]),
      ),
    );
    if (kind === "postgres") {
      const { readPostgresProgramSessions } = await import("../store/postgres/read-only.ts");
      return new Map([...archived, ...(await readPostgresProgramSessions(await openPostgresNode(config), agentId))]);
    }
    const read = kind === "json" ? readJsonProgramSessions : readProgramSessions;
    return new Map([...archived, ...((await fileExists(path)) ? await read(path) : [])]);
  };
  const openClawAgents = (await readFolderIfPresent(agentsFolder(openClawHome))).map(({ name }) => name);
  const found = await Promise.all([
    ...(await listAgentIds(home)).map(ofAgent),
    ...openClawAgents.map(async (name) => await readJsonProgramSessions(agentLayout(openClawHome, name).sessionsFile)),
  ]);
  return new Map(found.flatMap((conversations) => [...conversations]));
}

async function openStore(
  options: OpenAgentOptions,
  agentId: string,
  parts: Required<Pick<OpenAgentOptions, "clock" | "ids" | "logger">>,
): Promise<Store> {
  const layout = agentLayout(options.home, agentId);
  const { kind, path } = chooseStore(options, layout);
  const isOwn = options.storePath === undefined;
  const common = {
    agentId,
    mainKey: options.config.session.mainKey,
    historyLimit: options.config.groups.historyLimit,
    durability: options.config.transcript.durability,
    pendingFile: isOwn ? layout.pending : undefined,
    transcriptsFolder: isOwn ? layout.sessionsFolder : undefined,
    mediaFolder: returnedMediaFolder(options.home),
    ...parts,
  };
  if (kind === "postgres") {
    const { createPostgresStore } = await import("../store/postgres/postgres-store.ts");
    const node = await openPostgresNode(options.config, parts.logger);
    const mediaFolder = mediaCopiesFolder(options.home);
    return await createPostgresStore({ ...common, node, copiesFolder: layout.copiesFolder, mediaFolder });
  }
  if (basename(path) === OPENCLAW_DATABASE_NAME) throw notOurs(path);
  if (options.create === false && !existsSync(path)) throw await noStore(options, agentId, path);

  if (kind === "json") {
    const { createJsonStore } = await import("../store/json/json-store.ts");
    await ensurePrivateFolder(dirname(path));
    return await createJsonStore({ ...common, path });
  }
  const { createSqliteStore } = await import("../store/sqlite/sqlite-store.ts");
  const viewPath = isOwn && options.config.store.view ? layout.sessionsFile : undefined;
  return await createSqliteStore({ ...common, path, execution: options.execution, viewPath });
}

function chooseStore(
  { storePath, config }: Pick<OpenAgentOptions, "storePath" | "config">,
  layout: ReturnType<typeof agentLayout>,
): { kind: StoreKind; path: string } {
  if (storePath !== undefined) return { kind: extname(storePath) === ".sqlite" ? "sqlite" : "json", path: storePath };
  const kind = config.store.kind;
  return { kind, path: kind === "json" ? layout.sessionsFile : layout.database };
}

/** All agents of a process share the connections to one database. */
const postgresNodes = lazy(async () => (await import("../store/postgres/node.ts")).createNodePool());

/** Close it after use; the last user closes the connections. */
async function openPostgresNode(config: HoldfastConfig, logger = silentLogger): Promise<PostgresNode> {
  return await (await postgresNodes.get()).open(postgresSettings(config), logger);
}

function postgresSettings({ store }: HoldfastConfig): PostgresSettings {
  const { url, directUrl, passwordFile, poolSize } = store;
  if (url === undefined) throw noStoreUrl();
  return { url, directUrl, passwordFile, poolSize };
}

function noStoreUrl(): HoldfastError {
  return new HoldfastError("usage", "store-url-missing", "The store is postgres, but store.url is not set", {
    hint: "Run `holdfast config set store.url postgres://user@host:5432/database`.",
  });
}

/** Opening it would change the files beside it. */
function notOurs(path: string): HoldfastError {
  return new HoldfastError("unsupported", "openclaw-database", `${path} is a database of OpenClaw`, {
    hint: "Run `holdfast import openclaw` to use its sessions here. Nothing was changed.",
    data: { path },
  });
}

/** Distinguishes a lost store from one that never existed. */
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
      hint: "Run `holdfast doctor --fix` to rebuild the store. Nothing was changed.",
      data: { agentId, path },
    });
  }
  const { describeOpenClawDatabases } = await import("../import/openclaw.ts");
  const start = "Start a conversation with `holdfast chat`, or name another agent with --agent.";
  return new HoldfastError("not-found", "store-not-found", `Agent "${agentId}" has no sessions yet (${path})`, {
    hint: (await describeOpenClawDatabases(options.home)) ?? start,
    data: { agentId, path },
  });
}

export async function listAgentIds(home: string): Promise<string[]> {
  const items = await readFolderIfPresent(agentsFolder(home));
  return items
    .filter((item) => item.isDirectory() && normalizeAgentId(item.name) === item.name)
    .map((item) => item.name)
    .toSorted();
}
