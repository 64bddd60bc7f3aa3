/**
 * What the end of a Claude Code transcript says before anything has judged its sentences: facts, and the last exchange
 * in its own words. For a session that starts right now. Nothing of it is stored; a capture reads everything.
 */
import { redactText } from "../base/redact.ts";
import type { HandoffConfig } from "../config/config.ts";
import { type Heard, nothingCarried, takeMessage } from "./digest.ts";
import { isLine, summaryOf } from "./items.ts";
import { clearedAtOf, expiryOf, readState } from "./kept-state.ts";
import { matterOf } from "./matter.ts";
import { excerpt } from "./patterns/content.ts";
import { readNative } from "./read/read-native.ts";
import { type ReadTranscript, transcriptFits } from "./read/read-transcript.ts";
import {
  type CaptureReason,
  type CarriedState,
  type Digest,
  type ReadMessage,
  STATE_VERSION,
  type SessionState,
  type SummaryItem,
} from "./state.ts";
import { UNANSWERED, openTodos, withBranch, workFacts } from "./work-facts.ts";

export interface NativeEnd {
  agentId: string;
  config: HandoffConfig;
  sessionKey: string;
  sessionId: string;
  path: string;
  cwd: string;
  project: string;
  reason: CaptureReason;
  /** How many messages are quoted, beside the last request. Most of the time goes into removing their secrets. */
  quotes: number;
}

const MAX_BYTES = 256 * 1024;

/** Undefined: nothing new. `kept` is the stored state, whose lines stay. */
export async function readUnjudged(end: NativeEnd, kept: unknown): Promise<SessionState | undefined> {
  const { path, project } = end;
  const known = readState(kept);
  const isSame = known !== undefined && (await transcriptFits(path, placeIn(known), "native"));
  const base = isSame ? known : undefined;
  const reading = await readNative(path, { offset: base?.transcript.offset ?? 0 }, { maxBytes: MAX_BYTES });
  if (reading === undefined) return undefined;
  // Even an invalid state says what the person wanted forgotten.
  const clearedAt = base === undefined ? clearedAtOf(kept) : undefined;
  const messages = reading.messages.filter(({ timestamp }) => isAfter(timestamp, clearedAt));
  const last = messages.at(-1);
  if (last === undefined) return undefined;
  const carried = base === undefined ? nothingCarried() : structuredClone(base.carried);
  const heard = lastSaid(messages);
  for (const message of messages.filter((one) => heard.has(one) || usesTools(one))) {
    takeMessage(carried, message, { index: 0, project }, heard.has(message) ? hear : () => []);
  }
  const items = itemsOf(carried, project, { known: base?.items ?? [], messages, quotes: end.quotes });
  const quoted = messages.filter(({ entryId }) => items.some((item) => item.entryId === entryId)).length;
  return stateOf(end, { base, reading, carried, items, quoted, lastMessageAt: last.timestamp });
}

function placeIn({ transcript, transcriptHash }: SessionState): { offset: number; hash: string } {
  return { offset: transcript.offset, hash: transcriptHash };
}

function isAfter(timestamp: string, instant: string | undefined): boolean {
  return instant === undefined || !(Date.parse(timestamp) <= Date.parse(instant));
}

function usesTools({ calls, results, todos, todoChanges }: ReadMessage): boolean {
  return [calls, results, todos, todoChanges].some((part) => part !== undefined);
}

const MAX_HEARD = 8;

/** Of the messages with text, the last ones and the last one of a person. Of earlier ones only the tools count. */
function lastSaid(messages: readonly ReadMessage[]): ReadonlySet<ReadMessage> {
  const said = messages.filter(({ text }) => text !== "");
  const asked = said.findLast(({ role }) => role === "user");
  return new Set([...said.slice(-MAX_HEARD), ...(asked === undefined ? [] : [asked])]);
}

/** The beginning of a message as one sentence. With secrets: removing them takes longer than all the rest. */
function hear({ text }: Pick<ReadMessage, "text">): Heard[] {
  if (text.trim() === "") return [];
  const isQuestion = /[?？]\s*$/.test(text);
  return [
    {
      sentence: { text: text.trim().slice(0, HEARD_LENGTH), isQuestion, isItem: false, checked: undefined },
      scores: [],
      words: [],
    },
  ];
}

/** Much longer than a line, so that no secret is cut where a line ends. */
const HEARD_LENGTH = 1000;

interface Said {
  known: readonly SummaryItem[];
  messages: readonly ReadMessage[];
  quotes: number;
}

function itemsOf(carried: CarriedState, project: string, { known, messages, quotes }: Said): SummaryItem[] {
  const digests = carried.digests.filter((digest) => digest.project === project);
  const todos = openTodos(carried, project).map((line): SummaryItem => ({ kind: "in-progress", ...line }));
  const judged = known.filter((item) => isLine(item) && (todos.length === 0 || item.kind !== "in-progress"));
  const before = [...todos, ...judged];
  const words = lastWords(digests, messages, quotes).filter(({ text }) => !before.some((item) => item.text === text));
  return [...words, ...before, ...workFacts(carried, digests, project)];
}

/** The last messages, with the last request. A request without a completed answer is in progress. */
function lastWords(digests: readonly Digest[], messages: readonly ReadMessage[], quotes: number): SummaryItem[] {
  const telling = digests.filter(hasMatter);
  const asked = telling.findLast(({ role }) => role === "user");
  const answer = digests.slice(asked === undefined ? 0 : digests.indexOf(asked) + 1).at(-1);
  const ending = answer === undefined ? "none" : answer.isCut === true || answer.isOpen === true ? "cut" : undefined;
  const quoted = new Set([...(asked === undefined ? [] : [asked]), ...telling.slice(-quotes)]);
  return digests
    .filter((digest) => quoted.has(digest))
    .flatMap((digest): SummaryItem[] => {
      const line = lineOf(digest, messages);
      if (digest !== asked || ending === undefined) return [{ kind: "topic", ...line }];
      return [
        { kind: "in-progress", ...line },
        { ...line, kind: "request", text: UNANSWERED[ending] },
      ];
    });
}

/** More than a greeting. */
function hasMatter({ said }: Digest): boolean {
  return said.some(({ text }) => matterOf(text).size >= 2);
}

/** Of an earlier message only its digest is left, without secrets. */
function lineOf(
  { said, entryId, timestamp }: Digest,
  messages: readonly ReadMessage[],
): Pick<SummaryItem, "text" | "entryId" | "timestamp"> {
  const message = messages.findLast((one) => one.entryId === entryId);
  const whole = message?.text ?? said.map(({ text }) => text).join(" ");
  const text = redactText(whole.trim().slice(0, HEARD_LENGTH)).replace(/\s+/g, " ");
  return { text: excerpt(text), entryId, timestamp };
}

interface Found extends Pick<SessionState, "carried" | "items" | "lastMessageAt"> {
  base: SessionState | undefined;
  reading: ReadTranscript;
  /** How many of the new messages have a line. If there were more, a later session gets the judged hand-off as well. */
  quoted: number;
}

function stateOf(end: NativeEnd, { base, reading, carried, items, quoted, lastMessageAt }: Found): SessionState {
  const { config, agentId, sessionKey, sessionId, project, cwd, reason } = end;
  const now = new Date();
  const branch = reading.branch ?? base?.branch;
  const all = withBranch({ items, carried, lastMessageAt }, branch);
  return {
    version: STATE_VERSION,
    agentId,
    sessionKey,
    previousSessionId: sessionId,
    createdAt: base?.createdAt ?? now.toISOString(),
    updatedAt: now.toISOString(),
    expiresAt: expiryOf(lastMessageAt, now.getTime(), config),
    reason,
    lastMessageAt,
    project,
    cwd,
    branch,
    mode: base?.mode ?? "work",
    patterns: [],
    items: all,
    summary: summaryOf(all),
    // Without the digests, which have secrets.
    carried: { ...carried, digests: [], open: items.length > 0 ? [project] : [] },
    earlier: base?.earlier,
    lastMessageIndex: (base?.lastMessageIndex ?? 0) + quoted,
    transcriptHash: reading.hash,
    transcript: { file: end.path, offset: reading.offset },
    checksum: "",
    resumeAvailable: items.length > 0,
    resumeOfferedAt: null,
    forced: base?.forced,
  };
}
