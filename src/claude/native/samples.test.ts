/** Real transcripts of the real CLI, compared with the figures in their manifest. */
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import {
  CLAUDE_SAMPLES,
  type SampleTokens,
  claudeSamples,
  scanTranscript,
  sumUsage,
} from "../../../test/support/claude-samples.ts";
import { listSubagents } from "./layout.ts";
import { sessionTitle } from "./session-scan.ts";

const samples = claudeSamples();

const scanSample = (file: string) => scanTranscript(join(CLAUDE_SAMPLES, file));

const toTokens = ({ cacheCreate, ...tokens }: SampleTokens) => ({ ...tokens, cacheWrite: cacheCreate });

describe("every sample gives its manifest's figures", () => {
  it.each(samples)("$name", (sample) => {
    const { scan, ledger, tornBytes } = scanSample(sample.file);
    expect({
      lines: scan.lines,
      userTurns: scan.userTurns,
      apiMessages: ledger.size,
      tokens: sumUsage(ledger),
      compactions: scan.compactions.map(({ trigger, preTokens, postTokens }) => ({ trigger, preTokens, postTokens })),
      compactionCount: scan.compactionCount,
      branches: scan.branches,
      cwds: scan.cwds,
      entrypoints: scan.entrypoints,
      versions: scan.versions,
      firstPrompt: scan.prompts[0],
      customTitle: scan.customTitle,
      aiTitle: scan.aiTitle,
      trouble: [scan.unknownLines, scan.damagedLines, tornBytes],
    }).toEqual({
      lines: sample.lines,
      userTurns: sample.realUserTurns,
      apiMessages: sample.apiMessages,
      tokens: toTokens(sample.tokens),
      compactions: sample.compactions,
      compactionCount: sample.compactions.length,
      branches: sample.branches,
      cwds: sample.cwds,
      entrypoints: sample.entrypoints,
      versions: sample.versions,
      firstPrompt: sample.firstPrompt,
      customTitle: sample.customTitle,
      aiTitle: sample.aiTitle,
      trouble: [0, 0, 0],
    });
    expect(scan.models).toEqual(["claude-opus-4-8"]);
  });

  it.each(samples)("$name: its subagents", async (sample) => {
    const subagents = await listSubagents(join(CLAUDE_SAMPLES, sample.file));
    expect(
      subagents.map(({ path, agentType, description, toolUseId, spawnDepth }) => {
        const { scan, ledger } = scanTranscript(path);
        return {
          file: relative(CLAUDE_SAMPLES, path),
          meta: { agentType, description, toolUseId, spawnDepth },
          lines: scan.lines,
          tokens: sumUsage(ledger),
          turns: scan.userTurns,
        };
      }),
    ).toEqual(
      (sample.subagents ?? []).map((subagent) => ({
        ...subagent,
        tokens: toTokens(subagent.tokens),
        turns: 0,
      })),
    );
  });
});

it("prefers the title that a person gave", () => {
  const titled = scanSample("titled/f06f7a55-cab0-4ea2-83ad-4f73d244a42a.jsonl");
  const untitled = scanSample("simple-json/2567e988-bbe2-47b1-88e2-236ca4fc214e.jsonl");
  expect([sessionTitle(titled.scan), sessionTitle(untitled.scan)]).toEqual(["via control", "hi"]);
});

it("tells edited files from files that were read", () => {
  const written = scanSample("titled/f06f7a55-cab0-4ea2-83ad-4f73d244a42a.jsonl");
  const read = scanSample("thinking-parallel-tools/aaaaaaaa-0000-4000-8000-00000000000a.jsonl");
  expect([...written.scan.files]).toEqual([["/home/user/repo/perm.txt", true]]);
  expect([...read.scan.files]).toEqual([["/home/user/repo/w.txt", false]]);
});

it("reads the start, the end and the context size of a session", () => {
  const { scan } = scanSample("compacted-manual/cccccccc-0000-4000-8000-000000000001.jsonl");
  expect([scan.firstAt, scan.lastAt].map((at) => new Date(at ?? Number.NaN).toISOString())).toEqual([
    "2026-11-15T18:13:04.734Z",
    "2026-11-15T18:13:07.129Z",
  ]);
  expect([scan.contextTokens, scan.slug, scan.permissionMode]).toEqual([100, "snazzy-watching-moon", "default"]);
});
