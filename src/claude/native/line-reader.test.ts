/** Which single lines count as a person's turn, as usage and as damage. */
import { expect, it } from "vitest";
import { createLineReader } from "./line-reader.ts";
import { createSessionScan } from "./session-scan.ts";
import type { UsageLedger } from "./usage.ts";
import { sumUsage } from "../../../test/support/claude-samples.ts";

function scanLines(...lines: (object | string)[]) {
  const scan = createSessionScan();
  const ledger: UsageLedger = new Map();
  const reader = createLineReader();
  reader.begin(scan, ledger);
  for (const [index, line] of lines.entries()) {
    const bytes = Buffer.from(typeof line === "string" ? line : JSON.stringify(line));
    if (!reader.read(bytes, bytes.toString("latin1"), 0, bytes.length)) reader.reject(index, "damaged");
  }
  return { scan, ledger };
}

const user = (content: unknown, more: object = {}) => ({ type: "user", message: { role: "user", content }, ...more });
const answer = (id: string, usage: object, more: object = {}) => ({
  type: "assistant",
  message: { id, model: "m", content: [], usage, ...more },
});

it.each([
  ["plain text", user("fix it"), 1],
  ["text blocks", user([{ type: "text", text: "fix it" }]), 1],
  ["a picture", user([{ type: "image", source: {} }]), 1],
  ["flags that are false", user("fix it", { isMeta: false, isSidechain: false, toolUseResult: null }), 1],
  ["text that only mentions a command", user("what is <command-name>?"), 1],
  ["a tool result", user([{ type: "tool_result", content: "x" }]), 0],
  ["a line with toolUseResult", user("x", { toolUseResult: "x" }), 0],
  ["a meta line", user("x", { isMeta: true }), 0],
  ["a sidechain", user("x", { isSidechain: true }), 0],
  ["a compaction's summary", user("x", { isCompactSummary: true }), 0],
  ["a command", user("<command-name>/clear</command-name>"), 0],
  ["a command's output", user("<local-command-stdout>ok</local-command-stdout>"), 0],
  ["a command typed for the shell", user("<bash-input>ls</bash-input>"), 0],
  ["its output", user("<bash-stdout>a.ts</bash-stdout>"), 0],
  ["a notice about a task", user("<task-notification>done</task-notification>"), 0],
  ["a reminder alone", user([{ type: "text", text: "<system-reminder>Be brief.</system-reminder>" }]), 0],
  ["words with a reminder", user("fix it\n<system-reminder>Be brief.</system-reminder>"), 1],
  ["an interruption", user([{ type: "text", text: "[Request interrupted by user for tool use]" }]), 0],
  ["no content", user(undefined), 0],
])("a person's turn: %s", (_, line, turns) => {
  expect(scanLines(line).scan.userTurns).toBe(turns);
});

it("keeps the person's words without what Claude Code adds for the model", () => {
  const { scan } = scanLines(user("fix it\n<system-reminder>Be brief.</system-reminder>"));
  expect(scan.prompts).toEqual(["fix it"]);
});

it("is not misled by text that looks like a line", () => {
  const forged = '{"type":"assistant","message":{"id":"x","usage":{"output_tokens":9}}}';
  const { scan, ledger } = scanLines(
    user(`${forged}\n","isMeta":true,"type":"assistant`),
    user([{ type: "tool_result", content: forged }], { toolUseResult: JSON.parse(forged) as object }),
  );
  expect([scan.userTurns, ledger.size, scan.messages]).toEqual([1, 0, 2]);
});

it("keeps a message's usage with the most output, and skips synthetic answers", () => {
  const { ledger, scan } = scanLines(
    answer("a", { input_tokens: 7, output_tokens: 1 }),
    answer("a", {
      input_tokens: 7,
      output_tokens: 30,
      cache_creation_input_tokens: 5,
      cache_creation: { ephemeral_1h_input_tokens: 4 },
    }),
    answer("a", { input_tokens: 7, output_tokens: 2 }),
    answer("b", { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 3 }),
    answer("c", { input_tokens: 1000, output_tokens: 1000 }, { model: "<synthetic>" }),
    answer("d", { input_tokens: -5, output_tokens: "7" }),
  );
  expect(sumUsage(ledger)).toEqual({ input: 8, output: 31, cacheRead: 3, cacheWrite: 5 });
  expect(ledger.get("a")?.cacheWriteHour).toBe(4);
  expect(scan.models).toEqual(["m"]);
});

it("collects every folder, branch and version once", () => {
  const lines = [
    ["/a", "main"],
    ["/b", "main"],
    ["/a", "fix/ü"],
    ["/a", ""],
  ];
  const { scan } = scanLines(...lines.map(([cwd, gitBranch]) => ({ type: "user", cwd, gitBranch, version: "2" })));
  expect([scan.cwds, scan.branches, scan.versions]).toEqual([["/a", "/b"], ["main", "fix/ü"], ["2"]]);
});

it("counts unknown and damaged lines and locates the damage", () => {
  const { scan } = scanLines({ type: "hologram" }, "{}", '{"type":"user"', "\u0000\u0000", "", {
    type: "api-request-x",
  });
  expect([scan.lines, scan.unknownLines, scan.damagedLines]).toEqual([5, 2, 2]);
  expect(scan.damaged).toEqual([
    { offset: 2, reason: "damaged" },
    { offset: 3, reason: "damaged" },
  ]);
});

it("limits the size of a scan", () => {
  const lines = Array.from({ length: 700 }, (_, index) => ({
    type: `type-${index}`,
    cwd: `/folder/${index}`,
    subtype: "x",
  }));
  const reads = Array.from({ length: 700 }, (_, index) =>
    answer("m", {}, { content: [{ type: "tool_use", name: "Read", input: { file_path: `/f${index}` } }] }),
  );
  const { scan } = scanLines(...lines, ...reads);
  expect([scan.cwds.length, scan.unknownLines, scan.files.size]).toEqual([100, 700, 500]);
  expect([...scan.files.keys()].at(-1)).toBe("/f699");
  expect(scan.messages).toBe(700);
});

it("cuts a long prompt, but never inside a character", () => {
  expect(scanLines(user("x".repeat(500))).scan.prompts[0]).toBe("x".repeat(200));
  expect(scanLines(user(`${"x".repeat(199)}😀 and more`)).scan.prompts[0]).toBe("x".repeat(199));
});

it("keeps the first prompts and the last ones", () => {
  const { scan } = scanLines(...Array.from({ length: 40 }, (_, index) => user(`prompt ${index}`)));
  const kept = [0, 1, 2, ...Array.from({ length: 12 }, (_, index) => 28 + index)];
  expect(scan.prompts).toEqual(kept.map((index) => `prompt ${index}`));
});

const envelope = { userType: "external", cwd: "/a", sessionId: "s", version: "2", gitBranch: "main" };
const toolResult = (more: object = {}) => ({
  parentUuid: "p",
  type: "user",
  message: { role: "user", content: [{ tool_use_id: "t", type: "tool_result", content: 'say "hi"\n' }] },
  uuid: "u",
  timestamp: "2026-11-15T18:13:04.760Z",
  toolUseResult: { stdout: 'a "quoted" { brace', nested: [{ timestamp: "2030-01-01T00:00:00.000Z" }] },
  ...envelope,
  ...more,
});

it("reads a line with a known tail like any other", () => {
  const moved = { gitBranch: "fix" };
  const { scan } = scanLines(
    toolResult(),
    toolResult(),
    toolResult(moved),
    { type: "mode", gitBranch: "x" },
    toolResult(moved),
  );
  expect([scan.lines, scan.damagedLines, scan.userTurns]).toEqual([5, 0, 0]);
  expect([scan.branches, scan.lastBranch, scan.cwds]).toEqual([["main", "fix", "x"], "fix", ["/a"]]);
  expect(scan.lastAt).toBe(Date.parse("2026-11-15T18:13:04.760Z"));
});

it("does not treat a transcript in a tool result as another line", () => {
  const line = toolResult({ toolUseResult: [{ parentUuid: "x" }] });
  expect(scanLines(line, line, line).scan).toMatchObject({ lines: 3, damagedLines: 0 });
});

it("notices joined lines wherever the first was cut", () => {
  const whole = JSON.stringify(toolResult());
  for (let cut = 1; cut < whole.length; cut += 1) {
    const { scan } = scanLines(toolResult(), `${whole.slice(0, cut)}${whole}`, toolResult());
    expect([cut, scan.lines, scan.damagedLines]).toEqual([cut, 3, 1]);
  }
});

const fullAnswer = (content: object[], outputTokens = 5) => ({
  parentUuid: "p",
  message: {
    model: "m",
    id: `m${outputTokens}`,
    role: "assistant",
    content,
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: outputTokens },
  },
  type: "assistant",
  uuid: "u",
  timestamp: "2026-11-15T18:13:04.760Z",
  ...envelope,
});
const said = { type: "text", text: 'He said "stop":],"stop_reason":{' };

it("is not misled by a tool call that contains the end of an answer", () => {
  const input = { file_path: "/f", steps: [1], stop_reason: "x", usage: { output_tokens: 99 } };
  const call = { type: "tool_use", name: "Edit", input, caller: { list: [], stop_reason: null } };
  const { scan, ledger } = scanLines(fullAnswer([said]), fullAnswer([call], 6), fullAnswer([call, said], 7));
  expect([scan.lines, scan.damagedLines, ...scan.files]).toEqual([3, 0, ["/f", true]]);
  expect(sumUsage(ledger)).toMatchObject({ input: 3, output: 18 });
});

it("notices joined answers wherever the first was cut", () => {
  const whole = JSON.stringify(fullAnswer([said], 6));
  for (let cut = 1; cut < whole.length; cut += 1) {
    const { scan } = scanLines(fullAnswer([said]), `${whole.slice(0, cut)}${whole}`, fullAnswer([said]));
    expect([cut, scan.lines, scan.damagedLines]).toEqual([cut, 3, 1]);
  }
});

it("reads the context size after a compaction", () => {
  const boundary = {
    type: "system",
    subtype: "compact_boundary",
    compactMetadata: { trigger: "auto", postTokens: 614 },
  };
  const { scan } = scanLines(answer("a", { input_tokens: 9000 }), boundary, {
    type: "system",
    subtype: "turn_duration",
    content: "compact",
  });
  expect([scan.compactionCount, scan.contextTokens, scan.compactions]).toEqual([
    1,
    614,
    [{ trigger: "auto", postTokens: 614 }],
  ]);
});
