/** The `search_files` tool. It runs in a worker thread, so a slow pattern cannot exceed the deadline. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { type ErrorReport, HoldfastError } from "../../base/errors.ts";
import { type AgentTool, toolSchema } from "./agent-tool.ts";

const MAX_MATCHES = 100;
const DEADLINE_MS = 10_000;
const MEMORY_MB = 256;

export function createSearchFiles(workspace: string, deadlineMs = DEADLINE_MS): AgentTool {
  return {
    name: "search_files",
    description:
      "Searches the text files of your workspace line by line, for a text or, with regex, a regular expression of " +
      `JavaScript. Answers path:line: text, at most ${MAX_MATCHES} lines. Does not look into .git and node_modules.`,
    inputSchema: toolSchema({
      pattern: { type: "string", description: "What to look for" },
      "path?": { type: "string", description: "A file or folder in the workspace. Default: everything" },
      "regex?": { type: "boolean", description: "The pattern is a regular expression. Default: false" },
      "ignoreCase?": { type: "boolean", description: "Ignore case. Default: false" },
    }),
    run: async ({ pattern, path = ".", regex = false, ignoreCase = false }, { signal }) => {
      if (pattern === "") {
        throw new HoldfastError("usage", "pattern-empty", "The pattern is empty.", { hint: "Say what to look for." });
      }
      const request: SearchRequest = {
        workspace,
        path: String(path),
        pattern: String(pattern),
        isRegex: regex === true,
        ignoreCase: ignoreCase === true,
        maxMatches: MAX_MATCHES,
      };
      const found = await searchInThread(request, deadlineMs, signal);
      signal.throwIfAborted();
      return describeMatches(found, deadlineMs);
    },
  };
}

interface Found {
  lines: string[];
  /** Undefined: the deadline passed. */
  end?: Extract<SearchReport, { type: "done" }> | undefined;
}

async function searchInThread(request: SearchRequest, deadlineMs: number, signal: AbortSignal): Promise<Found> {
  const program = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(program, {
    workerData: request,
    // The thread inherits neither flags nor environment.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const lines: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  const timer = setTimeout(() => resolve({ lines }), deadlineMs);
  const onAbort = (): void => resolve({ lines });
  signal.addEventListener("abort", onAbort, { once: true });
  worker.on("error", reject);
  worker.on("exit", () => resolve({ lines }));
  worker.on("message", (report: SearchReport) => {
    if (report.type === "match") lines.push(`${report.path}:${report.line}: ${report.text}`);
    else if (report.type === "done") resolve({ lines, end: report });
    else {
      const { kind, code, message, hint } = report.error;
      reject(new HoldfastError(kind, code, message, { hint }));
    }
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}

function describeMatches({ lines, end }: Found, deadlineMs: number): string {
  const notes: string[] = [];
  if (end === undefined) {
    notes.push(`[stopped after ${deadlineMs / 1000} s; use a simpler pattern or a smaller folder]`);
  } else {
    if (lines.length === 0) notes.push(`Nothing found in ${end.files} files.`);
    if (!end.complete) notes.push("[there is more; use a narrower pattern or a smaller folder]");
    if (end.skipped > 0) notes.push(`[${end.skipped} files were skipped: not text, or too large]`);
  }
  return [...lines, ...notes].join("\n");
}

export interface SearchRequest {
  workspace: string;
  path: string;
  pattern: string;
  isRegex: boolean;
  ignoreCase: boolean;
  maxMatches: number;
}

export type SearchReport =
  | { type: "match"; path: string; line: number; text: string }
  | { type: "done"; files: number; skipped: number; complete: boolean }
  | { type: "failed"; error: ErrorReport };
