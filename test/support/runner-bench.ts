/**
 * A runner on a scratch home, with the real `claude` and a model API on loopback that answers tasks by what
 * they contain:
 *
 *   await using bench = await createRunnerBench();
 *   bench.reply("first task", text("first answer"));
 *   const result = await bench.run("first task");
 */
import { setTimeout as delay } from "node:timers/promises";
import type { RunnerEvent, SpawnOptions } from "../../src/claude/runner/runner-contract.ts";
import { type ClaudeRunner, createClaudeRunner } from "../../src/claude/runner/runner.ts";
import { type ClaudeHome, createClaudeHome } from "./claude-home.ts";
import { type TestRunnerSetup, testRunnerParts } from "./claude-runner.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";
import { lastUserText } from "./fake-anthropic/recorded-request.ts";
import type { Reply } from "./fake-anthropic/reply.ts";

export interface RunnerBench extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  setup: TestRunnerSetup;
  runner: ClaudeRunner;
  locksFolder: string;
  events: RunnerEvent[];
  /** One task in the bench's repo, fresh events included in `events`. */
  run(task: string, options?: Partial<SpawnOptions>): ReturnType<ClaudeRunner["spawnClaudeCode"]>;
  /** Answers tasks by what they contain. */
  reply(word: string, reply: Reply): void;
  event(type: RunnerEvent["type"]): Promise<RunnerEvent>;
}

export async function createRunnerBench(more: Partial<TestRunnerSetup> = {}): Promise<RunnerBench> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const setup = { ...more, command: claude.command, configDir: claude.configDir, home: claude.home, env: claude.env };
  const parts = testRunnerParts(setup);
  const runner = createClaudeRunner(parts);
  const events: RunnerEvent[] = [];
  const replies = new Map<string, Reply>();
  api.answer((request) => {
    if (request.kind !== "main") return undefined;
    // After a tool the last thing that was asked stands before its result.
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

export async function until<T>(look: () => T | undefined | Promise<T | undefined>, failure: string): Promise<T> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(failure);
    await delay(20);
  }
}

/** Messages that have the same parent: two writers leave such. */
export async function branchPoints({ claude }: RunnerBench, sessionId: string): Promise<number> {
  const lines = await claude.transcript(sessionId);
  const parents = lines
    .filter((line) => line["type"] === "user" || line["type"] === "assistant")
    .map((line) => line["parentUuid"]);
  return parents.length - new Set(parents).size;
}

export async function prompts({ claude }: RunnerBench, sessionId: string): Promise<string[]> {
  const lines = await claude.transcript(sessionId);
  return lines
    .filter((line) => line["type"] === "user")
    .map((line) => (line["message"] as { content: unknown }).content)
    .flatMap((content) => (typeof content === "string" ? [content] : []));
}
