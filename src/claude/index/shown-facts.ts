/**
 * The part of a row in lists that the transcript alone decides. The index keeps it as JSON, member by
 * member as `DiscoveredSession` has it, so that a list of everything in JSON passes it on as it is;
 * every other way to a row makes it with this function too.
 */
import { readMarker } from "../attribution.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { IndexedSession } from "./native-index.ts";

export type ShownFacts = Pick<
  DiscoveredSession,
  | "branch"
  | "branches"
  | "ccVersion"
  | "compactionCount"
  | "contextTokens"
  | "createdAt"
  | "cwds"
  | "damagedLines"
  | "entrypoint"
  | "filesTouched"
  | "firstMessage"
  | "lastPrompt"
  | "messageCount"
  | "models"
  | "originMarker"
  | "permissionMode"
  | "prompts"
  | "slug"
  | "title"
  | "userTurns"
>;

export type TranscriptFacts = Pick<
  IndexedSession,
  | "branches"
  | "compactionCount"
  | "contextTokens"
  | "createdAt"
  | "cwds"
  | "damagedLines"
  | "entrypoint"
  | "files"
  | "firstPrompt"
  | "lastBranch"
  | "latestPrompt"
  | "messageCount"
  | "models"
  | "permissionMode"
  | "prompts"
  | "slug"
  | "title"
  | "userTurns"
  | "version"
>;

/** Only the agent's marker is taken off, and only from the first message. */
export function shownFacts(native: TranscriptFacts): ShownFacts {
  const first = native.firstPrompt ?? "";
  const { agentId: originMarker, text: firstMessage } = readMarker(first);
  const unmarked = (text: string | undefined): string | undefined => (text === first ? firstMessage : text);
  const [oldest, ...others] = native.prompts;
  const title = unmarked(native.title);
  const lastPrompt = unmarked(native.latestPrompt);
  const shown: ShownFacts = {
    branch: native.lastBranch ?? native.branches.at(-1) ?? "",
    branches: native.branches,
    cwds: native.cwds,
    firstMessage,
    prompts: oldest === undefined ? [] : [oldest === first ? firstMessage : oldest, ...others],
    messageCount: native.messageCount,
    userTurns: native.userTurns,
    contextTokens: native.contextTokens,
    compactionCount: native.compactionCount,
    models: native.models,
    filesTouched: native.files,
    damagedLines: native.damagedLines,
  };
  if (title !== undefined && title.trim() !== "") shown.title = title;
  if (lastPrompt !== undefined) shown.lastPrompt = lastPrompt;
  if (native.createdAt !== undefined) shown.createdAt = new Date(native.createdAt);
  if (native.version !== undefined) shown.ccVersion = native.version;
  if (native.entrypoint !== undefined) shown.entrypoint = native.entrypoint;
  if (native.permissionMode !== undefined) shown.permissionMode = native.permissionMode;
  if (native.slug !== undefined) shown.slug = native.slug;
  if (originMarker !== undefined) shown.originMarker = originMarker;
  return shown;
}

/** For a session without a transcript. */
export const NO_FACTS: TranscriptFacts = {
  branches: [],
  compactionCount: 0,
  contextTokens: 0,
  cwds: [],
  damagedLines: 0,
  files: [],
  messageCount: 0,
  models: [],
  prompts: [],
  userTurns: 0,
};
