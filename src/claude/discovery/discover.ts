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
import type { IndexedSession, NativeIndex, RefreshOptions, RefreshReport } from "../index/native-index.ts";
import { readRunningSessions } from "../native/layout.ts";
import { type RegistryProblem, mergeRegistered, readRegistries } from "../registry/registry.ts";
import { createRepoLocator, createRepoPathFinder } from "./repo-locator.ts";
import type { Places } from "./repo-scope.ts";
import {
  type RowOptions,
  type SessionSources,
  agentsOfSources,
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
  const { limit = Number.POSITIVE_INFINITY } = options;
  const active = activeSources(search);
  const others = otherSources(search);
  const sessions: DiscoveredSession[] = [];
  let total = 0;
  for (const sources of sourcesOf(search, active, others)) {
    total += 1;
    if (total <= limit) sessions.push(toRow(sources, search.rowOptions));
    else if (!search.isFiltered) break;
  }
  if (total > limit && !search.isFiltered) total = countAll(search, active) + others.length;
  return { ...facts, sessions, total, activeCount: active.length };
}

/** The number of sessions with a transcript or a process. */
function countAll({ places }: Search, active: readonly SessionSources[]): number {
  const counted = active.filter(({ native }) => native !== undefined && places.covers(native)).length;
  return places.countSessions() + active.length - counted;
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

function* rowTexts(search: Search, active: readonly SessionSources[]): Generator<string> {
  for (const sources of sourcesOf(search, active, otherSources(search))) yield toRowText(sources, search.rowOptions);
}

interface Search extends KnownSessions {
  index: NativeIndex;
  places: Places;
  rowOptions: RowOptions;
  options: DiscoverOptions;
  /** The options exclude some sessions of the places. */
  isFiltered: boolean;
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
    search: { ...known, index, places: places ?? everywhere, rowOptions, options, isFiltered: isFiltered(options) },
    facts: { repoPath: scope?.root, problems: known.problems, refreshed },
  };
}

function isFiltered({ ofAgent, since, onlyRunning }: DiscoverOptions): boolean {
  return ofAgent !== undefined || since !== undefined || onlyRunning === true;
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

/** Every wanted session: running ones, then the newest. Reads transcripts from the index as they are needed. */
function* sourcesOf(
  search: Search,
  active: readonly SessionSources[],
  others: readonly SessionSources[],
): Generator<SessionSources> {
  const { index, places, running, options } = search;
  yield* active;
  if (options.onlyRunning === true) return;
  // A session that was moved or copied may be in two project folders.
  const seen = new Set<string>(running.keys());
  let next = 0;
  const natives = index.list({ folders: places.folders, modifiedSince: options.since });
  for (const native of places.folders?.length === 0 ? [] : natives) {
    const sources = withSources(search, native.sessionId, native);
    if (seen.has(native.sessionId) || !places.covers(native) || !isWanted(sources, options)) continue;
    seen.add(native.sessionId);
    for (let other = others[next]; other !== undefined && newestFirst(other, sources) < 0; other = others[++next]) {
      yield other;
    }
    yield sources;
  }
  yield* others.slice(next);
}

/** Running sessions, newest first. They may have no transcript yet. */
function activeSources(search: Search): SessionSources[] {
  return findSources(search, [...search.running.keys()]).filter(
    (sources) => belongs(sources, search.places) && isWanted(sources, search.options),
  );
}

/** Newest first. Of a session in two project folders, the newer transcript counts. */
function findSources(search: Search, ids: readonly string[]): SessionSources[] {
  const natives = new Map<string, IndexedSession>();
  for (const native of search.index.list({ sessionIds: ids })) {
    if (!natives.has(native.sessionId)) natives.set(native.sessionId, native);
  }
  return ids.map((id) => withSources(search, id, natives.get(id))).sort(newestFirst);
}

function withSources(known: KnownSessions, sessionId: string, native: IndexedSession | undefined): SessionSources {
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

function isWanted(sources: SessionSources, { ofAgent }: DiscoverOptions): boolean {
  return ofAgent === undefined || agentsOfSources(sources).includes(ofAgent);
}

/** Sessions in a registry or the archive that do not run and have no transcript in the searched places. */
function otherSources(search: Search): SessionSources[] {
  const { index, places, registered, archive, running, options } = search;
  if (options.onlyRunning === true) return [];
  const ids = new Set(
    [...registered.values()]
      .filter(({ repoPaths }) => repoPaths.some((path) => places.coversPath(path)))
      .map(({ sessionId }) => sessionId),
  );
  for (const session of archive.values()) {
    const { sessionId } = session;
    if (places.covers(session) && index.get(sessionId) === undefined) ids.add(sessionId);
  }
  for (const id of running.keys()) ids.delete(id);
  return findSources(search, [...ids])
    .filter(({ native }) => native === undefined || !places.covers(native))
    .filter((sources) => isWanted(sources, options) && lastModifiedOf(sources) >= (options.since ?? 0));
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
  return toRow(withSources(known, id, index.get(id)), rowOptionsOf(known, repoPathOf, options));
}

function ambiguous(prefix: string, ids: readonly string[]): HoldfastError {
  const shown = ids.toSorted().slice(0, MAX_CANDIDATES);
  const list = `${shown.join(", ")}${ids.length > shown.length ? ", …" : ""}`;
  return new HoldfastError("usage", "ambiguous-prefix", `"${prefix}" matches several sessions: ${list}`, {
    hint: "Give more of the id.",
    data: { candidates: shown },
  });
}
