/** Real transcripts of the real CLI, with the figures that were counted when they were made. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
  assistantLines: number;
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
  lineTypes: Record<string, number>;
  subagents?: { file: string; meta: object; lines: number; tokens: SampleTokens }[];
}

export function claudeSamples(): ClaudeSample[] {
  const manifest = readFileSync(join(CLAUDE_SAMPLES, "manifest.json"), "utf8");
  return (JSON.parse(manifest) as { samples: ClaudeSample[] }).samples;
}

/** The lines of all of them. */
export function claudeSampleLines(): string[] {
  return readdirSync(CLAUDE_SAMPLES, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(CLAUDE_SAMPLES, name), "utf8").split("\n"))
    .filter((line) => line !== "");
}
