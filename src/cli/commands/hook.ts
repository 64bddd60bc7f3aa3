/**
 * `holdfast hook <event>`: what Claude Code calls, and waits for. Whatever happens it succeeds, prints an answer or
 * nothing, and does so in a moment: a session must never suffer from being remembered. What goes wrong is noted in a file.
 */
import type { Logger } from "../../base/log.ts";
import { resolveClaudeHome } from "../../claude/native/layout.ts";
import { claudeLayout, resolveHome } from "../../config/layout.ts";
import { CLAUDE_HOOK_EVENTS, type ClaudeHookEvent } from "../../hooks/claude-code/hook-command.ts";
import { createHookLog } from "../../hooks/claude-code/hook-log.ts";

/**
 * What the answer may take, beyond the start of Node, in time that this process uses: where the machine is busy with
 * other things everything takes longer, and still the answer should be the same.
 */
const ANSWER_MS = 100;
/** Claude Code has written it before this process runs; only a machine that is very busy makes it late. */
const INPUT_MS = 200;
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
  const used = process.cpuUsage();
  const known = CLAUDE_HOOK_EVENTS.find((name): name is ClaudeHookEvent => name === event);
  if (known === undefined) throw new Error("Claude Code has no hook of this name that is ours");
  const [{ readInput, toHookInput }, { answerHook }, { loadConfig }] = await Promise.all([
    import("../../hooks/claude-code/hook-input.ts"),
    import("../../hooks/claude-code/answer-hook.ts"),
    import("../../config/load.ts"),
  ]);
  const claudeHome = resolveClaudeHome();
  const record = process.stdin.isTTY ? undefined : await readInput(process.stdin, INPUT_MS);
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
    timeLeft: () => ANSWER_MS - usedMs(used),
    readHandoffs: async (query) => {
      const { readHandoffs } = await import("../../compose.ts");
      return await readHandoffs({ home, config, ...query });
    },
    answer: async (text) => await written(`${text}\n`),
  });
}

function usedMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

async function written(text: string): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}
