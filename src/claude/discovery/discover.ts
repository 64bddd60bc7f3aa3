/**
 * Finds every Claude Code session of a repo, or of all repos: in Claude Code's transcripts, the registries of all agents,
 * the running processes and the archive. One row per session id, running sessions first, then newest first.
 *
 * Whether sessions belong to a repo is decided once per working place, and rows are built only for the result, so a
 * page of ten thousand sessions costs a page.
 */
import { HoldfastError } from "../../base/errors.ts";
import { readArchive } from "../archive/catalogue.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type {
  IndexQuery,
  IndexedFile,
  IndexedSession,
  NativeIndex,
  RefreshOptions,
  RefreshReport,
} from "../index/native-index.ts";
import { readRunningSessions } from "../native/running.ts";
import { type RegistryProblem, mergeRegistered, readRegistries } from "../registry/registry.ts";
import { createRepoLocator, createRepoPathFinder } from "./repo-locator.ts";
import type { Places } from "./repo-scope.ts";
import {
  type RowOptions,
  type SessionSources,
  agentsOfSources,
  isOfAgent,
  lastModifiedOf,
  toRow,
  toRowText,
} from "./session-row.ts";

export interface DiscoverOptions {
  claudeHome: string;
  home: string;
  /** Also reads the registries of OpenClaw. Optional. */
  openClawHome?: string | undefined;
  index: NativeIndex;
  /** The calling agent: its sessions are `this-agent`. */
  agentId?: string | undefined;
  maxBudgetUsd?: number | undefined;
  ofAgent?: string | undefined;
  onlyRunning?: boolean | undefined;
  /** Only sessions that changed since then, in ms. Running sessions are always included. */
  since?: number | undefined;
  /** Maximum number of rows. `total` counts all sessions. */
  limit?: number | undefined;
  /** False when the index is up to date. */
  refresh?: false | RefreshOptions | undefined;
}

export interface Discovery extends DiscoveryFacts {
  sessions: DiscoveredSession[];
  total: number;
}

export interface DiscoveryTexts extends DiscoveryFacts {
  /** Each row is a `DiscoveredSession` as JSON. */
  rows: Iterable<string>;
}

interface DiscoveryFacts {
  activeCount: number;
  /** The main worktree, or the requested folder. Undefined for all repos. */
  repoPath?: string | undefined;
  problems: RegistryProblem[];
  refreshed?: RefreshReport | undefined;
}

/** Without `repoPath`: the sessions of all repos. */
export async function discover(repoPath: string | undefined, options: DiscoverOptions): Promise<Discovery> {
  const { search, facts } = await startSearch(repoPath, options);
  const active = activeSources(search);
  const { rest, total } = restSources(search, active);
  const chosen = [...active, ...rest].slice(0, options.limit ?? Number.POSITIVE_INFINITY);
  return {
    ...facts,
    sessions: chosen.map((sources) => toRow(sources, search.rowOptions)),
    total: active.length + total,
    activeCount: active.length,
  };
}

/** The rows of `discover` as JSON, without making thousands of objects. */
export async function discoverTexts(
  repoPath: string | undefined,
  options: Omit<DiscoverOptions, "limit">,
): Promise<DiscoveryTexts> {
  const { search, facts } = await startSearch(repoPath, options);
  const active = activeSources(search);
  return { ...facts, rows: rowTexts(search, active), activeCount: active.length };
}

interface Search extends KnownSessions {
  index: NativeIndex;
  places: Places;
  rowOptions: RowOptions;
  options: DiscoverOptions;
}

async function startSearch(
  repoPath: string | undefined,
  options: DiscoverOptions,
): Promise<{ search: Search; facts: Omit<DiscoveryFacts, "activeCount"> }> {
  const { index } = options;
  const locator = createRepoLocator();
  // A list of all repos needs neither git nor this module.
  const repoScope = repoPath === undefined ? undefined : await import("./repo-scope.ts");
  const [scope, known, refreshed] = await Promise.all([
    repoPath === undefined ? undefined : repoScope?.findRepoScope(repoPath, locator),
    readKnownSessions(options),
    options.refresh === false ? undefined : index.refresh(options.refresh),
  ]);
  const everywhere: Places = { covers: () => true, coversPath: () => true, countSessions: () => index.count() };
  const places = scope === undefined ? undefined : repoScope?.placesOf(scope, index, locator);
  const repoPathOf = scope === undefined ? createRepoPathFinder(locator) : () => scope.root;
  const rowOptions = rowOptionsOf(known, repoPathOf, options);
  return {
    search: { ...known, index, places: places ?? everywhere, rowOptions, options },
    facts: { repoPath: scope?.root, problems: known.problems, refreshed },
  };
}

function rowOptionsOf(
  { registered }: KnownSessions,
  repoPathOf: RowOptions["repoPathOf"],
  { agentId, maxBudgetUsd }: DiscoverOptions,
): RowOptions {
  return { agentId, maxBudgetUsd, repoPathOf, conversationOf: (id) => registered.get(id)?.conversation };
}

/** Facts about sessions from other sources than their transcripts, by session id. */
type KnownSessions = Awaited<ReturnType<typeof readKnownSessions>>;

async function readKnownSessions(options: DiscoverOptions) {
  const [{ registries, problems }, running, archive] = await Promise.all([
    readRegistries(options),
    readRunningSessions(options.claudeHome),
    readArchive(options.home),
  ]);
  return {
    registered: mergeRegistered(registries),
    running: new Map(running.map((one) => [one.sessionId, one])),
    archive,
    problems,
  };
}

/** Running sessions, newest first. They may have no transcript yet. */
function activeSources(search: Search): SessionSources[] {
  const ids = [...search.running.keys()];
  const natives = newestById(search.index.list({ sessionIds: ids }));
  return ids
    .map((id) => sourcesOf(search, id, natives.get(id)))
    .filter((sources) => belongs(sources, search.places) && isWanted(sources, search))
    .sort(newestFirst);
}

/** A session that was moved or copied may be in two project folders. */
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
  if (registered !== undefined && registered.repoPaths.some((path) => places.coversPath(path))) return true;
  return running?.cwd !== undefined && places.coversPath(running.cwd);
}

function isWanted(sources: SessionSources, { options: { ofAgent } }: Search): boolean {
  return ofAgent === undefined || isOfAgent(sources, ofAgent);
}

/** Sessions that do not run: at least as many as needed, newest first, and the total number. */
function restSources(search: Search, active: readonly SessionSources[]): { rest: SessionSources[]; total: number } {
  const { limit, onlyRunning, ofAgent, since } = search.options;
  if (onlyRunning === true) return { rest: [], total: 0 };
  const others = otherSources(search);
  const isFiltered = ofAgent !== undefined || since !== undefined;
  const needed = limit === undefined || isFiltered ? undefined : Math.max(0, limit - active.length);
  const natives = nativeSources(search, needed);
  const inPlaces = active.filter(({ native }) => native !== undefined && search.places.covers(native)).length;
  const total = (needed === undefined ? natives.length : search.places.countSessions() - inPlaces) + others.length;
  return { rest: [...natives, ...others].sort(newestFirst), total };
}

function nativeSources(search: Search, needed: number | undefined): SessionSources[] {
  const { index, places, running } = search;
  if (needed === 0 || places.folders?.length === 0) return [];
  // A project folder may hold sessions of other places, and running ones are already listed.
  for (let limit = needed === undefined ? undefined : needed + running.size; ; limit *= 4) {
    const listed = index.list({ ...nativeQuery(search), limit });
    const fitting = [...newestById(listed).values()]
      .filter((native) => !running.has(native.sessionId) && places.covers(native))
      .map((native) => sourcesOf(search, native.sessionId, native))
      .filter((sources) => isWanted(sources, search));
    if (limit === undefined || listed.length < limit || fitting.length >= (needed ?? 0)) return fitting;
  }
}

function nativeQuery({ places, options }: Search): IndexQuery {
  return { folders: places.folders, modifiedSince: options.since };
}

/** Sessions in a registry or the archive that do not run and have no transcript in the searched places. */
function otherSources(search: Search): SessionSources[] {
  const { index, places, registered, archive, running, options } = search;
  const ids = [...registered.values()]
    .filter(({ sessionId, repoPaths }) => !running.has(sessionId) && repoPaths.some((path) => places.coversPath(path)))
    .map(({ sessionId }) => sessionId);
  const natives = newestById(index.list({ sessionIds: ids }));
  const others = ids
    .map((id) => sourcesOf(search, id, natives.get(id)))
    .filter(({ native }) => native === undefined || !places.covers(native));
  const seen = new Set(ids);
  for (const session of archive.values()) {
    const { sessionId } = session;
    if (seen.has(sessionId) || running.has(sessionId) || !places.covers(session)) continue;
    if (index.get(sessionId) === undefined) others.push(sourcesOf(search, sessionId, undefined));
  }
  return others.filter((sources) => isWanted(sources, search) && lastModifiedOf(sources) >= (options.since ?? 0));
}

function* rowTexts(search: Search, active: readonly SessionSources[]): Generator<string> {
  const { index, places, running, registered, rowOptions, options } = search;
  const asText = (sources: SessionSources): string => JSON.stringify(toRow(sources, rowOptions));
  for (const sources of active) yield asText(sources);
  if (options.onlyRunning === true) return;
  const others = otherSources(search).sort(newestFirst);
  const query = nativeQuery(search);
  const seen = new Set<string>(running.keys());
  let next = 0;
  for (const text of places.folders?.length === 0 ? [] : index.texts(query)) {
    const { sessionId } = text;
    if (seen.has(sessionId)) continue;
    seen.add(sessionId);
    const entry = registered.get(sessionId);
    const agents = agentsOfSources({ registered: entry, originMarker: text.originMarker });
    if ((options.ofAgent !== undefined && !agents.includes(options.ofAgent)) || !places.covers(text)) continue;
    for (let other = others[next]; other !== undefined && isNewer(other, text); other = others[++next]) {
      yield asText(other);
    }
    if (entry === undefined) yield toRowText(text, rowOptions);
    else yield asText(sourcesOf(search, sessionId, index.list({ ...query, sessionIds: [sessionId], limit: 1 })[0]));
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

const MIN_PREFIX = 4;
const MAX_CANDIDATES = 10;

/** Finds one session by its id or a prefix of it. Throws when none or several match. */
export async function findDiscovered(idOrPrefix: string, options: DiscoverOptions): Promise<DiscoveredSession> {
  const prefix = idOrPrefix.trim().toLowerCase();
  if (prefix.length < MIN_PREFIX) {
    throw new HoldfastError("usage", "prefix-too-short", `"${idOrPrefix}" is too short to name a session`, {
      hint: `Give the session id or at least its first ${MIN_PREFIX} characters.`,
    });
  }
  const { index } = options;
  const [known] = await Promise.all([
    readKnownSessions(options),
    options.refresh === false ? undefined : index.refresh(options.refresh),
  ]);
  const others = [...known.registered.keys(), ...known.running.keys(), ...known.archive.keys()];
  const matching = new Set([
    ...index.findByPrefix(prefix, MAX_CANDIDATES + 1),
    ...others.filter((id) => id.toLowerCase().startsWith(prefix)),
  ]);
  const exact = [...matching].filter((id) => id.toLowerCase() === prefix);
  const [id, second] = exact.length > 0 ? exact : matching;
  if (id === undefined) {
    throw new HoldfastError("not-found", "native-session-not-found", `No Claude Code session matches "${idOrPrefix}"`, {
      hint: "`holdfast cc list --all` shows every session.",
    });
  }
  if (second !== undefined) throw ambiguous(idOrPrefix, [...matching]);
  const repoPathOf = createRepoPathFinder(createRepoLocator());
  return toRow(sourcesOf(known, id, index.get(id)), rowOptionsOf(known, repoPathOf, options));
}

function ambiguous(prefix: string, ids: readonly string[]): HoldfastError {
  const shown = ids.toSorted().slice(0, MAX_CANDIDATES);
  const list = `${shown.join(", ")}${ids.length > shown.length ? ", …" : ""}`;
  return new HoldfastError("usage", "ambiguous-prefix", `"${prefix}" matches several sessions: ${list}`, {
    hint: "Give more of the id.",
    data: { candidates: shown },
  });
}
