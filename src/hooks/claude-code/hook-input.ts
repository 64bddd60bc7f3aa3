/**
 * What Claude Code tells a hook on its standard input. Anybody may call a hook with anything: the text is bounded, is
 * not waited for for long, and what it names becomes a path only if it has the form of Claude Code's own.
 */
import { basename, dirname, isAbsolute, join } from "node:path";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { projectsFolder } from "../../claude/native/layout.ts";

export interface HookInput {
  sessionId: string;
  /** Where the session works; may be gone. */
  cwd: string;
  /** May not exist yet. */
  transcriptPath: string;
  /** Of a session that starts: why. */
  source: string;
}

/** More than the longest answer of a model, which the end of a turn comes with. */
const MOST_BYTES = 1024 * 1024;

/**
 * Undefined when what comes is no input, or nothing more of it comes within the time: what is longer than a pipe holds
 * is written as fast as the other side can. The end of the stream is not waited for.
 */
export async function readInput(stream: NodeJS.ReadableStream, waitMs: number): Promise<JsonRecord | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const done = Promise.withResolvers<JsonRecord | undefined>();
  const giveUp = (): void => {
    // A process that was held up finds its timer due before it has looked at what came meanwhile.
    const sizeThen = size;
    setImmediate(() => size === sizeThen && done.resolve(undefined));
  };
  const timer = setTimeout(giveUp, waitMs);
  stream.on("data", (chunk: Buffer | string) => {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    timer.refresh();
    if (size > MOST_BYTES) return done.resolve(undefined);
    // It is one object: only what ends with a brace can be all of it.
    const record = /\}\s*$/.test(bytes.toString("latin1")) ? parse(chunks) : undefined;
    if (record !== undefined) done.resolve(record);
  });
  stream.on("end", () => done.resolve(parse(chunks)));
  stream.on("error", () => done.resolve(undefined));
  try {
    return await done.promise;
  } finally {
    clearTimeout(timer);
    stream.pause();
  }
}

function parse(chunks: readonly Buffer[]): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Undefined when it is not what Claude Code sends. */
export function toHookInput(record: JsonRecord, claudeHome: string): HookInput | undefined {
  const { session_id: sessionId, cwd, transcript_path: path, source } = record;
  if (typeof sessionId !== "string" || !SESSION_ID.test(sessionId)) return undefined;
  if (typeof cwd !== "string" || !isAbsolute(cwd) || cwd.includes("\0")) return undefined;
  const folder = typeof path === "string" ? basename(dirname(path)) : "";
  if (!/^[A-Za-z0-9-]+$/.test(folder)) return undefined;
  return {
    sessionId: sessionId.toLowerCase(),
    cwd,
    transcriptPath: join(projectsFolder(claudeHome), folder, `${sessionId}.jsonl`),
    source: typeof source === "string" ? source : "",
  };
}
