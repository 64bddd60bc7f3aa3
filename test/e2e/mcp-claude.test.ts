/** The bridge inside the real Claude Code: the model calls each tool and reads its answer. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { createClaudeHome } from "../support/claude-home.ts";
import { startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { telegram, say } from "../support/mcp-home.ts";
import { runCliShared } from "../support/cli.ts";
import { TOOL_NAMES } from "../../src/mcp/bridge-parts.ts";

const SESSION = "0b7e4c62-7a0a-4f0e-8a38-2c1c4a3e5d10";

/** The model's calls, and text that the answers must contain. */
const ASKED: [tool: (typeof TOOL_NAMES)[number], args: Record<string, unknown>, found: string][] = [
  ["openclaw_conversation_context", {}, "Please mend the webhook"],
  ["openclaw_memory_search", { query: "HMAC" }, "signs with **HMAC**"],
  ["openclaw_announce", { message: "I have begun" }, '"status":"kept"'],
  ["openclaw_session_info", {}, SESSION],
  ["openclaw_project_status", {}, "A first commit"],
  ["openclaw_session_list", {}, '"isRunning":true'],
  ["openclaw_session_search", { query: "webhook" }, '"kind":"chat"'],
  ["openclaw_decide_session", { task: "Mend the webhook" }, '"action":"fresh"'],
  ["openclaw_handoff", {}, '"found":false'],
];

it("returns each tool's answer in the CLI's next request", async () => {
  await using api = await startFakeAnthropic();
  await using claude = await createClaudeHome(api);
  const home = join(claude.home, ".holdfast");
  await fillHome(home);
  const config = join(claude.home, "mcp.json");
  const { stdout } = await runCliShared(["mcp", "--print-config"], { home });
  await writeFile(config, stdout);
  expect(ASKED.map(([tool]) => tool).toSorted()).toEqual([...TOOL_NAMES].toSorted());
  api.script(...ASKED.map(([tool, args]) => toolUse(`mcp__holdfast__${tool}`, args)), text("That is all."));

  const allowed = TOOL_NAMES.map((tool) => `mcp__holdfast__${tool}`).join(",");
  const flags = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", allowed, "--session-id", SESSION];
  const ran = promisify(execFile)(claude.command, ["-p", "Mend the webhook", ...flags], {
    cwd: claude.repo,
    env: claude.env,
  });
  ran.child.stdin?.end();
  expect((await ran).stdout).toContain("That is all.");

  const [first, ...answered] = api.conversation;
  for (const tool of TOOL_NAMES) expect(first?.tools).toContain(`mcp__holdfast__${tool}`);
  expect(answered).toHaveLength(ASKED.length);
  for (const [index, [tool, , found]] of ASKED.entries()) {
    const request = answered[index];
    const [result] = request === undefined ? [] : toolResults(request);
    expect(result, tool).toMatchObject({ isError: false, text: expect.stringContaining(found) as string });
  }
  await claude.empty();
});

async function fillHome(home: string): Promise<void> {
  await say({ home, config: DEFAULT_CONFIG }, { ...telegram("1"), Body: "Please mend the webhook" });
  const { workspace } = agentLayout(home, "main");
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "MEMORY.md"), "The webhook signs with HMAC.\n");
}
