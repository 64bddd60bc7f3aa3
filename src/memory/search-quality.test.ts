/** How often the right session comes first, over sessions whose tools read and print what other sessions are about. */
import { readFileSync } from "node:fs";
import { beforeAll, afterAll, describe, expect, it } from "vitest";
import { type SearchHome, answer, createSearchHome, prompt } from "../../test/support/search-home.ts";
import type { SearchIndex } from "./search-index.ts";

interface SampleSession {
  repo: string;
  branch: string;
  title: string | null;
  turns: [prompt: string, answer: string][];
  files: string[];
  commands: string[];
}

interface Question {
  kind: "words" | "spelling" | "path" | "error" | "typo" | "paraphrase";
  text: string;
  session: number;
}

const { asked, tuning, heldOut } = readQuestions();
const sessions = [...asked, ...otherSessions(120)];

let home: SearchHome;
let index: SearchIndex;

beforeAll(async () => {
  home = await createSearchHome();
  for (const [number, session] of sessions.entries()) {
    await home.native(`/repos/${session.repo}`, idOf(number), linesOf(session, number));
  }
  index = await home.refreshed();
});

afterAll(async () => await home[Symbol.asyncDispose]());

describe.each([
  ["tuning", tuning],
  ["held out", heldOut],
] as const)("%s questions", (_name, questions) => {
  it("finds the session by words, spellings, paths, errors and typos", async () => {
    const places = await placesOf(questions.filter(({ kind }) => kind !== "paraphrase"));
    expect(shareOf(places, 1)).toBeGreaterThanOrEqual(0.88);
    expect(shareOf(places, 5)).toBeGreaterThanOrEqual(0.95);
  });

  it("finds paraphrases that share no telling word", async () => {
    const places = await placesOf(questions.filter(({ kind }) => kind === "paraphrase"));
    expect(shareOf(places, 5)).toBeGreaterThanOrEqual(0.35);
  });
});

/** Places of the right sessions, counted from 1. */
async function placesOf(questions: readonly Question[]): Promise<number[]> {
  const places: number[] = [];
  for (const { text, session } of questions) {
    const { sessions: found } = await index.ask({ text, person: true });
    const place = found.findIndex(({ sessionId }) => sessionId === idOf(session));
    places.push(place === -1 ? Number.POSITIVE_INFINITY : place + 1);
  }
  return places;
}

function shareOf(places: readonly number[], limit: number): number {
  return places.filter((place) => place <= limit).length / places.length;
}

function readQuestions(): { asked: SampleSession[]; tuning: Question[]; heldOut: Question[] } {
  const { sessions: asked, ...questions } = JSON.parse(
    readFileSync(new URL("../../test/fixtures/search/questions.json", import.meta.url), "utf8"),
  ) as { sessions: SampleSession[]; tuning: Question[]; heldOut: Question[] };
  return { asked, ...questions };
}

/** Work of other people, spread over the cases of resume or fresh, that no question asks for. */
function otherSessions(count: number): SampleSession[] {
  const lines = readFileSync(new URL("../../test/fixtures/selection/cases.jsonl", import.meta.url), "utf8");
  const known = new Map<string, SampleSession>();
  for (const line of lines.trim().split("\n")) {
    for (const { branch, prompts, files } of (JSON.parse(line) as { sessions: OtherSession[] }).sessions) {
      const turns = prompts.map((said): [string, string] => [said, "Done."]);
      known.set(prompts[0] ?? "", { repo: "other", branch, title: null, turns, files, commands: [] });
    }
  }
  const all = [...known.values()];
  return all.filter((_, at) => Math.floor((at * count) / all.length) !== Math.floor(((at - 1) * count) / all.length));
}

interface OtherSession {
  branch: string;
  prompts: string[];
  files: string[];
}

function idOf(number: number): string {
  return `33333333-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

/** Each session also reads the files of three others, and prints what they are about. */
function linesOf({ repo, branch, title, turns, files, commands }: SampleSession, number: number): unknown[] {
  const cwd = `/repos/${repo}`;
  const envelope = { gitBranch: branch };
  const calls = [
    ...files.map((file) => ({ name: "Edit", input: { file_path: `${cwd}/${file}`, new_string: "…" } })),
    ...commands.map((command) => ({ name: "Bash", input: { command } })),
  ];
  const noise = [1, 7, 13].flatMap((step) => {
    const other = sessions[(number + step) % sessions.length];
    const read = (other?.files ?? []).map((file) => ({ name: "Read", input: { file_path: `${cwd}/${file}` } }));
    const output = other?.turns.flat().join("\n").repeat(5) ?? "";
    return [callLine(cwd, envelope, read), resultLine(cwd, output)];
  });
  return [
    ...turns.flatMap(([said, answered], turn) => [
      prompt(cwd, said, { ...envelope, uuid: `u${turn}` }),
      ...(turn === 0 ? [...noise, callLine(cwd, envelope, calls)] : []),
      answer(cwd, answered, { ...envelope, uuid: `a${turn}` }),
    ]),
    ...(title === null ? [] : [{ type: "ai-title", aiTitle: title }]),
  ];
}

function callLine(cwd: string, envelope: object, calls: readonly object[]): unknown {
  const content = calls.map((call) => ({ type: "tool_use", id: "t", ...call }));
  return answer(cwd, "", { ...envelope, message: { id: "m", model: "m", role: "assistant", content } });
}

function resultLine(cwd: string, content: string): unknown {
  const message = { role: "user", content: [{ tool_use_id: "t", type: "tool_result", content }] };
  return { type: "user", cwd, message, toolUseResult: { stdout: content } };
}
