/**
 * Claude Code as a language model: one request of `claude --print` with the person's own login, for text that Claude
 * Code has seen anyway. The process gets no tools, settings, hooks, MCP servers or project files, and leaves no session
 * on disk. The prompt goes through stdin: arguments are visible to other users and limited in length.
 */
import { tmpdir } from "node:os";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { printableLine } from "../base/text.ts";
import type { Environment } from "../config/layout.ts";
import type { LanguageModel, TextAnswer, TextRequest } from "../models/language-model.ts";
import { RUN_KIND_VARIABLE } from "./attribution.ts";
import { parseOutboundMessage } from "./protocol/messages.ts";
import { claudeEnvironment, findClaude } from "./runner/process/command-line.ts";
import { type LeashedProgram, startOnLeash } from "./runner/process/leash.ts";

export interface AskClaudeOptions {
  /** A name on the PATH, or a path. */
  command: string;
  env: Environment;
  /** As Claude Code calls it. Default: `haiku`, the cheapest. */
  model?: string | undefined;
}

const DEFAULT_MODEL = "haiku";
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Time for Claude Code to remove its own files after SIGTERM. */
const END_MS = 2_000;

export function claudeAsModel({ command, env, model = DEFAULT_MODEL }: AskClaudeOptions): LanguageModel {
  return {
    provider: "claude-code",
    model,
    generateText: async (request) => {
      request.signal?.throwIfAborted();
      const program = startOnLeash({
        program: findClaude(command, env),
        args: askArguments(model, request),
        cwd: tmpdir(),
        env: askEnvironment(env, request),
      });
      if (program === undefined) throw failed("it could not be started");
      return readAnswer(await outputOf(program, request), request);
    },
  };
}

function askArguments(model: string, { system }: TextRequest): string[] {
  return [
    "--print",
    `--model=${model}`,
    "--no-session-persistence",
    "--tools=",
    "--strict-mcp-config",
    "--setting-sources=",
    ...(system === undefined ? [] : [`--system-prompt=${system}`]),
    "--output-format=json",
    "--max-turns=1",
  ];
}

function askEnvironment(env: Environment, { maxTokens, reasoning }: TextRequest): Record<string, string> {
  const { [RUN_KIND_VARIABLE]: _kind, ...own } = env;
  return {
    ...claudeEnvironment(own),
    // By default it repeats a failed request for minutes.
    CLAUDE_CODE_MAX_RETRIES: "0",
    ...(maxTokens === undefined ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxTokens) }),
    ...(reasoning === "none" ? { MAX_THINKING_TOKENS: "0" } : {}),
  };
}

/** All of stdout. Fails if the time is up. Nothing of the process is left afterwards. */
async function outputOf(program: LeashedProgram, { prompt, signal }: TextRequest): Promise<string> {
  const { child, stdin, stdout, stderr } = program;
  const chunks: Buffer[] = [];
  let size = 0;
  const closed = new Promise<void>((resolve) => void stdout.once("close", resolve));
  const stop = (): void => {
    child.kill("SIGTERM");
    setTimeout(() => void program.release(), END_MS).unref();
  };
  stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else stop();
  });
  stderr.resume();
  // The result tells why it has ended.
  stdin.on("error", () => undefined);
  stdin.end(prompt);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    await closed;
  } finally {
    signal?.removeEventListener("abort", stop);
    await program.release();
  }
  if (signal?.aborted === true) throw failed(`no answer in time (${errorMessage(signal.reason)})`);
  return Buffer.concat(chunks).toString("utf8");
}

function readAnswer(output: string, { maxTokens }: TextRequest): TextAnswer {
  const result = parseOutboundMessage(output);
  if (result.type !== "result" || result.text === "") throw failed("no readable answer");
  const { text, isError, usage, totalCostUsd: costUsd } = result;
  if (isError) throw failed(text);
  const { outputTokens } = usage;
  const inputTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const finish = maxTokens !== undefined && outputTokens >= maxTokens ? "length" : "stop";
  return { text, finish, usage: { inputTokens, outputTokens }, costUsd };
}

function failed(reason: string): HoldfastError {
  return new HoldfastError("unavailable", "claude-ask-failed", `Claude Code: ${printableLine(reason, 200)}`, {
    hint: "Try `claude -p hello` in a terminal; it shows whether you are logged in.",
  });
}
