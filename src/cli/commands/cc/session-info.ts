/** Everything that is known of one native session, together. */
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { IndexedSession, NativeIndex, UsageRow } from "../../../claude/index/native-index.ts";
import type { SubagentTranscript } from "../../../claude/native/transcripts.ts";
import type { LiveSession } from "../../../claude/runner/runner-contract.ts";
import type { ClaudeSide } from "../../../compose-claude.ts";
import { claudeLayout } from "../../../config/layout.ts";
import { type ResumeCommand, resumeCommand } from "./resume-command.ts";

export interface SessionInfo {
  schema: 1;
  session: DiscoveredSession;
  /** What only the transcript itself tells; missing when it is not there. */
  transcript?: TranscriptFacts;
  /** Tokens and costs by model. */
  usage: UsageRow[];
  subagents: SubagentTranscript[];
  /** Ids of sessions that were forked from it. */
  forks: string[];
  /** The run of a Holdfast process that has it. */
  run?: LiveSession;
  /** How a person goes on with it by hand; missing when there is nothing to go on with. */
  resume?: ResumeCommand;
}

export interface TranscriptFacts {
  lines: number;
  unknownLines: number;
  /** The first of them. */
  damaged: { offset: number; reason: string }[];
  /** The latest of them. */
  compactions: { trigger?: string; preTokens?: number; postTokens?: number; at?: Date }[];
}

export async function gatherInfo(side: ClaudeSide, session: DiscoveredSession): Promise<SessionInfo> {
  const { sessionId } = session;
  const [index, { listSubagents }, { readRuns, toLiveSession }] = await Promise.all([
    side.index(),
    import("../../../claude/native/transcripts.ts"),
    import("../../../claude/runner/live-runs.ts"),
  ]);
  const indexed = index.get(sessionId);
  const runs = await readRuns(claudeLayout(side.home).locksFolder);
  const run = runs.find((one) => one.sessionId === sessionId);
  const resume = resumeCommand(session, side.config.command);
  return {
    schema: 1,
    session,
    ...(indexed === undefined ? {} : { transcript: transcriptFacts(indexed) }),
    usage: index.usage({ by: "model", sessionIds: [sessionId] }),
    subagents: indexed === undefined ? [] : await listSubagents(indexed.path),
    forks: indexed === undefined ? [] : findForks(index, indexed),
    ...(run === undefined ? {} : { run: toLiveSession(run) }),
    ...(resume === undefined ? {} : { resume }),
  };
}

function transcriptFacts({ lines, unknownLines, damaged, compactions }: IndexedSession): TranscriptFacts {
  const dated = compactions.map(({ at, ...rest }) => ({ ...rest, ...(at === undefined ? {} : { at: new Date(at) }) }));
  return { lines, unknownLines, damaged, compactions: dated };
}

/** Claude Code puts a fork beside its original. */
function findForks(index: NativeIndex, { folder, sessionId }: IndexedSession): string[] {
  const neighbours = index.list({ folders: [folder] });
  return neighbours.filter((one) => one.forkedFrom === sessionId).map((one) => one.sessionId);
}
