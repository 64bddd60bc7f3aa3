/**
 * The messages of one of Claude Code's transcripts, from a place on. The format belongs to Claude Code and
 * changes without notice: every member may be missing or of another type, and a line that is not understood
 * is passed over. What subagents, hooks, commands and compactions wrote is no part of the conversation.
 */
import { parseJson } from "../../claude/native/parse-json.ts";
import { openNativeFile } from "../../claude/native/layout.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { fileError } from "../../base/errors.ts";
import { readLines } from "../../base/jsonl.ts";
import type { ReadMessage } from "../state.ts";
import { readNativeLine } from "./native-message.ts";
import { type ReadOptions, type ReadTranscript, readingStart } from "./read-transcript.ts";
import { hashTranscript } from "./transcript-hash.ts";

/** Undefined when there is no such file, or something else has its name. */
export async function readNative(
  path: string,
  from: { offset: number },
  options: ReadOptions = {},
): Promise<ReadTranscript | undefined> {
  await using handle = await openNativeFile(path);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const start = readingStart(from.offset, size, options);
    const messages: ReadMessage[] = [];
    const envelope: Envelope = {};
    let offset = start;
    for await (const line of readLines(handle, { start })) {
      if (!line.terminated) break;
      offset = line.end;
      const record = isConversation(line.bytes) ? parseJson(line.bytes.toString("utf8")) : undefined;
      if (!isRecord(record) || record["isSidechain"] === true) continue;
      readEnvelope(record, envelope);
      const message = readNativeLine(record);
      if (message !== undefined) messages.push(message);
    }
    return { messages, start, offset, hash: await hashTranscript(handle, offset), ...envelope };
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** Lines of people and the model; parsing the others, some of them large, would tell nothing. */
function isConversation(bytes: Buffer): boolean {
  return bytes.includes('"type":"user"') || bytes.includes('"type":"assistant"');
}

type Envelope = Pick<ReadTranscript, "sessionId" | "cwd" | "branch">;

const NAME_LENGTH = 4096;

/** One file can hold several folders and branches: the last ones count. */
function readEnvelope(record: JsonRecord, envelope: Envelope): void {
  const { sessionId, cwd, gitBranch } = record;
  if (typeof sessionId === "string" && sessionId !== "") envelope.sessionId ??= sessionId.slice(0, NAME_LENGTH);
  if (typeof cwd === "string" && cwd !== "") envelope.cwd = cwd.slice(0, NAME_LENGTH);
  if (typeof gitBranch === "string" && gitBranch !== "") envelope.branch = gitBranch.slice(0, NAME_LENGTH);
}
