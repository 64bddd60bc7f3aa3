/**
 * Runs the commands of README.md: each `$` line in a terminal, with its `>` lines typed at the prompt. The output is
 * compared with README.md, after ids, times, ages and other values that differ from run to run are replaced on both
 * sides.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync, mkdirSync, utimesSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import type { ClaudeHome } from "../support/claude-home.ts";
import { type ProgramPlace, type WatchedProgram, startInTerminal } from "../support/cli.ts";

const README = fileURLToPath(new URL("../../README.md", import.meta.url));
/** As wide as the examples of README.md. */
const COLUMNS = 120;

export interface TourStep {
  /** Without `$`. */
  command: string;
  /** What follows the `$` line, `>` lines included. */
  shown: string[];
  /** Where `shown` is in README.md, as line numbers from 0. */
  start: number;
  end: number;
}

/** Code blocks without a `$` line are not part of the tour. */
export function readTour(): TourStep[] {
  const steps: TourStep[] = [];
  let step: TourStep | undefined;
  let isBlock = false;
  for (const [number, line] of readFileSync(README, "utf8").split("\n").entries()) {
    if (line.startsWith("```")) {
      isBlock = !isBlock;
      step = undefined;
    } else if (isBlock && line.startsWith("$ ")) {
      step = { command: line.slice(2), shown: [], start: number + 1, end: number + 1 };
      steps.push(step);
    } else if (step !== undefined && (line !== "" || step.shown.length > 0)) {
      step.shown.push(line);
    }
  }
  for (const { shown } of steps) while (shown.at(-1) === "") shown.pop();
  return steps.map((each) => ({ ...each, end: each.start + each.shown.length }));
}

/** Starts a long-running command and resolves when it prints the text. */
export async function startStep(command: string, until: string, place: ProgramPlace): Promise<WatchedProgram> {
  const program = startInTerminal(command, COLUMNS, place);
  await program.shows(until);
  return program;
}

/** The lines that the terminal shows. */
export async function runStep({ command, shown }: TourStep, place: ProgramPlace): Promise<string[]> {
  if (!command.startsWith("holdfast ")) throw new Error(`README.md: only holdfast can be followed, not ${command}`);
  using program = startInTerminal(command.slice("holdfast ".length), COLUMNS, place);
  const inputs = shown.filter((line) => line.startsWith("> ")).map((line) => line.slice(2));
  for (const input of inputs) {
    await program.shows(PROMPT);
    program.type(`${input}\r`);
  }
  if (inputs.length > 0) {
    await program.shows(PROMPT);
    program.type(END_OF_INPUT);
  }
  const code = await program.ended;
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${program.output()}`);
  return screenLines(program.output());
}

/** readline has drawn `> ` and put the cursor after it. */
const PROMPT = "\u001b[3G";
const END_OF_INPUT = "\u0004";

/** Without control sequences, lines that were drawn over, and the prompt at the end. */
export function screenLines(output: string): string[] {
  const lines = output.split("\n").map((line) =>
    line
      .replace(/\r+$/, "")
      // oxlint-disable-next-line no-control-regex -- what a terminal obeys
      .replace(/^.*(?:\r\u001b\[K|\u001b\[1G\u001b\[0J)/, "")
      // oxlint-disable-next-line no-control-regex -- the same
      .replace(/\u001b\[[\d;?]*[A-Za-z]/g, "")
      .trimEnd(),
  );
  while (lines.length > 0 && (lines.at(-1) === "" || lines.at(-1) === ">")) lines.pop();
  return lines;
}

export interface FollowedStep {
  step: TourStep;
  lines: string[];
}

/** README.md's output and the actual output, normalized. UPDATE_README=1 writes differences to README.md. */
export function compareWithReadme(followed: readonly FollowedStep[]): { shown: string[]; seen: string[] } {
  const shown = normalize(followed.map(({ step }) => ({ command: step.command, lines: step.shown })));
  const seen = normalize(followed.map(({ step, lines }) => ({ command: step.command, lines })));
  if (process.env["UPDATE_README"] !== "1") return { shown, seen };
  if (shown.join("\n") !== seen.join("\n")) updateReadme(followed);
  return { shown: seen, seen };
}

function updateReadme(followed: readonly FollowedStep[]): void {
  const lines = readFileSync(README, "utf8").split("\n");
  for (const { step, lines: shown } of followed.toSorted((a, b) => b.step.start - a.step.start)) {
    lines.splice(step.start, step.end - step.start, ...shown.map(asAda));
  }
  writeFileSync(README, lines.join("\n"));
}

/** README.md is by ada, on the default port, and keeps no token. Columns of tables stay where they are. */
function asAda(line: string): string {
  const { username } = userInfo();
  const fill = " ".repeat(Math.max(0, username.length - "ada".length));
  return line
    .replace(new RegExp(`cli:dm:${username}(?=  (?!current))`), `cli:dm:ada${fill}`)
    .replaceAll(`cli:dm:${username}`, "cli:dm:ada")
    .replaceAll(/#token=[\w-]+/g, "#token=…")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:7433");
}

/** Replaces values that differ from run to run. An id becomes the same number everywhere. */
function normalize(steps: readonly { command: string; lines: readonly string[] }[]): string[] {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    const known = ids.get(id) ?? `id${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  return steps.flatMap(({ command, lines }) => [
    `$ ${command}`,
    ...lines.map((line) =>
      asAda(line)
        .replaceAll(/\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (_, id: string) => numbered(id))
        .replaceAll(/\b(?=[a-f]*\d)[0-9a-f]{8}\b/g, numbered)
        .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/g, "<time>")
        .replaceAll(/\b(?:just now|\d+[mhd])\b/g, "<age>")
        .replaceAll(/(<age> +)\d+/g, "$1<n>")
        .replaceAll(/\bprocess \d+/g, "process <pid>")
        .replaceAll(/\b\d+\.\d+s\b/g, "<seconds>")
        .replaceAll(/ {2,}/g, "  "),
    ),
  ]);
}

const HOUR = 3_600_000;

interface ShownSession {
  id: string;
  title: string;
  branch: string;
  prompts: readonly string[];
  age: number;
  entrypoint: string;
}

const SESSIONS: readonly ShownSession[] = [
  {
    id: "5f0c1d2e-1111-4000-8000-000000000001",
    title: "Webhook retries with backoff",
    branch: "webhook-retries",
    prompts: ["[openclaw:agent=main]\n\nRetry failed webhooks with backoff", "Add a test", "Log each attempt"],
    age: HOUR / 2,
    entrypoint: "holdfast",
  },
  {
    id: "a81b22c3-1111-4000-8000-000000000002",
    title: "Date picker off by a week",
    branch: "main",
    prompts: ["[openclaw:agent=main]\n\nThe date picker is off by a week in December", "Add a test for it"],
    age: 20 * HOUR,
    entrypoint: "holdfast",
  },
  {
    id: "c40e9f17-1111-4000-8000-000000000003",
    title: "Node 24 upgrade",
    branch: "main",
    prompts: ["Upgrade the project to Node 24"],
    age: 9 * 24 * HOUR,
    entrypoint: "cli",
  },
  {
    id: "d1d1d1d1-1111-4000-8000-000000000004",
    title: "Write a migration for the invoices table",
    branch: "invoices",
    prompts: ["Write a migration for the invoices table", "Make it reversible"],
    age: 26 * 24 * HOUR,
    entrypoint: "claude-vscode",
  },
];

export function fillClaudeHome({ repo, configDir, env }: ClaudeHome): void {
  execFileSync("git", ["-C", repo, "switch", "-qc", "webhook-retries"], { env });
  const folder = join(configDir, "projects", projectFolderName(repo));
  mkdirSync(folder, { recursive: true });
  const now = Date.now();
  for (const session of SESSIONS) {
    const path = join(folder, `${session.id}.jsonl`);
    const at = now - session.age;
    writeFileSync(
      path,
      linesOf(session, repo, at)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(""),
    );
    utimesSync(path, at / 1000, at / 1000);
  }
}

function linesOf({ id, title, branch, prompts, entrypoint }: ShownSession, cwd: string, at: number): object[] {
  const uuid = (number: number): string => `${id.slice(0, -12)}${String(number).padStart(12, "0")}`;
  const messages = prompts.flatMap((prompt, turn) => [
    { type: "user", message: { role: "user", content: prompt } },
    {
      type: "assistant",
      message: {
        id: `msg_${id.slice(0, 8)}_${turn}`,
        type: "message",
        model: "claude-sonnet-4-5",
        role: "assistant",
        content: [{ type: "text", text: "Done." }],
        stop_reason: "end_turn",
        usage: {
          input_tokens: 1200,
          output_tokens: 800,
          cache_creation_input_tokens: 2000,
          cache_read_input_tokens: 30_000,
        },
      },
    },
  ]);
  const common = { isSidechain: false, userType: "external", entrypoint, cwd, sessionId: id, version: "2.1.197" };
  return [
    ...messages.map((message, number) => ({
      ...message,
      uuid: uuid(number + 1),
      parentUuid: number === 0 ? null : uuid(number),
      timestamp: new Date(at - (messages.length - number) * 1000).toISOString(),
      gitBranch: branch,
      ...common,
    })),
    { type: "ai-title", aiTitle: title, sessionId: id },
  ];
}
