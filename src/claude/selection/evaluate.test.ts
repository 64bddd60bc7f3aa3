/** Labelled cases: reading them and counting decisions. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import type { LanguageModel } from "../../models/language-model.ts";
import { parseCases, readCases } from "./cases.ts";
import { evaluateCases } from "./evaluate.ts";

describe("a case file", () => {
  it("is read with typical values for missing members", () => {
    const [one] = parseCases(
      '\n// a remark\n{"task":"t","sessions":[{"firstMessage":"f"}],"expected":"fresh"}\n',
      "x.jsonl",
    );
    expect(one).toMatchObject({
      id: "case-1",
      kind: "other",
      agentId: "main",
      commitSubjects: [],
      expected: { action: "fresh" },
    });
    expect(one?.currentBranch).toBeUndefined();
    expect(one?.relevance).toBeUndefined();
    expect(one?.sessions[0]).toMatchObject({
      sessionId: "s1",
      branch: "",
      messageCount: 40,
      compactionCount: 0,
      agentId: "main",
    });
  });

  it("understands other spellings", () => {
    const sessions = [
      { sessionId: "a", prompts: ["p"], age: "2d", files: ["x.ts"], budgetUsedPct: 40 },
      { id: "b", ageMinutes: 30 },
    ];
    const spellings = [
      { expected: { resume: "a" } },
      { expect: "resume:a" },
      { decision: { action: "resume", sessionId: "a" } },
      { answer: "a" },
      { action: "resume", sessionId: "a" },
    ];
    for (const spelling of spellings) {
      const [one] = parseCases(JSON.stringify({ task: "t", sessions, ...spelling }), "x");
      expect(one?.expected).toEqual({ action: "resume", sessionId: "a" });
    }
    const status = { projectStatus: { git: { currentBranch: "dev", recentCommits: [{ message: "m" }] } } };
    const [one] = parseCases(JSON.stringify([{ task: "t", sessions, expected: "fresh", ...status }]), "x");
    expect(one).toMatchObject({ currentBranch: "dev", commitSubjects: ["m"] });
    const [old, young] = one?.sessions ?? [];
    expect(old).toMatchObject({
      branch: "dev",
      firstMessage: "p",
      budgetUsedPct: 0.4,
      filesTouched: [{ path: "x.ts", edited: true }],
    });
    expect((young?.lastModified.getTime() ?? 0) - (old?.lastModified.getTime() ?? 0)).toBe(47.5 * 3_600_000);
  });

  it("may have the relevance and the kind in one place of the case", () => {
    const sessions = [{ id: "s_a" }, { id: "B" }];
    const labels = { relevance: { s_a: 0.9, B: 0.1 }, why: "[paraphrase] other words" };
    const expected = { action: "resume", session: "s_a" };
    const [one] = parseCases(JSON.stringify({ task: "t", sessions, expected, ...labels }), "x");
    expect(one?.relevance).toEqual(new Map(Object.entries(labels.relevance)));
    expect(one).toMatchObject({ kind: "paraphrase", expected: { action: "resume", sessionId: "s_a" } });
  });

  it("is among the examples", async () => {
    expect(await readCases("examples/selection-cases.jsonl")).toHaveLength(6);
  });

  it.each([
    ["{", "line 2 is not JSON"],
    ["[1]", "case 1 is not a JSON object"],
    ['{"sessions":[],"expected":"fresh"}', 'line 2 has no "task"'],
    ['{"task":"t","sessions":[]}', "line 2 does not say which decision is right"],
    [
      '{"task":"t","sessions":[],"expected":"resume:z"}',
      "line 2 expects resume of a session that is not in its list: z",
    ],
    ["", "contains no case"],
  ])("names the place of an error: %s", async (line, message) => {
    await using folder = await temporaryFolder();
    await writeFile(folder.join("cases.jsonl"), `\n${line}`);
    await expect(readCases(folder.join("cases.jsonl"))).rejects.toThrow(message);
  });

  it("is named when it does not exist", async () => {
    await expect(readCases("/no/such/cases.jsonl")).rejects.toThrow("/no/such/cases.jsonl");
  });
});

describe("an evaluation", () => {
  it("counts right decisions and each kind of error", async () => {
    const cases = parseCases(
      [
        row("right", { resume: "a" }, 0.9, 0),
        row("other", { resume: "a" }, 0, 0.9),
        row("missed", { resume: "a" }, 0, 0),
        row("wrong", "fresh", 0.9, 0),
      ].join("\n"),
      "x",
    );
    const { rightRelevance, chance, alwaysFresh, model } = await evaluateCases(cases);
    expect(rightRelevance).toMatchObject({
      cases: 4,
      right: 1,
      accuracy: 0.25,
      wrongSession: 1,
      missedResume: 1,
      wrongResume: 1,
    });
    expect(rightRelevance?.byKind).toEqual({ k: { cases: 4, right: 1, accuracy: 0.25 } });
    expect(rightRelevance?.decisions.map((decision) => decision.verdict)).toEqual([
      "right",
      "wrong-session",
      "missed-resume",
      "wrong-resume",
    ]);
    expect({ chance, alwaysFresh, model }).toEqual({
      chance: expect.closeTo(1 / 3),
      alwaysFresh: 0.25,
      model: undefined,
    });
  });
});

it("a model that judges perfectly decides right, and in auto it is asked only when in doubt", async () => {
  const cases = await readCases("test/fixtures/selection/cases.jsonl");
  const { claudeCode } = DEFAULT_CONFIG;
  const labels = new Map(
    cases.map(({ task, sessions, relevance }) => [`${task} ${sessions.length}`, { sessions, relevance }]),
  );
  let requests = 0;
  /** Finds the case by its task, and each session by its first message. */
  const perfect: LanguageModel = {
    provider: "test",
    model: "perfect",
    generateText: async ({ prompt }) => {
      requests++;
      const document = JSON.parse(prompt.split("\n").slice(1, -2).join("\n")) as SentDocument;
      const { sessions = [], relevance } = labels.get(`${document.task.text} ${document.sessions.length}`) ?? {};
      const rated = document.sessions.map(({ id, first }) => {
        const session = sessions.find(({ firstMessage }) => firstMessage.startsWith(first.replace(/…$/, "")));
        return { id, relevance: relevance?.get(session?.sessionId ?? "") };
      });
      return { text: JSON.stringify(rated), finish: "stop", usage: {} };
    },
  };
  const accuracy = async (relevance: "auto" | "model") => {
    requests = 0;
    const config = { ...claudeCode.sessionSelection, relevance };
    return (await evaluateCases(cases, { config, model: perfect })).model?.accuracy;
  };
  expect(await accuracy("model")).toBeGreaterThanOrEqual(0.99);
  expect(requests).toBe(320);
  expect(await accuracy("auto")).toBeGreaterThanOrEqual(0.97);
  expect(requests).toBeLessThan(260);
});

interface SentDocument {
  task: { text: string };
  sessions: { id: string; first: string }[];
}

function row(id: string, expected: unknown, a: number, b: number): string {
  const sessions = [session("a", a), session("b", b)];
  return JSON.stringify({ id, kind: "k", task: "t", repo: { branch: "main" }, sessions, expected });
}

function session(id: string, relevance: number) {
  return { id, firstMessage: id, ageHours: 0.5, relevance };
}
