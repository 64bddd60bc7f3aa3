/**
 * `holdfast hook <event>`: what Claude Code calls, and waits for. Whatever happens it succeeds, prints an answer or
 * nothing, and does so in a moment: a session must never suffer from being remembered. What goes wrong is noted in a file.
 */
import { nodeChildProcess } from "../../base/builtin.ts";
import type { Logger } from "../../base/log.ts";
import { resolveClaudeHome } from "../../claude/native/layout.ts";
import { claudeLayout, resolveHome } from "../../config/layout.ts";
import { loadConfig } from "../../config/load.ts";
import { compileAtFirstUse } from "../../handoff/patterns/pattern.ts";
import { answerHook } from "../../hooks/claude-code/answer-hook.ts";
import { CLAUDE_HOOK_EVENTS, type ClaudeHookEvent } from "../../hooks/claude-code/hook-command.ts";
import { readInput, toHookInput } from "../../hooks/claude-code/hook-input.ts";
import { createHookLog } from "../../hooks/claude-code/hook-log.ts";

/**
 * When the answer is due, from the start of the process, in time that it uses: where the machine is busy with other
 * things everything takes longer, and still the answer should be the same.
 */
const ANSWER_MS = 120;
/** Claude Code begins to write before this process runs; only a machine that is very busy makes it late. */
const INPUT_MS = 50;
/** Whatever hangs then is left behind. A machine that is very busy gets that far without anything hanging. */
const HARD_LIMIT_MS = 2_000;

export async function hook(event: string | undefined): Promise<void> {
  const logger = createHookLog(claudeLayout(resolveHome()).hookLog);
  const fail = (error: unknown): void => logger.warn("a hook of Claude Code went wrong", { event, error });
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
  if (known === undefined) throw new Error("Claude Code has no hook of this name that is ours");
  const claudeHome = resolveClaudeHome();
  const record = process.stdin.isTTY ? undefined : await readInput(process.stdin, INPUT_MS * slowness());
  const input = record === undefined ? undefined : toHookInput(record, claudeHome);
  if (input === undefined) throw new Error("what came on the standard input is not what Claude Code sends");
  const home = resolveHome();
  const { config } = await loadConfig({ env: process.env, cwd: input.cwd, home });
  await answerHook(known, input, {
    home,
    config,
    env: process.env,
    claudeHome,
    logger,
    timeLeft: () => ANSWER_MS - usedMs(),
    beforeReading: runEverythingOnce,
    readHandoffs: async (query) => {
      const { readHandoffs } = await import("../../compose.ts");
      return await readHandoffs({ home, config, ...query });
    },
    answer: async (text) => await written(`${text}\n`),
  });
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** How many times longer everything takes than on a machine that has nothing else to do. */
function slowness(): number {
  // Not `performance`: that is a part of Node that takes a millisecond to load.
  const passedMs = process.uptime() * 1000;
  return Math.min(MOST_SLOWNESS, Math.max(1, passedMs / Math.max(1, usedMs())));
}

const MOST_SLOWNESS = 10;

/**
 * Reading a few messages runs much code and hundreds of expressions once or twice: making them faster, as V8 does with
 * what it meets again, takes longer than it saves. Code that is kept compiled, ours and Node's, does not fit these
 * settings, so what reading needs is loaded before.
 */
async function runEverythingOnce(): Promise<void> {
  await import("../../handoff/extract/extract.ts");
  nodeChildProcess();
  compileAtFirstUse();
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  for (const name of SPEED_UPS) setFlagsFromString(`--no-${name}`);
}

const SPEED_UPS = ["regexp-tier-up", "regexp-optimization", "sparkplug", "maglev", "opt"];

async function written(text: string): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}
