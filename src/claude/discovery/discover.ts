/**
 * Every Claude Code session of a repo, or of all, whoever started it: Claude Code's transcripts, the
 * registries of all agents, living processes and the archive, one row per session id. Running ones
 * come first, then the newest.
 *
 * Which sessions belong to a repo is decided once per place of work, and rows are built only for those
 * that are returned: a page of ten thousand sessions costs a page.
 */
import type { DiscoveredSession } from "../discovered-session.ts";
import type {
  IndexQuery,
  IndexedFile,
  IndexedSession,
  NativeIndex,
  RefreshOptions,
  RefreshReport,
} from "../index/native-index.ts";
import type { RegistryProblem } from "../registry/registry.ts";
import { type KnownSessions, type SessionPlaces, readKnownSessions } from "./known-sessions.ts";
import { type Places, createRepoPathOf, placesOf } from "./places.ts";
import { createRepoLocator } from "./repo-locator.ts";
import { type RowOptions, type SessionSources, agentOf, lastModifiedOf, toRow, toRowText } from "./session-row.ts";

export interface DiscoverOptions extends SessionPlaces {
  index: NativeIndex;
  /** Who asks: its sessions are `this-agent`. */
  agentId?: string;
  maxBudgetUsd?: number;
  /** Only sessions of this agent. */
  ofAgent?: string;
  onlyRunning?: boolean;
  /** Only sessions that changed since, in ms; running ones always. */
  since?: number;
  /** At most so many rows; `total` counts the others too. */
  limit?: number;
  /** False when the caller has brought the index up to date already. */
  refresh?: false | RefreshOptions;
}

export interface Discovery {
  sessions: DiscoveredSession[];
  /** How many there are, whatever the limit. */
  total: number;
  activeCount: number;
  /** The main worktree, or the folder that was asked for; undefined when all repos were. */
  repoPath?: string;
  /** Registries that could not be read. */
  problems: RegistryProblem[];
  refreshed?: RefreshReport;
}

/** `repoPath` undefined: the sessions of all repos. */
export async function discoverSessions(
  repoPath: string | undefined,
  options: DiscoverOptions,
): Promise<DiscoveredSession[]> {
  return (await discover(repoPath, options)).sessions;
}

export async function discover(repoPath: string | undefined, options: DiscoverOptions): Promise<Discovery> {
  const { world, found } = await look(repoPath, options);
  const active = activeSources(world).filter((sources) => isWanted(sources, options));
  const { rest, total } = restSources(world, options, active);
  const chosen = [...active, ...rest].slice(0, options.limit ?? Number.POSITIVE_INFINITY);
  const rowOptions = { ...options, repoPathOf: world.repoPathOf };
  return {
    ...found,
    sessions: chosen.map((sources) => toRow(sources, rowOptions)),
    total: active.length + total,
    activeCount: active.length,
  };
}

export interface DiscoveryTexts extends Omit<Discovery, "sessions" | "total"> {
  /** The JSON of one `DiscoveredSession` after the other. */
  rows: Iterable<string>;
}

/** As `discover` without a limit, for whoever only passes the rows on: thousands of them never become objects. */
export async function discoverTexts(
  repoPath: string | undefined,
  options: Omit<DiscoverOptions, "limit">,
): Promise<DiscoveryTexts> {
  const { world, found } = await look(repoPath, options);
  const active = activeSources(world).filter((sources) => isWanted(sources, options));
  return { ...found, rows: rowTexts(world, options, active), activeCount: active.length };
}

type Found = Omit<Discovery, "sessions" | "total" | "activeCount">;

async function look(repoPath: string | undefined, options: DiscoverOptions): Promise<{ world: World; found: Found }> {
  const { index } = options;
  const locator = createRepoLocator();
  // Git's answer is on its way while the files are looked at. A list of everything needs neither git nor its module.
  const asked = repoPath === undefined ? undefined : await import("./repo-scope.ts");
  const [scope, known, refreshed] = await Promise.all([
    repoPath === undefined ? undefined : asked?.findRepoScope(repoPath, locator),
    readKnownSessions(options),
    options.refresh === false ? undefined : index.refresh(options.refresh),
  ]);
  const places = await placesOf(scope, index, locator);
  return {
    world: { ...known, index, places, repoPathOf: createRepoPathOf(scope, locator) },
    found: {
      ...(scope === undefined ? {} : { repoPath: scope.root }),
      problems: known.problems,
      ...(refreshed === undefined ? {} : { refreshed }),
    },
  };
}

/** The row of one session that is known to exist. */
export function discoverOne(sessionId: string, known: KnownSessions, options: DiscoverOptions): DiscoveredSession {
  const sources = sourcesOf(known, sessionId, options.index.get(sessionId));
  return toRow(sources, { ...options, repoPathOf: createRepoPathOf(undefined, createRepoLocator()) });
}

interface World extends KnownSessions {
  index: NativeIndex;
  places: Places;
  repoPathOf: RowOptions["repoPathOf"];
}

/** Sessions of living processes, newest first; they may have no transcript yet. */
function activeSources(world: World): SessionSources[] {
  const ids = [...world.running.keys()];
  const natives = newestById(world.index.list({ sessionIds: ids }));
  return ids
    .map((id) => sourcesOf(world, id, natives.get(id)))
    .filter((sources) => belongs(sources, world.places))
    .sort(newestFirst);
}

/** A session may lie in two project folders when somebody moved or copied it. */
function newestById(newestFirst: readonly IndexedSession[]): Map<string, IndexedSession> {
  const natives = new Map<string, IndexedSession>();
  for (const native of newestFirst) if (!natives.has(native.sessionId)) natives.set(native.sessionId, native);
  return natives;
}

function sourcesOf(known: KnownSessions, sessionId: string, native: IndexedSession | undefined): SessionSources {
  return {
    sessionId,
    native,
    archive: native === undefined ? known.archive.get(sessionId) : undefined,
    registered: known.registered.get(sessionId),
    running: known.running.get(sessionId),
  };
}

function belongs({ native, archive, registered, running }: SessionSources, places: Places): boolean {
  const transcript = native ?? archive;
  if (transcript !== undefined && places.covers(transcript)) return true;
  if (registered !== undefined && places.coversPath(registered.repoPath)) return true;
  return running?.cwd !== undefined && places.coversPath(running.cwd);
}

function isWanted(sources: SessionSources, { ofAgent }: DiscoverOptions): boolean {
  return ofAgent === undefined || agentOf(sources) === ofAgent;
}

/** The sessions that do not run: at least as many as are wanted, newest first, and the number of all. */
function restSources(
  world: World,
  options: DiscoverOptions,
  active: readonly SessionSources[],
): { rest: SessionSources[]; total: number } {
  if (options.onlyRunning === true) return { rest: [], total: 0 };
  const others = otherSources(world, options);
  const isFiltered = options.ofAgent !== undefined || options.since !== undefined;
  const wanted = options.limit === undefined || isFiltered ? undefined : Math.max(0, options.limit - active.length);
  const natives = nativeSources(world, options, wanted);
  const inPlaces = active.filter(({ native }) => native !== undefined && world.places.covers(native)).length;
  const total = (wanted === undefined ? natives.length : world.places.countSessions() - inPlaces) + others.length;
  return { rest: [...natives, ...others].sort(newestFirst), total };
}

/** Those of transcripts in these places. */
function nativeSources(world: World, options: DiscoverOptions, wanted: number | undefined): SessionSources[] {
  const { index, places, running } = world;
  if (wanted === 0 || places.folders?.length === 0) return [];
  const query = nativeQuery(places, options);
  // A project folder may hold sessions of other places, and running ones are listed already.
  for (let limit = wanted === undefined ? undefined : wanted + running.size; ; limit *= 4) {
    const listed = index.list(limit === undefined ? query : { ...query, limit });
    const fitting = [...newestById(listed).values()]
      .filter((native) => !running.has(native.sessionId) && places.covers(native))
      .map((native) => sourcesOf(world, native.sessionId, native))
      .filter((sources) => isWanted(sources, options));
    if (limit === undefined || listed.length < limit || fitting.length >= (wanted ?? 0)) return fitting;
  }
}

function nativeQuery({ folders }: Places, { since }: DiscoverOptions): IndexQuery {
  return {
    ...(folders === undefined ? {} : { folders }),
    ...(since === undefined ? {} : { modifiedSince: since }),
  };
}

/** Those that no transcript in these places tells of: in a registry or the archive, and not running. */
function otherSources(world: World, options: DiscoverOptions): SessionSources[] {
  const { index, places, registered, archive, running } = world;
  const ids = [...registered.values()]
    .filter(({ sessionId, repoPath }) => !running.has(sessionId) && places.coversPath(repoPath))
    .map(({ sessionId }) => sessionId);
  const natives = newestById(index.list({ sessionIds: ids }));
  const others = ids
    .map((id) => sourcesOf(world, id, natives.get(id)))
    .filter(({ native }) => native === undefined || !places.covers(native));
  const seen = new Set(ids);
  for (const session of archive.values()) {
    const { sessionId } = session;
    if (seen.has(sessionId) || running.has(sessionId) || !places.covers(session)) continue;
    if (index.get(sessionId) === undefined) others.push(sourcesOf(world, sessionId, undefined));
  }
  return others.filter((sources) => isWanted(sources, options) && lastModifiedOf(sources) >= (options.since ?? 0));
}

function* rowTexts(world: World, options: DiscoverOptions, active: readonly SessionSources[]): Generator<string> {
  const { index, places, running, registered } = world;
  const rowOptions = { ...options, repoPathOf: world.repoPathOf };
  const asText = (sources: SessionSources): string => JSON.stringify(toRow(sources, rowOptions));
  for (const sources of active) yield asText(sources);
  if (options.onlyRunning === true) return;
  const others = otherSources(world, options).sort(newestFirst);
  const query = nativeQuery(places, options);
  const seen = new Set<string>(running.keys());
  let next = 0;
  for (const text of places.folders?.length === 0 ? [] : index.texts(query)) {
    const { sessionId } = text;
    if (seen.has(sessionId)) continue;
    seen.add(sessionId);
    const entry = registered.get(sessionId);
    const isOfAgent = options.ofAgent === undefined || (entry?.agentId ?? text.originMarker) === options.ofAgent;
    if (!isOfAgent || !places.covers(text)) continue;
    for (let other = others[next]; other !== undefined && isNewer(other, text); other = others[++next]) {
      yield asText(other);
    }
    if (entry === undefined) yield toRowText(text, rowOptions);
    else yield asText(sourcesOf(world, sessionId, index.list({ ...query, sessionIds: [sessionId], limit: 1 })[0]));
  }
  for (const other of others.slice(next)) yield asText(other);
}

function isNewer(other: SessionSources, { modifiedAt, sessionId }: IndexedFile): boolean {
  const age = lastModifiedOf(other) - modifiedAt;
  return age > 0 || (age === 0 && other.sessionId < sessionId);
}

function newestFirst(a: SessionSources, b: SessionSources): number {
  return lastModifiedOf(b) - lastModifiedOf(a) || (a.sessionId < b.sessionId ? -1 : 1);
}
