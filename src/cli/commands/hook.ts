/**
 * `holdfast hook <event>`: Claude Code calls it and waits. It always succeeds, prints an answer or nothing, and is
 * fast, so that no session is disturbed. Failures go to a log file.
 */
import type { Logger } from "../../base/log.ts";
import { resolveClaudeHome } from "../../claude/native/layout.ts";
import { claudeLayout, resolveHome } from "../../config/layout.ts";
import { loadConfig } from "../../config/load.ts";
import { answerHook } from "../../hooks/claude-code/answer-hook.ts";
import {
  CLAUDE_HOOK_EVENTS,
  type ClaudeHookEvent,
  readInput,
  toHookInput,
  createHookLog,
} from "../../hooks/claude-code/hook-call.ts";

/** Claude Code writes the input before this process runs, so it is late only on a very busy machine. */
const INPUT_MS = 500;
const HARD_LIMIT_MS = 2_000;

export async function hook(event: string | undefined): Promise<void> {
  const logger = createHookLog(claudeLayout(resolveHome()).hookLog);
  const fail = (error: unknown): void => logger.warn("a hook of Claude Code failed", { event, error });
  process.stdout.removeAllListeners("error").on("error", () => undefined);
  process.on("uncaughtException", (error) => {
    fail(error);
    end();
  });
  setTimeout(() => {
    fail(new Error(`it took more than ${HARD_LIMIT_MS} ms`));
    end();
  }, HARD_LIMIT_MS);
  try {
    await run(event, logger);
  } catch (error) {
    fail(error);
  }
  end();
}

function end(): never {
  process.exit(0);
}

async function run(event: string | undefined, logger: Logger): Promise<void> {
  const known = CLAUDE_HOOK_EVENTS.find((name): name is ClaudeHookEvent => name === event);
  if (known === undefined) throw new Error("unknown hook event");
  const claudeHome = resolveClaudeHome();
  const record = process.stdin.isTTY ? undefined : await readInput(process.stdin, INPUT_MS);
  const input = record === undefined ? undefined : toHookInput(record, claudeHome);
  if (input === undefined) throw new Error("invalid input on stdin");
  const home = resolveHome();
  const { config } = await loadConfig({ env: process.env, cwd: input.cwd, home });
  await answerHook(known, input, {
    home,
    config,
    env: process.env,
    claudeHome,
    logger,
    elapsedMs: () => process.uptime() * 1000,
    readHandoffs: async (query) => {
      const { readHandoffs } = await import("../../compose/agent.ts");
      return await readHandoffs({ home, config, ...query });
    },
    answer: async (text) => await written(`${text}\n`),
  });
}

async function written(text: string): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}
