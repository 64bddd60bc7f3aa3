/** The repo and the Claude Code sessions that README.md shows, in a home where the real `claude` runs. */
import { execFileSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import type { ClaudeHome } from "./claude-home.ts";

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
