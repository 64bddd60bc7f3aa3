/**
 * A runner on a scratch home with the real `claude`, and a fake model API that answers tasks by words in
 * them:
 *
 *   await using home = await createRunnerHome();
 *   home.reply("first task", text("first answer"));
 *   const result = await home.run("first task");
 */
import { join, sep } from "node:path";
import { randomIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log.ts";
import { markTask } from "../../src/claude/attribution.ts";
import { readRunningSessions } from "../../src/claude/native/layout.ts";
import { listAllSessions, resolveSession, saveSession } from "../../src/claude/registry/registry.ts";
import { readSessionCosts, updateSessionStats } from "../../src/claude/registry/run-stats.ts";
import { startClaudeProcess } from "../../src/claude/runner/process/start-claude-process.ts";
import type {
  RunnerEvent,
  SpawnOptions,
  McpServerCommand,
  RunnerParts,
} from "../../src/claude/runner/runner-contract.ts";
import { type ClaudeRunner, createClaudeRunner } from "../../src/claude/runner/runner.ts";
import type { SessionSelection } from "../../src/claude/selection/selection.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { claudeLayout } from "../../src/config/layout.ts";
import { type ClaudeHome, createClaudeHome } from "./claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";
import { lastUserText } from "./fake-anthropic/recorded-request.ts";
import type { Reply } from "./fake-anthropic/reply.ts";
import { until } from "./time.ts";

export interface RunnerHome extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  setup: TestRunnerSetup;
  runner: ClaudeRunner;
  locksFolder: string;
  events: RunnerEvent[];
  /** Runs a task in the home's repo and adds its events to `events`. */
  run(task: string, options?: Partial<SpawnOptions>): ReturnType<ClaudeRunner["spawnClaudeCode"]>;
  /** Sets the reply to tasks that contain the word. */
  reply(word: string, reply: Reply): void;
  event(type: RunnerEvent["type"]): Promise<RunnerEvent>;
}

export async function createRunnerHome(more: Partial<TestRunnerSetup> = {}): Promise<RunnerHome> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const setup = { ...more, command: claude.command, configDir: claude.configDir, home: claude.home, env: claude.env };
  const parts = testRunnerParts(setup);
  const runner = createClaudeRunner(parts);
  const events: RunnerEvent[] = [];
  const replies = new Map<string, Reply>();
  api.answer((request) => {
    if (request.kind !== "main") return undefined;
    // After a tool call the question precedes the tool's result.
    const asked =
      request.messages.map((message) => lastUserText({ messages: [message] })).findLast((said) => said !== "") ?? "";
    return [...replies].find(([word]) => asked.includes(word))?.[1];
  });
  return {
    api,
    claude,
    setup,
    runner,
    locksFolder: parts.locksFolder,
    events,
    reply: (word, reply) => void replies.set(word, reply),
    run: async (task, options = {}) =>
      await runner.spawnClaudeCode({
        task,
        repoPath: claude.repo,
        agentId: "main",
        onEvent: (event) => void events.push(event),
        ...options,
      }),
    event: async (type) => await until(() => events.find((event) => event.type === type), `no event ${type}`),
    [Symbol.asyncDispose]: async () => {
      await runner.stopAllClaudeCode();
      await claude[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

/** The number of messages that share a parent, which only two writers cause. */
export async function branchPoints({ claude }: RunnerHome, sessionId: string): Promise<number> {
  const lines = await claude.transcript(sessionId);
  const parents = lines
    .filter((line) => line["type"] === "user" || line["type"] === "assistant")
    .map((line) => line["parentUuid"]);
  return parents.length - new Set(parents).size;
}

export async function prompts({ claude }: RunnerHome, sessionId: string): Promise<string[]> {
  const lines = await claude.transcript(sessionId);
  return lines
    .filter((line) => line["type"] === "user")
    .map((line) => (line["message"] as { content: unknown }).content)
    .flatMap((content) => (typeof content === "string" ? [content] : []));
}

/** Serializable, to pass it to another process. */
export interface TestRunnerSetup {
  command: string;
  configDir: string;
  home: string;
  env: Record<string, string>;
  idleTimeoutMinutes?: number;
  mcpServer?: McpServerCommand;
}

export function testRunnerParts(setup: TestRunnerSetup): RunnerParts {
  const home = join(setup.home, ".holdfast");
  const { mcpServer } = setup;
  const readRunning = async () => await readRunningSessions(setup.configDir);
  return {
    locksFolder: claudeLayout(home).locksFolder,
    configOf: () => ({
      ...DEFAULT_CONFIG.claudeCode,
      command: setup.command,
      permissionMode: "bypassPermissions",
      idleTimeoutMinutes: setup.idleTimeoutMinutes ?? 30,
    }),
    env: setup.env,
    log: silentLogger,
    ids: randomIds,
    startProcess: startClaudeProcess,
    readRunning,
    markTask,
    peekHistory: async () => undefined,
    ...(mcpServer === undefined ? {} : { mcpServer: () => mcpServer }),
    registry: {
      saveSession: async (agentId, session) => await saveSession({ home, agentId }, session),
      updateSessionStats: async (agentId, stats) => await updateSessionStats({ home, agentId }, stats),
      readSessionCosts: async (agentId, sessionId) => await readSessionCosts({ home, agentId }, sessionId),
    },
    selectSession: async ({ repoPath, agentId, label, excluded, waiting }) => {
      const none = { scores: [], relevanceBy: "none" as const };
      const known = await resolveSession({ home, agentId }, repoPath, label);
      if (known !== undefined && waiting.includes(known)) {
        return { ...none, action: "continue", sessionId: known, reason: "It is open." };
      }
      const here = (await readRunning()).find(
        (one) => !excluded.includes(one.sessionId) && `${one.cwd ?? ""}${sep}`.startsWith(`${repoPath}${sep}`),
      );
      const decision: SessionSelection =
        here !== undefined && label === undefined
          ? { ...none, action: "queue", sessionId: here.sessionId, reason: `Process ${here.pid} runs here.` }
          : known === undefined
            ? { ...none, action: "fresh", reason: "There is none." }
            : { ...none, action: "resume", sessionId: known, reason: "The registry has it." };
      return decision;
    },
  };
}

/** The cost of a session in the registry. */
export async function registeredCost(setup: TestRunnerSetup, sessionId: string): Promise<number | undefined> {
  const { sessions } = await listAllSessions({ home: join(setup.home, ".holdfast") });
  return sessions.find((one) => one.sessionId === sessionId)?.totalCostUsd;
}
