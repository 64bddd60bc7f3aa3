/**
 * Which native session an agent uses for which repo, and its cost. OpenClaw's format: one session
 * per repo, plus one per label. A replaced session is kept as a former one, so its work still counts as the
 * agent's own.
 */
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { readFolderIfPresent, realPath } from "../../base/files.ts";
import { type JsonRecord, isRecord, listOf } from "../../base/json-record.ts";
import { CLAUDE_REGISTRY_NAME, agentLayout, agentsFolder } from "../../config/layout.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { checkAgentId } from "../attribution.ts";
import type { SessionSelection } from "../selection/selection.ts";
import {
  type KeptDecision,
  keepDecision,
  keptDecisions,
  type RegisteredSession,
  type RegistryDocument,
  type RegistryFileOptions,
  amount,
  changeRegistryFile,
  isChatLabel,
  keepNewest,
  ownPart,
  readRegistryFile,
  registeredSessions,
  registryKey,
  roundSum,
} from "./registry-file.ts";

export interface RegistryPlace extends RegistryFileOptions {
  home: string;
  agentId: string;
}

export function registryPath({ home, agentId }: RegistryPlace): string {
  checkAgentId(agentId);
  return agentLayout(home, agentId).claudeRegistry;
}

export interface SaveSessionOptions {
  /** The worktree that it works in. */
  repoPath: string;
  label?: string | undefined;
  /** The session key of the chat that uses it. Default: none, it works on a task. */
  conversation?: string | undefined;
  sessionId: string;
  task?: string | undefined;
  /** Why it runs in this session. Default: nothing is kept about it. */
  decision?: SessionSelection | undefined;
}

const MAX_TASKS = 50;
const MAX_TASK_LENGTH = 500;
const MAX_FORMER = 1000;
const MAX_LABEL_LENGTH = 100;

/** Records that a session was started or resumed. It replaces the session of the same repo and label. */
export async function saveSession(place: RegistryPlace, options: SaveSessionOptions): Promise<void> {
  const { sessionId, conversation, task, decision } = options;
  checkSessionId(sessionId);
  const label = options.label === undefined ? undefined : checkLabel(options.label);
  const repoPath = canonicalPath(options.repoPath);
  const at = new Date((place.clock ?? systemClock).now()).toISOString();
  await changeRegistryFile(registryPath(place), place, (document) => {
    const key = keyOf(document, repoPath, label) ?? registryKey(repoPath, label);
    const record = takeRecord(document, key, { sessionId, repoPath, label }) ?? {
      sessionId,
      createdAt: at,
      totalCostUsd: 0,
      totalTurns: 0,
    };
    const added = task === undefined ? [] : [{ task: cut(task), at }];
    document.sessions[key] = {
      ...record,
      repoPath,
      lastResumedAt: at,
      taskHistory: [...listOf(record["taskHistory"]), ...added].slice(-MAX_TASKS),
      ...(label === undefined ? {} : { label }),
      ...(conversation === undefined ? {} : { conversation }),
    };
    if (decision !== undefined) keepDecision(document, { at, sessionId, repoPath, task: cut(task ?? "") }, decision);
  });
}

type SavedSession = Pick<SaveSessionOptions, "sessionId" | "repoPath" | "label">;

/** The key of an existing entry for this place, which may use another path to the same folder. */
function keyOf(document: RegistryDocument, repoPath: string, label: string | undefined): string | undefined {
  const exact = registryKey(repoPath, label);
  if (isRecord(document.sessions[exact])) return exact;
  return Object.keys(document.sessions).find((key) => {
    const [session] = registeredSessions("", { sessions: { [key]: document.sessions[key] } });
    return session !== undefined && session.label === label && canonicalPath(session.repoPath) === repoPath;
  });
}

/** The known record of the session. Another session under the same key becomes a former one. */
function takeRecord(document: RegistryDocument, key: string, saved: SavedSession): JsonRecord | undefined {
  const before = document.sessions[key];
  const former = takeFormer(document, saved);
  if (isRecord(before)) {
    if (before["sessionId"] === saved.sessionId) return before;
    keepAsFormer(document, before, saved);
  }
  return former ?? underAnotherKey(document, saved.sessionId);
}

/** A former record with another label stays, because it shows that the session had that label. */
function takeFormer(document: RegistryDocument, { sessionId, label }: SavedSession): JsonRecord | undefined {
  const own = ownPart(document);
  const record = Object.hasOwn(own.former, sessionId) ? own.former[sessionId] : undefined;
  if (!isRecord(record)) return undefined;
  if (record["label"] === undefined || record["label"] === label) delete own.former[sessionId];
  return withoutLabel(record);
}

function keepAsFormer(document: RegistryDocument, record: JsonRecord, { repoPath, label }: SavedSession): void {
  const { sessionId } = record;
  if (typeof sessionId !== "string") return;
  const own = ownPart(document);
  own.former[sessionId] = { ...record, repoPath, ...(label === undefined ? {} : { label }) };
  keepNewest(own.former, MAX_FORMER);
}

/** A session with several labels has the same costs under each. */
function underAnotherKey(document: RegistryDocument, sessionId: string): JsonRecord | undefined {
  const record = Object.values(document.sessions).find((one) => isRecord(one) && one["sessionId"] === sessionId);
  return isRecord(record) ? withoutLabel(record) : undefined;
}

function withoutLabel(record: JsonRecord): JsonRecord {
  const { label: _, ...rest } = record;
  return rest;
}

/** The id becomes a key of the document. */
function checkSessionId(sessionId: string): void {
  if (/^[A-Za-z0-9][\w-]{0,127}$/.test(sessionId)) return;
  throw new HoldfastError("usage", "invalid-session-id", `${JSON.stringify(sessionId)} cannot be a session id`, {
    hint: "Give the id as Claude Code reports it.",
  });
}

/** Returns the label as it is stored. */
export function checkLabel(label: string): string {
  const name = label.trim();
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
  if (name !== "" && name.length <= MAX_LABEL_LENGTH && !/[\u0000-\u001f\u007f]/.test(name)) return name;
  throw new HoldfastError("usage", "invalid-label", `${JSON.stringify(label)} cannot be a label`, {
    hint: `A label is one line of at most ${MAX_LABEL_LENGTH} characters.`,
  });
}

/** Refuses the labels of chats too. */
export function checkTaskLabel(label: string): string {
  const name = checkLabel(label);
  if (isChatLabel(name)) throw labelOfChat(name);
  return name;
}

export function labelOfChat(label: string): HoldfastError {
  return new HoldfastError("forbidden", "label-of-chat", `The label ${JSON.stringify(label)} belongs to a chat`, {
    hint: "Choose another label: only the chat itself may continue its session.",
    data: { label },
  });
}

function cut(task: string): string {
  return task.length <= MAX_TASK_LENGTH ? task : `${task.slice(0, MAX_TASK_LENGTH - 1).toWellFormed()}…`;
}

function canonicalPath(path: string): string {
  return realPath(path) ?? resolve(path);
}

/** Where registries are. Without `openClawHome` only Holdfast's are read. */
export interface RegistryHomes {
  home: string;
  openClawHome?: string | undefined;
}

export type AgentRegistries = RegistryHomes & Pick<RegistryPlace, "agentId">;

export async function resolveSession(
  places: AgentRegistries,
  repoPath: string,
  label?: string,
): Promise<string | undefined> {
  return (await findRegistered(places, repoPath, label))[0]?.sessionId;
}

/** The agent's sessions for this repo and label, the latest first. */
export async function findRegistered(
  places: AgentRegistries,
  repoPath: string,
  label?: string,
): Promise<RegisteredSession[]> {
  const { sessions, problems } = await listAllSessions(places);
  // An unreadable registry may contain the session.
  const unreadable = problems.find(({ agentId }) => agentId === places.agentId);
  if (unreadable !== undefined) throw unreadable.error;
  const wanted = label === undefined ? undefined : checkLabel(label);
  const path = canonicalPath(repoPath);
  return sessions
    .filter(({ agentId, current }) => current && agentId === places.agentId)
    .filter((session) => session.label === wanted && canonicalPath(session.repoPath) === path)
    .toSorted((a, b) => (b.lastResumedAt ?? 0) - (a.lastResumedAt ?? 0));
}

export interface RegistryProblem {
  agentId: string;
  path: string;
  error: unknown;
}

/** The sessions of all agents, from Holdfast's and OpenClaw's registries. */
export async function listAllSessions(
  homes: RegistryHomes,
): Promise<{ sessions: RegisteredSession[]; problems: RegistryProblem[] }> {
  const { registries, problems } = await readRegistries(homes);
  return { sessions: registries.flatMap(({ sessions }) => sessions), problems };
}

export interface Registry {
  agentId: string;
  path: string;
  sessions: RegisteredSession[];
  decisions: KeptDecision[];
}

export async function readRegistries({
  home,
  openClawHome,
}: RegistryHomes): Promise<{ registries: Registry[]; problems: RegistryProblem[] }> {
  const homes = [home, openClawHome].filter((one) => one !== undefined);
  const listed = (await Promise.all(homes.map(listRegistries))).flat();
  // Both homes may be the same folder: read each file once.
  const files = new Map<string, Registry>();
  for (const registry of listed) {
    const file = await realpath(registry.path).catch(() => registry.path);
    if (!files.has(file)) files.set(file, registry);
  }
  const problems: RegistryProblem[] = [];
  const read = async (registry: Registry): Promise<void> => {
    const { agentId, path } = registry;
    try {
      const document = await readRegistryFile(path);
      if (document === undefined) return;
      registry.sessions = registeredSessions(agentId, document);
      registry.decisions = keptDecisions(document);
    } catch (error) {
      problems.push({ agentId, path, error });
    }
  };
  await Promise.all([...files.values()].map(read));
  return { registries: [...files.values()], problems };
}

async function listRegistries(home: string): Promise<Registry[]> {
  const folder = agentsFolder(home);
  const agents = (await readFolderIfPresent(folder)).filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  return agents.map(({ name }) => ({
    agentId: normalizeAgentId(name),
    path: join(folder, name, CLAUDE_REGISTRY_NAME),
    sessions: [],
    decisions: [],
  }));
}

export type RegisteredFacts = ReturnType<typeof mergeRecords>;

/**
 * By session id. Several registries may contain a session: another agent resumed it, or OpenClaw ran it earlier. Each
 * counts its own runs, so the figures of different files are added. Several records in one file repeat the same
 * figures under another label.
 */
export function mergeRegistered(registries: readonly Registry[]): Map<string, RegisteredFacts> {
  const records = registries.flatMap(({ path, sessions }) => sessions.map((session) => ({ ...session, path })));
  const byId = Map.groupBy(records, ({ sessionId }) => sessionId);
  return new Map(Array.from(byId, ([sessionId, known]) => [sessionId, mergeRecords(sessionId, known)]));
}

type FiledSession = RegisteredSession & Pick<Registry, "path">;

function mergeRecords(sessionId: string, records: readonly FiledSession[]) {
  const latest = records.toSorted(
    (a, b) => (b.lastResumedAt ?? 0) - (a.lastResumedAt ?? 0) || Number(b.current) - Number(a.current),
  );
  return {
    sessionId,
    /** The agent of the latest use comes first; likewise for paths and labels. */
    agentIds: unique(latest.map(({ agentId }) => agentId)),
    repoPaths: unique(latest.map(({ repoPath }) => repoPath)),
    labels: unique(latest.flatMap(({ label }) => label ?? [])),
    conversation: latest.find(({ conversation }) => conversation !== undefined)?.conversation,
    createdAt: extreme(Math.min, latest, "createdAt"),
    lastResumedAt: extreme(Math.max, latest, "lastResumedAt"),
    totalCostUsd: sumOverFiles(latest, "totalCostUsd"),
    totalTurns: sumOverFiles(latest, "totalTurns"),
    lastTask: latest.find(({ tasks }) => tasks.length > 0)?.tasks.at(-1),
  };
}

type Figure = "totalCostUsd" | "totalTurns" | "createdAt" | "lastResumedAt";

function sumOverFiles(records: readonly FiledSession[], name: Figure): number | undefined {
  const figures = [...Map.groupBy(records, ({ path }) => path)].flatMap(([path, ofOne]) => {
    const figure = extreme(Math.max, ofOne, name);
    return figure === undefined ? [] : Math.max(0, figure - importedFrom(path, records, name));
  });
  return figures.length === 0 ? undefined : roundSum(figures.reduce((sum, figure) => sum + figure, 0));
}

/** How much of a registry's figure another registry already contains. */
function importedFrom(path: string, records: readonly FiledSession[], name: Figure): number {
  const takers = records.filter(({ imported }) => imported !== undefined);
  const file = takers.length === 0 ? path : (realPath(path) ?? path);
  return Math.max(
    0,
    ...takers.map(({ imported }) => (imported?.["from"] === file ? (amount(imported[name]) ?? 0) : 0)),
  );
}

function extreme(
  choose: (...values: number[]) => number,
  records: readonly RegisteredSession[],
  name: Figure,
): number | undefined {
  const values = records.flatMap((record) => record[name] ?? []);
  return values.length === 0 ? undefined : choose(...values);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
