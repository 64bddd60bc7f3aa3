import type { DiscoveredSession } from "../../src/claude/discovered-session.ts";

/** A healthy session of agent `main` on branch `main`, last used at `NOON`; a test says what is special. */
export function discoveredSession(special: Partial<DiscoveredSession> = {}): DiscoveredSession {
  return {
    sessionId: "11111111-1111-4111-8111-111111111111",
    source: "openclaw",
    origin: "this-agent",
    agentId: "main",
    repoPath: "/repo",
    branch: "main",
    branches: ["main"],
    cwds: ["/repo"],
    firstMessage: "",
    prompts: [],
    lastModified: new Date(NOON),
    messageCount: 40,
    userTurns: 4,
    fileSizeBytes: 100_000,
    totalInputTokens: 1000,
    totalOutputTokens: 1000,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    contextTokens: 0,
    compactionCount: 0,
    models: [],
    subagentCount: 0,
    filesTouched: [],
    isRunning: false,
    damagedLines: 0,
    transcriptPath: "/transcripts/a.jsonl",
    ...special,
  };
}

export const NOON = Date.UTC(2026, 10, 15, 12);
