/**
 * Names of transcript files. Session and topic ids are foreign input: an id is a plain name or is refused, and two
 * different (session, topic) pairs never share a file.
 */
import { join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";
import { agentLayout, resolveHome } from "../config/layout.ts";
import { normalizeAgentId } from "../keys/names.ts";

export function resolveSessionTranscriptPath(sessionId: string, agentId?: string, topicId?: string | number): string {
  const { sessionsFolder } = agentLayout(resolveHome(), normalizeAgentId(agentId));
  return join(sessionsFolder, transcriptFileName(sessionId, topicId));
}

const SUFFIX = ".jsonl";
const TOPIC_MARK = "-topic-";
const MAX_ID_LENGTH = 128;
/** Leaves room within 255 bytes for suffixes of archives, torn tails and temporary files. */
const MAX_NAME_LENGTH = 180;

export function transcriptFileName(sessionId: string, topicId?: string | number): string {
  assertSessionId(sessionId);
  if (topicId === undefined) return `${sessionId}${SUFFIX}`;
  const stem = `${sessionId}${TOPIC_MARK}`;
  return `${stem}${encodeTopic(String(topicId), MAX_NAME_LENGTH - stem.length - SUFFIX.length)}${SUFFIX}`;
}

/** The session of a file name. Undefined if it is not the name of a transcript. */
export function sessionIdOfTranscript(fileName: string): string | undefined {
  if (!fileName.endsWith(SUFFIX)) return undefined;
  const stem = fileName.slice(0, -SUFFIX.length);
  const mark = stem.indexOf(TOPIC_MARK);
  const sessionId = mark === -1 ? stem : stem.slice(0, mark);
  return isSessionId(sessionId) ? sessionId : undefined;
}

/**
 * The names of the transcripts in a folder, in alphabetical order. Empty if the folder does not exist. `kept`: also the
 * originals that a rewrite or a repair has kept.
 */
export async function listTranscriptFiles(
  folder: string,
  { kept = false }: { kept?: boolean | undefined } = {},
): Promise<string[]> {
  const items = await readFolderIfPresent(folder);
  const names = items.filter((item) => item.isFile()).map(({ name }) => name);
  return names.filter((name) => isTranscriptName(name, kept)).toSorted();
}

export function isTranscriptName(name: string, kept: boolean): boolean {
  const original = kept ? name.replace(/\.(?:bak\.|damaged-|torn-)[\w.:-]+$/, "") : name;
  return sessionIdOfTranscript(original) !== undefined;
}

export function isSessionId(value: string): boolean {
  // With the mark, two pairs would have one name: session `a-topic-b`, and session `a` with topic `b`.
  return isPlainName(value) && value.length <= MAX_ID_LENGTH && !value.includes(TOPIC_MARK);
}

/** True if the name can be joined to a folder without leaving it. */
export function isPlainName(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
  return value !== "" && !value.startsWith(".") && !/[/\\:\u0000-\u001f\u007f]/.test(value) && value.isWellFormed();
}

function assertSessionId(value: string): void {
  if (isSessionId(value)) return;
  throw new HoldfastError("usage", "invalid-session-id", `${JSON.stringify(value)} cannot be a session id`, {
    hint: `A session id is a plain name of at most ${MAX_ID_LENGTH} characters: no separators, no leading dot, no "${TOPIC_MARK}".`,
  });
}

function encodeTopic(topic: string, room: number): string {
  if (topic.isWellFormed()) {
    const encoded = encodeURIComponent(topic);
    if (encoded.length <= room) return encoded;
  }
  // Encoded text has no "=", so a hashed topic cannot equal a plain one.
  const hash = nodeCrypto().createHash("sha256").update(Buffer.from(topic, "utf16le")).digest("hex");
  return `sha256=${hash.slice(0, 32)}`;
}
