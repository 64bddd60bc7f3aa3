/** Transcripts of the real CLI with the figures counted when they were recorded, and discovered sessions. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DiscoveredSession } from "../../src/claude/discovered-session.ts";
import { openNativeFileSync } from "../../src/claude/native/layout.ts";
import { type FileScan, createFileScanner } from "../../src/claude/native/scan-file.ts";
import type { UsageLedger } from "../../src/claude/native/usage.ts";

export const CLAUDE_SAMPLES = fileURLToPath(new URL("../fixtures/claude-code", import.meta.url));

export interface SampleTokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheCreate: number;
}

export interface ClaudeSample {
  name: string;
  /** Below `CLAUDE_SAMPLES`. */
  file: string;
  sessionId: string;
  lines: number;
  realUserTurns: number;
  apiMessages: number;
  tokens: SampleTokens;
  compactions: { trigger: string; preTokens: number; postTokens: number }[];
  branches: string[];
  cwds: string[];
  entrypoints: string[];
  versions: string[];
  firstPrompt: string;
  lastPrompt: string;
  customTitle?: string;
  aiTitle?: string;
  subagents?: { file: string; meta: object; lines: number; tokens: SampleTokens }[];
}

export function claudeSamples(): ClaudeSample[] {
  const manifest = readFileSync(join(CLAUDE_SAMPLES, "manifest.json"), "utf8");
  return (JSON.parse(manifest) as { samples: ClaudeSample[] }).samples;
}

/** All lines of all samples. */
export function claudeSampleLines(): string[] {
  return readdirSync(CLAUDE_SAMPLES, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(CLAUDE_SAMPLES, name), "utf8").split("\n"))
    .filter((line) => line !== "");
}

export function scanTranscript(path: string): FileScan {
  using file = openNativeFileSync(path);
  const result = file === undefined ? undefined : createFileScanner().scan(file.descriptor);
  if (result === undefined) throw new Error(`no transcript ${path}`);
  return result;
}

export function sumUsage(ledger: UsageLedger) {
  const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const usage of ledger.values()) {
    total.input += usage.input;
    total.output += usage.output;
    total.cacheRead += usage.cacheRead;
    total.cacheWrite += usage.cacheWrite;
  }
  return total;
}

/** A healthy session of agent `main` on branch `main`, last used at `NOON`. A test overrides fields. */
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
