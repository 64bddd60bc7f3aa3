/** Real transcripts of the real CLI, each against the figures that were counted when it was made. */
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { CLAUDE_SAMPLES, type SampleTokens, claudeSamples } from "../../../test/support/claude-samples.ts";
import { summarizeSession } from "./session-summary.ts";
import { mergeUsage, sumUsage } from "./usage.ts";

const samples = claudeSamples();

const summarize = async (file: string) => {
  const summary = await summarizeSession(join(CLAUDE_SAMPLES, file));
  if (summary === undefined) throw new Error(`no sample ${file}`);
  return summary;
};

const toTokens = ({ cacheCreate, ...tokens }: SampleTokens) => ({ ...tokens, cacheWrite: cacheCreate });

describe("every sample gives its manifest's figures", () => {
  it.each(samples)("$name", async (sample) => {
    const summary = await summarize(sample.file);
    const { scan } = summary;
    expect({
      sessionIds: [summary.sessionId, scan.sessionId],
      lines: scan.lines,
      userTurns: scan.userTurns,
      apiMessages: summary.apiMessages,
      assistantLines: scan.lineTypes.get("assistant"),
      tokens: summary.tokens,
      compactions: scan.compactions.map(({ trigger, preTokens, postTokens }) => ({ trigger, preTokens, postTokens })),
      compactionCount: scan.compactionCount,
      branches: scan.branches,
      cwds: scan.cwds,
      entrypoints: scan.entrypoints,
      versions: scan.versions,
      firstPrompt: scan.prompts[0],
      lastPrompt: summary.lastPrompt,
      customTitle: scan.customTitle,
      aiTitle: scan.aiTitle,
      lineTypes: Object.fromEntries(scan.lineTypes),
      trouble: [scan.unknownLines, scan.damagedLines, summary.tornBytes],
    }).toEqual({
      sessionIds: [sample.sessionId, sample.sessionId],
      lines: sample.lines,
      userTurns: sample.realUserTurns,
      apiMessages: sample.apiMessages,
      assistantLines: sample.assistantLines,
      tokens: toTokens(sample.tokens),
      compactions: sample.compactions,
      compactionCount: sample.compactions.length,
      branches: sample.branches,
      cwds: sample.cwds,
      entrypoints: sample.entrypoints,
      versions: sample.versions,
      firstPrompt: sample.firstPrompt,
      lastPrompt: sample.lastPrompt,
      customTitle: sample.customTitle,
      aiTitle: sample.aiTitle,
      lineTypes: sample.lineTypes,
      trouble: [0, 0, 0],
    });
    expect(scan.models).toEqual(["claude-opus-4-8"]);
  });

  it.each(samples)("$name: its subagents", async (sample) => {
    const { subagents } = await summarize(sample.file);
    expect(
      subagents.map(({ path, tokens, scan, agentType, description, toolUseId, spawnDepth }) => ({
        file: relative(CLAUDE_SAMPLES, path),
        meta: { agentType, description, toolUseId, spawnDepth },
        lines: scan.lines,
        tokens,
        turns: scan.userTurns,
        sidechainLines: scan.sidechainLines,
      })),
    ).toEqual(
      (sample.subagents ?? []).map((subagent) => ({
        ...subagent,
        tokens: toTokens(subagent.tokens),
        turns: 0,
        sidechainLines: subagent.lines,
      })),
    );
  });
});

it("adds the tokens of subagents to the session's", async () => {
  const { tokens, totalTokens } = await summarize("subagents/dddddddd-0000-4000-8000-000000000001.jsonl");
  expect([tokens.input, totalTokens.input, totalTokens.output]).toEqual([200, 400, 40]);
});

it("takes the title a person gave before the generated one", async () => {
  const titled = await summarize("titled/f06f7a55-cab0-4ea2-83ad-4f73d244a42a.jsonl");
  const untitled = await summarize("simple-json/2567e988-bbe2-47b1-88e2-236ca4fc214e.jsonl");
  expect([titled.title, untitled.title]).toEqual(["via control", "hi"]);
});

it("tells edited files from files that were read", async () => {
  const written = await summarize("titled/f06f7a55-cab0-4ea2-83ad-4f73d244a42a.jsonl");
  const read = await summarize("thinking-parallel-tools/aaaaaaaa-0000-4000-8000-00000000000a.jsonl");
  expect([...written.scan.files]).toEqual([["/home/user/repo/perm.txt", true]]);
  expect([...read.scan.files]).toEqual([["/home/user/repo/w.txt", false]]);
});

it("knows when the session began and ended, and what its last call sent", async () => {
  const { scan } = await summarize("compacted-manual/cccccccc-0000-4000-8000-000000000001.jsonl");
  expect([scan.firstAt, scan.lastAt].map((at) => new Date(at ?? Number.NaN).toISOString())).toEqual([
    "2026-11-15T18:13:04.734Z",
    "2026-11-15T18:13:07.129Z",
  ]);
  expect([scan.contextTokens, scan.slug, scan.permissionMode]).toEqual([100, "snazzy-watching-moon", "default"]);
});

it("counts a message that two sessions share once", async () => {
  const fork = await summarize("forked-cli/7d1a5e5e-2530-4762-8296-ee4ae4910970.jsonl");
  const together = new Map(fork.ledger);
  mergeUsage(together, fork.ledger);
  expect(sumUsage(together)).toEqual(fork.tokens);
});
