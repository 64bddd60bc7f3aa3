/** One session as its transcript and those of its subagents tell it. */
import { basename } from "node:path";
import { openNativeFileSync } from "./layout.ts";
import { type FileScan, createFileScanner } from "./scan-file.ts";
import { type SessionScan, sessionTitle } from "./session-scan.ts";
import { type SubagentTranscript, listSubagents } from "./transcripts.ts";
import { type TokenCount, type UsageLedger, mergeUsage, sumUsage } from "./usage.ts";

export interface SessionSummary {
  sessionId: string;
  path: string;
  /** Custom title, else the generated one, else the last summary, else the first prompt. */
  title?: string;
  /** Claude Code's note of it, else what the person wrote last. */
  lastPrompt?: string;
  /** Distinct answers of the model in the main transcript. */
  apiMessages: number;
  /** Of the main transcript. */
  tokens: TokenCount;
  /** With those of the subagents. */
  totalTokens: TokenCount;
  subagents: SubagentSummary[];
  /** Bytes of a last line that is not whole: being written, or torn. */
  tornBytes: number;
  /** Everything else that the main transcript says. */
  scan: SessionScan;
  /** Of all transcripts, so that sessions that share messages can be summed together. */
  ledger: UsageLedger;
}

export interface SubagentSummary extends SubagentTranscript {
  tokens: TokenCount;
  scan: SessionScan;
}

/** Undefined when there is no such transcript. */
export async function summarizeSession(path: string): Promise<SessionSummary | undefined> {
  const file = scanTranscript(path);
  if (file === undefined) return undefined;
  const { scan, ledger, tornBytes } = file;
  const all: UsageLedger = new Map(ledger);
  const subagents: SubagentSummary[] = [];
  for (const subagent of await listSubagents(path)) {
    const read = scanTranscript(subagent.path);
    if (read === undefined) continue;
    mergeUsage(all, read.ledger);
    subagents.push({ ...subagent, tokens: sumUsage(read.ledger), scan: read.scan });
  }
  const title = sessionTitle(scan);
  const lastPrompt = scan.notedPrompt ?? scan.prompts.at(-1);
  return {
    sessionId: basename(path, ".jsonl"),
    path,
    ...(title === undefined ? {} : { title }),
    ...(lastPrompt === undefined ? {} : { lastPrompt }),
    apiMessages: ledger.size,
    tokens: sumUsage(ledger),
    totalTokens: sumUsage(all),
    subagents,
    tornBytes,
    scan,
    ledger: all,
  };
}

function scanTranscript(path: string): FileScan | undefined {
  using file = openNativeFileSync(path);
  return file === undefined ? undefined : createFileScanner().scan(file.descriptor);
}
