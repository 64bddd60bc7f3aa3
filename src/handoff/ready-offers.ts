/**
 * Rendered hand-offs of a repo's native sessions: one private file per repo, which the hook of a starting session only
 * has to read and print. The file is derived from the store. If it is missing, damaged or outdated, the hook takes
 * longer, and nothing is lost.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import type { RepoLocator } from "../claude/discovery/repo-locator.ts";
import type { SessionState } from "./state.ts";

export interface LeftSession {
  state: SessionState;
  /** It has something to continue that it did not inherit. */
  isSubstantial: boolean;
}

/** Without `text`: the session was captured and has nothing to hand over. The state has no notes. */
export interface ReadyOffer extends LeftSession {
  text?: ReadyText | undefined;
  /** Its last sentences were not judged yet. Such an offer is never written. */
  isUnjudged?: boolean | undefined;
}

export interface ReadyText {
  /** For the next session. */
  next: string;
  /** The same, with a remark that newer messages are missing. */
  behind: string;
  /** For the session itself after a compaction. */
  same: string;
}

export interface ReadyPlace {
  /** A private folder. */
  folder: string;
  agentId: string;
  /** See `repoPlace`. */
  repo: string;
}

const VERSION = 1;

/** The main worktree of a folder's repo, or the folder itself if it is not in a repo. */
export function repoPlace(repos: RepoLocator, cwd: string): string {
  return repos.repoOf(cwd) ?? repos.canonical(cwd);
}

export function readyFile({ folder, agentId, repo }: ReadyPlace): string {
  return join(folder, `${digestOf(JSON.stringify([agentId, repo])).slice(0, 32)}.json`);
}

/** The first line is a digest of the rest, so that a torn or edited file is not used. */
export function readyText({ agentId, repo }: ReadyPlace, offers: readonly ReadyOffer[]): string {
  const json = JSON.stringify({ version: VERSION, agentId, repo, offers });
  return `${digestOf(json)}\n${json}\n`;
}

/** Empty if there is no usable file. */
export function readReadyOffers(place: ReadyPlace): ReadyOffer[] {
  const [digest, json = ""] = textOf(readyFile(place)).split("\n");
  const value = digest === digestOf(json) ? parseJson(json) : undefined;
  if (!isRecord(value) || value["version"] !== VERSION) return [];
  const isHere = value["agentId"] === place.agentId && value["repo"] === place.repo;
  return isHere ? (value["offers"] as ReadyOffer[]) : [];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function digestOf(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("hex");
}

/**
 * Selects the session to hand over to `sessionId`: the one that a person requested, else the newest with something to
 * continue. `running` are sessions of running processes, which have not ended.
 */
export function chooseLeft<L extends LeftSession>(
  sessions: readonly L[],
  { sessionId, running }: { sessionId: string; running: ReadonlySet<string> },
): L | undefined {
  const newest = sessions
    .filter(({ state }) => state.previousSessionId !== sessionId)
    .filter(({ state }) => state.reason === "ended" || !running.has(state.previousSessionId))
    .sort((a, b) => Date.parse(b.state.lastMessageAt) - Date.parse(a.state.lastMessageAt));
  return (
    newest.find(({ state }) => state.forced === true) ?? newest.find(({ isSubstantial }) => isSubstantial) ?? newest[0]
  );
}
