/**
 * One piece of work through everything that `openClaudeSide` builds, without stand-ins: selection over the index,
 * registry, archive, the MCP bridge as a separate process, and the real `claude` with a model API on loopback.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLogger } from "../../src/base/log.ts";
import { archiveNativeSessions } from "../../src/claude/archive/archive-sessions.ts";
import type { ClaudeCodeResult, RunnerEvent, SpawnOptions } from "../../src/claude/runner/runner-contract.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { claudeLayout } from "../../src/config/layout.ts";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { heldUntil, text, toolUse } from "../support/fake-anthropic/reply.ts";
import { runTestGit } from "../support/git-repo.ts";
import { telegram, say } from "../support/mcp-home.ts";
import { type ClaudeSide, openClaudeSide } from "../../src/compose/claude.ts";

interface Fixture extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  side: ClaudeSide;
  config: HoldfastConfig;
  run: (task: string, options?: Partial<SpawnOptions>) => Promise<ClaudeCodeResult>;
}

async function createFixture(): Promise<Fixture> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const home = join(claude.home, ".holdfast");
  const config: HoldfastConfig = {
    ...DEFAULT_CONFIG,
    claudeCode: {
      ...DEFAULT_CONFIG.claudeCode,
      command: claude.command,
      permissionMode: "bypassPermissions",
      sessionSelection: { ...DEFAULT_CONFIG.claudeCode.sessionSelection, relevance: "offline" },
    },
  };
  const side = openClaudeSide({ home, config, env: claude.env, logger: silentLogger });
  const runner = await side.runner();
  return {
    api,
    claude,
    side,
    config,
    run: async (task, options = {}) =>
      await runner.spawnClaudeCode({ task, repoPath: claude.repo, agentId: "main", ...options }),
    [Symbol.asyncDispose]: async () => {
      await runner.stopAllClaudeCode();
      side.close();
      await claude[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

/** Two people write to the agent; answers the key of the first one's conversation. */
async function chat({ side, config }: Fixture): Promise<string> {
  const saying = { home: side.home, config };
  const key = await say(saying, { ...telegram("1"), Body: "The customers of the heron shop wait for it" });
  await say(saying, { ...telegram("2"), Body: "Nobody else's business" });
  return key;
}

it("runs fresh, resumed, queued, in a parallel worktree, and as a replacement for a lost session", async () => {
  await using home = await createFixture();
  const { api, claude, side, run } = home;

  // Fresh. The model asks the bridge for the conversation that the task came from.
  const sessionKey = await chat(home);
  api.script(toolUse("mcp__holdfast__openclaw_conversation_context", {}), text("Signed."));
  const first = await run("Mend the signature check of the webhook handler", { sessionKey });
  expect(first).toMatchObject({ outcome: "completed", text: "Signed.", selection: { action: "fresh" }, denials: [] });
  const [answered] = api.conversation.flatMap(toolResults);
  expect(answered).toMatchObject({ isError: false });
  expect(answered?.text).toContain("heron shop");
  expect(answered?.text).not.toContain("Nobody else");

  // Resumed, because the selection finds it. Who comes meanwhile waits; a label in a linked worktree does not.
  const worktree = join(claude.home, "worktree");
  runTestGit(claude.repo, ["worktree", "add", "-b", "docs", worktree]);
  const released = Promise.withResolvers<void>();
  api.answer((request) =>
    request.kind === "main" && lastUserText(request).includes("slowly")
      ? heldUntil(released.promise, text("a b c"))
      : undefined,
  );
  const running = run("Add a test for the signature check of the webhook handler, slowly", { sessionKey });
  await api.waitFor((request) => lastUserText(request).includes("slowly"));
  const events: RunnerEvent[] = [];
  const onEvent = (event: RunnerEvent): void => void events.push(event);
  const waiting = run("Go on with the test of the webhook handler", { sessionKey, onEvent });
  const labelled = await run("Describe the pages", { repoPath: worktree, label: "docs" });
  expect(labelled).toMatchObject({ outcome: "completed", selection: { action: "fresh", label: "docs" } });
  released.resolve();
  const [second, third] = await Promise.all([running, waiting]);
  expect(second).toMatchObject({ outcome: "completed", sessionId: first.sessionId, warnings: [] });
  expect(second.selection).toMatchObject({ action: "resume", relevanceBy: "offline" });
  expect(second.selection.scores[0]).toMatchObject({ sessionId: first.sessionId, recommendation: "resume" });
  expect(events.find(({ type }) => type === "queued")).toMatchObject({ holder: { sessionId: first.sessionId } });
  expect(third).toMatchObject({ outcome: "completed", sessionId: first.sessionId, selection: { action: "resume" } });
  expect(await run("Something else altogether", { repoPath: worktree, label: "docs" })).toMatchObject({
    sessionId: labelled.sessionId,
    selection: { action: "resume" },
  });

  // What the registry and the transcript say of it, each cost counted once.
  const row = await side.find(first.sessionId ?? "");
  expect(row).toMatchObject({ agentId: "main", originMarker: "main", origin: "this-agent", isRunning: false });
  expect(row.totalCostUsd).toBeCloseTo(first.costUsd + second.costUsd + third.costUsd, 9);

  // Lost: Claude Code has deleted it, the archive has not.
  const index = await side.index();
  await index.refresh();
  const places = { claudeHome: side.claudeHome, home: side.home, index };
  await archiveNativeSessions({ ...places, daysBefore: Number.POSITIVE_INFINITY, redact: false });
  await rm(row.transcriptPath ?? "");
  await expect(run("and now?", { resume: first.sessionId ?? "" })).rejects.toMatchObject({ code: "session-of-chat" });
  events.length = 0;
  const instead = await run("--help: and now?", { sessionKey, resume: first.sessionId ?? "", onEvent });
  expect(instead).toMatchObject({ outcome: "completed", selection: { action: "fresh" } });
  expect(instead.sessionId).not.toBe(first.sessionId);
  expect(instead.warnings.join()).toContain(`Session ${first.sessionId} could not be resumed`);
  expect(events.find(({ type }) => type === "fallback")).toMatchObject({ sessionId: first.sessionId });
  const asked = lastUserText(api.conversation.at(-1) ?? { messages: [] });
  expect(asked).toMatch(/^\[openclaw:agent=main\]\n\n/);
  expect(asked).toContain("Person: Go on with the test of the webhook handler");
  expect(asked.endsWith("The task:\n--help: and now?")).toBe(true);
  expect(await readdir(claudeLayout(side.home).locksFolder)).toEqual([]);
  await claude.empty();
});
