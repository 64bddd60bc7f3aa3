/** `holdfast migrate`: copies this home into a PostgreSQL database, or back. The source is only read. */
import { closing } from "../../base/async.ts";
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import { createLogger } from "../../base/log.ts";
import { openAgent, openDocuments } from "../../compose/agent.ts";
import { openSharedRegistry } from "../../compose/shared-registry.ts";
import { configuredAccounts } from "../../config/config.ts";
import { agentLayout, channelLayout, channelsFolder } from "../../config/layout.ts";
import {
  type CopiedKind,
  type CopyCounts,
  copyAgent,
  copyDocuments,
  copyFiles,
  emptyCounts,
} from "../../import/copy-store.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { StoreKind } from "../../store/store.ts";
import type { Flags, Texts } from "../command.ts";
import { type Setup, knownAgentIds, loadSetup, withExistingAgent } from "../context.ts";
import { findRunningGateway } from "../gateway-client.ts";
import { print, printJson, printTable, right, talk, waitingLine } from "../output.ts";

const DIRECTIONS = ["sqlite-to-postgres", "postgres-to-sqlite"] as const;

type MigrateOptions = Flags<"json" | "dryRun"> & Texts<"url">;

export async function migrate(direction: string, options: MigrateOptions): Promise<void> {
  const [from, to] = kindsOf(direction);
  const { dryRun = false } = options;
  const setup = await loadSetup();
  const url = options.url ?? setup.config.store.url;
  if (url === undefined) throw noUrl();
  if ((await findRunningGateway(setup)) !== undefined) throw gatewayRuns();
  const source = withStore(setup, from, url);
  const target = withStore(setup, to, url);
  using _waiting = waitingLine(dryRun ? "Comparing" : "Copying");
  const agents: { agentId: string; counts: CopyCounts }[] = [];
  for (const agentId of await knownAgentIds(setup)) {
    const counts = await withExistingAgent(source, agentId, async (agent) => {
      await requireIdle(agent);
      return await copyTo(target, agent, dryRun);
    });
    if (counts !== undefined) agents.push({ agentId, counts });
  }
  const channels = emptyCounts().documents;
  for (const folder of documentFolders(setup)) {
    const [read, written] = await Promise.all([openDocuments(source, folder), openDocuments(target, folder)]);
    await copyDocuments(read, written, channels, { dryRun });
  }
  const files = await copyReceived(target, dryRun);
  if (!dryRun) await copyRegistries(to === "postgres" ? target : source, to);
  if (options.json === true) printJson({ schema: 1, ok: true, direction, dryRun, agents, channels, files });
  else printCopied([...agents, { agentId: "", counts: { documents: channels, files } }], { to, dryRun });
}

function kindsOf(direction: string): [StoreKind, StoreKind] {
  if (direction === "sqlite-to-postgres") return ["sqlite", "postgres"];
  if (direction === "postgres-to-sqlite") return ["postgres", "sqlite"];
  throw new HoldfastError("usage", "unknown-direction", `"${direction}" is not a direction`, {
    hint: `Use ${DIRECTIONS.join(" or ")}.`,
  });
}

function withStore({ home, config }: Setup, kind: StoreKind, url: string): Setup {
  return { home, config: { ...config, store: { ...config.store, kind, url } } };
}

async function copyTo(target: Setup, from: AgentHandle, dryRun: boolean): Promise<CopyCounts> {
  const to = await openAgent({ ...target, agentId: from.agentId });
  await using _closing = closing(to.store);
  return await copyAgent(from, to, { dryRun });
}

async function copyReceived(target: Setup, dryRun: boolean): Promise<CopyCounts["files"]> {
  const counts = emptyCounts().files;
  const { store } = await openAgent(target);
  await using _closing = closing(store);
  for (const { name, accountId } of configuredAccounts(target.config)) {
    await copyFiles(channelLayout(target.home, name, accountId).mediaFolder, store.media, counts, { dryRun });
  }
  return counts;
}

/** Which Claude Code sessions the agents use on this machine. A file or document that is there is newer. */
async function copyRegistries({ home, config }: Setup, to: StoreKind): Promise<void> {
  const logger = createLogger({ level: config.log.level });
  const shared = openSharedRegistry({ home, config, clock: systemClock, logger });
  if (to !== "postgres") return await shared?.restore();
  for (const agentId of await knownAgentIds({ home, config })) {
    if (await fileExists(agentLayout(home, agentId).claudeRegistry)) await shared?.save(agentId);
  }
}

/** Another machine may use the database. */
async function requireIdle({ store }: AgentHandle): Promise<void> {
  for (const { key } of await store.leases.list()) {
    const held = await store.leases.current({ key });
    if (held !== undefined) throw inUse(key, `${held.process.host}, process ${held.process.pid}`);
  }
}

/** Pairing, read positions and keys of linked devices. */
function documentFolders({ home, config }: Setup): string[] {
  const accounts = configuredAccounts(config).flatMap(({ name, accountId }) => {
    const { root, authFolder } = channelLayout(home, name, accountId);
    return [root, authFolder];
  });
  return [channelsFolder(home), ...accounts];
}

const TITLES: Readonly<Record<CopiedKind, string>> = {
  sessions: "sessions",
  windows: "windows",
  transcripts: "transcripts",
  archivedSessions: "archived sessions",
  handoffs: "hand-offs",
  groupMessages: "group messages",
  systemEvents: "system events",
  waitingMessages: "waiting messages",
  waitingReplies: "waiting replies",
  documents: "channel documents",
  files: "received files",
};

function printCopied(
  agents: readonly { agentId: string; counts: Partial<CopyCounts> }[],
  { to, dryRun }: { to: StoreKind; dryRun: boolean },
): void {
  const rows = agents
    .flatMap(({ agentId, counts }) =>
      Object.entries(counts).map(([kind, count]) => ({ agentId, kind: kind as CopiedKind, count })),
    )
    .filter(({ count }) => count.found > 0);
  if (rows.length === 0) print("There is nothing to copy.");
  else {
    printTable(
      ["AGENT", "", right("FOUND"), right(dryRun ? "TO COPY" : "COPIED")],
      rows.map(({ agentId, kind, count }) => [agentId, TITLES[kind], String(count.found), String(count.copied)]),
    );
  }
  if (dryRun) talk("Nothing was changed. Run it again without --dry-run to copy.");
  else talk(`The source was not changed. To use the copy: holdfast config set store.kind ${to}`);
}

function noUrl(): HoldfastError {
  return new HoldfastError("usage", "store-url-missing", "No database is named", {
    hint: "Add --url postgres://user@host:5432/database, or set store.url.",
  });
}

function gatewayRuns(): HoldfastError {
  return new HoldfastError("conflict", "gateway-runs", "The gateway of this home is running", {
    hint: "Stop it first: holdfast gateway stop.",
  });
}

function inUse(key: string, holder: string): HoldfastError {
  return new HoldfastError("conflict", "session-in-use", `${key} is in use (${holder})`, {
    hint: "Stop all gateways that use this store, and try again.",
    data: { key },
  });
}
