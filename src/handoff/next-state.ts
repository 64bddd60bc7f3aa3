/**
 * The state that follows from the one that is kept and from what was said since. A kept state is built upon only
 * if it is whole and tells about this very text; otherwise that is logged, and everything is read anew.
 */
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import type { HandoffConfig } from "../config/config.ts";
import { redactText } from "../base/redact.ts";
import { printableLine } from "../base/text.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { findDamage } from "../transcript/damage.ts";
import type { CaptureSource } from "./capture-source.ts";
import type { ExtractState, PreviousState } from "./extract/extract.ts";
import { summaryOf } from "./extract/summary.ts";
import { type Inheritance, inherit, isSubstantialItself, stillEarlier, withWindows } from "./inherit.ts";
import { clearedAtOf, isAnythingLeft, isSubstantial, isTellable, readState, sealState } from "./kept-state.ts";
import { withModelItems } from "./model-items.ts";
import { PIECE_MS, PROMPT, type Pace } from "./pace.ts";
import { isActiveProject } from "./project.ts";
import { readNative } from "./read/read-native.ts";
import { readSession } from "./read/read-session.ts";
import type { ReadTranscript } from "./read/read-transcript.ts";
import { transcriptFits } from "./read/transcript-hash.ts";
import { type CaptureReason, type ReadMessage, STATE_VERSION, type SessionState, type SummaryItem } from "./state.ts";

export interface StateParts {
  agent: Pick<AgentHandle, "agentId" | "clock" | "logger">;
  config: HandoffConfig;
  /** Most new bytes of a transcript that are read, for whoever has little time. Left out: as many as need be. */
  mostBytes?: number | undefined;
  /** Of the messages in them, the last so many count. Left out: all. */
  mostMessages?: number | undefined;
  /** And of these the last so many characters. Left out: all. */
  mostCharacters?: number | undefined;
  /** Left out: as fast as others on the thread allow. */
  pace?: Pace | undefined;
  /** What another session left and this one was told. Left out: only what its own key left counts. */
  toldTo?: ((source: CaptureSource) => Promise<SessionState | undefined>) | undefined;
}

/** Undefined when what is kept is to stay. */
export async function nextState(
  parts: StateParts,
  source: CaptureSource,
  reason: CaptureReason,
  kept: unknown,
): Promise<SessionState | undefined> {
  const other = readState(kept);
  const next = await advance(parts, source, reason, { kept, before: other });
  if (other === undefined || other.previousSessionId === source.sessionId) return next;
  const isThin = next === undefined || !isSubstantialItself(next);
  return isThin && isTellable(other) && isSubstantial(other) ? await forProject(other, source) : next;
}

/** What another window left, with the lines of the project that is worked on now. Undefined: it has them. */
async function forProject(
  state: SessionState,
  { project, cwd }: Pick<CaptureSource, "project" | "cwd">,
): Promise<SessionState | undefined> {
  if (state.project === project) return undefined;
  const { extract } = await import("./extract/extract.ts");
  const extracted = extract(state, [], { project, active: isActiveProject(project) });
  const items = withWindows(extracted.items, state.earlier);
  const resumeOfferedAt = offeredAt(state, project);
  return sealState({ ...state, project, cwd, items, summary: summaryOf(items), resumeOfferedAt });
}

/** When the lines of a project were told last. */
function offeredAt(state: SessionState, project: string): string | null {
  if (state.project === project) return state.resumeOfferedAt;
  return state.offeredFor?.find((one) => one.project === project)?.at ?? null;
}

/** Undefined when nothing was ever said, or everything is kept already. */
export async function readFurther(
  parts: StateParts,
  source: CaptureSource,
  reason: CaptureReason,
  kept: unknown,
): Promise<SessionState | undefined> {
  return await advance(parts, source, reason, { kept, before: readState(kept) });
}

interface KeptBefore {
  kept: unknown;
  /** The same, if it is whole. */
  before: SessionState | undefined;
}

async function advance(
  parts: StateParts,
  source: CaptureSource,
  reason: CaptureReason,
  { kept, before }: KeptBefore,
): Promise<SessionState | undefined> {
  const { agent, config, pace = PROMPT } = parts;
  const now = agent.clock.now();
  const clearedAt = clearedAtOf(kept);
  const belief = await believe(parts, source, { kept, before });
  // What is kept knows more than a damaged transcript.
  if (belief.isDamaged) return undefined;
  const { base, reading } = await readFrom(belief, source, parts);
  if (reading === undefined) return undefined;

  const isWanted = isSaidAfter(base === undefined ? clearedAt : belief.isRebuilt ? base.lastMessageAt : undefined);
  const messages = lastSaid(reading.messages.filter(isWanted), parts);
  const { project } = source;
  if (base !== undefined && messages.length === 0) {
    const isSame = base.project === project && (base.reason === reason || reason === "found");
    if (isSame) return undefined;
  }
  await pace.rest();
  const inherited = base === undefined ? await inheritance(parts, source, before, messages[0]) : undefined;
  const previous = base ?? inherited?.state;
  const extracted = await extractInPieces(previous, messages, project, pace);
  if (extracted.lastMessageIndex === 0) return undefined;
  const earlier = stillEarlier(base?.earlier ?? inherited?.earlier ?? {}, extracted);
  const cwd = source.cwd;
  const branch = reading.branch ?? base?.branch;
  const items = withModelItems(withWindows(withBranch(extracted, branch), earlier), base?.model, {
    lastMessageIndex: extracted.lastMessageIndex,
    project,
  });
  const isNews = messages.length > 0 || base === undefined;
  return sealState({
    ...extracted,
    items,
    summary: summaryOf(items),
    ...(Object.keys(earlier).length === 0 ? {} : { earlier }),
    version: STATE_VERSION,
    agentId: agent.agentId,
    sessionKey: source.sessionKey,
    previousSessionId: source.sessionId,
    createdAt: base?.createdAt ?? new Date(now).toISOString(),
    updatedAt: new Date(now).toISOString(),
    expiresAt: expiry(extracted.lastMessageAt, now, config),
    reason: reason === "found" && !isNews && base !== undefined ? base.reason : reason,
    project,
    cwd,
    ...(branch === undefined ? {} : { branch }),
    transcriptHash: reading.hash,
    transcript: { file: source.file, offset: reading.offset },
    resumeAvailable: isAnythingLeft({ ...extracted, items }),
    resumeOfferedAt: isNews ? null : offeredAt(base, project),
    ...(isNews || base.offeredFor === undefined ? {} : { offeredFor: base.offeredFor }),
    ...(before?.decidedFor === undefined ? {} : { decidedFor: before.decidedFor }),
    ...(base?.model === undefined ? {} : { model: base.model }),
    // Also of a state about the window before: what a person asked for is due until it has been told.
    ...(before?.forced === undefined ? {} : { forced: before.forced }),
    ...(clearedAt === undefined ? {} : { clearedAt }),
  });
}

function isSaidAfter(instant: string | undefined): (message: ReadMessage) => boolean {
  if (instant === undefined) return () => true;
  return ({ timestamp }) => !(Date.parse(timestamp) <= Date.parse(instant));
}

async function inheritance(
  { toldTo }: StateParts,
  source: CaptureSource,
  before: SessionState | undefined,
  first: ReadMessage | undefined,
): Promise<Inheritance | undefined> {
  if (first === undefined || before?.previousSessionId === source.sessionId) return undefined;
  return await inherit(before ?? (await toldTo?.(source)), first.timestamp);
}

interface Belief {
  /** The kept state, if it can be built upon. */
  state?: SessionState | undefined;
  /** The transcript has lost something, and nobody has written to it since. */
  isDamaged?: boolean;
  /** It has lost something since the state was captured, and was rebuilt: only what is newer than the state counts. */
  isRebuilt?: boolean;
}

async function believe(
  { agent }: StateParts,
  source: CaptureSource,
  { kept, before: state }: KeptBefore,
): Promise<Belief> {
  const { logger } = agent;
  const { sessionKey, sessionId } = source;
  if (state === undefined) {
    const isState = kept !== undefined && Object.keys(kept ?? {}).some((name) => name !== "clearedAt");
    if (isState) logger.warn("a hand-off was changed or damaged; it is made anew from the transcript", { sessionKey });
    return {};
  }
  if (state.previousSessionId !== sessionId || state.transcript.file !== source.file) return {};
  if (await fitsText(state, source)) return { state };
  if (await isDamaged(source)) return { isDamaged: true };
  if (await wasRebuilt(state, source)) return { state, isRebuilt: true };
  logger.warn("a hand-off tells about another text than its transcript; it is made anew", { sessionKey, sessionId });
  return {};
}

/** False when it tells about another text. That part of its text was lost does not make it untrue. */
export async function fits(state: SessionState, source: CaptureSource): Promise<boolean> {
  return (await fitsText(state, source)) || (await isDamaged(source)) || (await wasRebuilt(state, source));
}

async function fitsText({ transcript, transcriptHash }: SessionState, { path, kind }: CaptureSource): Promise<boolean> {
  return await transcriptFits(path, { offset: transcript.offset, hash: transcriptHash }, kind);
}

async function isDamaged({ path, expected }: CaptureSource): Promise<boolean> {
  return expected !== undefined && (await findDamage(path, expected)) !== undefined;
}

async function wasRebuilt({ updatedAt }: SessionState, source: CaptureSource): Promise<boolean> {
  const damagedAt = (await readMessages(source, 0, {}))?.damagedAt;
  return damagedAt !== undefined && Date.parse(damagedAt) >= Date.parse(updatedAt);
}

/** Where the transcript ends now, as a state says it. */
export async function endOf(
  source: CaptureSource,
): Promise<Pick<SessionState, "transcript" | "transcriptHash"> | undefined> {
  const reading = await readMessages(source, 0, {});
  if (reading === undefined) return undefined;
  return { transcript: { file: source.file, offset: reading.offset }, transcriptHash: reading.hash };
}

type ReadLimits = Pick<StateParts, "mostBytes" | "mostMessages">;

async function readFrom(
  { state: base, isRebuilt }: Belief,
  source: CaptureSource,
  limits: ReadLimits,
): Promise<{ base: SessionState | undefined; reading: ReadTranscript | undefined }> {
  const offset = base === undefined || isRebuilt === true ? 0 : base.transcript.offset;
  const reading = await readMessages(source, offset, limits);
  // Cut while it was looked at: what was known tells about something else.
  if (reading !== undefined && reading.start < offset) {
    return { base: undefined, reading: await readMessages(source, 0, limits) };
  }
  return { base, reading };
}

async function readMessages(
  { kind, path }: CaptureSource,
  offset: number,
  { mostBytes, mostMessages }: ReadLimits,
): Promise<ReadTranscript | undefined> {
  const bytes = mostBytes === undefined ? {} : { maxBytes: mostBytes };
  if (kind === "native") return await readNative(path, { offset }, { ...bytes, mostMessages });
  try {
    return await readSession(path, { offset }, bytes);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  if (error instanceof HoldfastError) return error.kind === "not-found";
  return systemErrorCode(error) === "ENOENT";
}

/** What tools gave without an error has no text, and costs nothing. */
function lastSaid(messages: readonly ReadMessage[], limits: StateParts): readonly ReadMessage[] {
  const { mostMessages, mostCharacters } = limits;
  if (mostMessages === undefined) return messages;
  const said = messages.flatMap(({ text }, index) => (text === "" ? [] : [index]));
  const start = said.at(-mostMessages) ?? 0;
  const last = messages.slice(start);
  const kept = mostCharacters === undefined ? last : lastCharacters(last, mostCharacters);
  // An answer says little without its question.
  const asked = kept.some(isPerson) ? undefined : messages.slice(0, start + 1).findLast(isPerson);
  return asked === undefined ? kept : [asked, ...kept];
}

function isPerson({ role, text }: ReadMessage): boolean {
  return role === "user" && text !== "";
}

/** Of a message that is too long its end, from the beginning of a line or sentence: there it says what came of it. */
function lastCharacters(messages: readonly ReadMessage[], most: number): ReadMessage[] {
  const kept: ReadMessage[] = [];
  let left = most;
  for (const message of messages.toReversed()) {
    const { text } = message;
    if (left <= 0) break;
    kept.unshift(text.length <= left ? message : { ...message, text: lastOf(text, left) });
    left -= text.length;
  }
  return kept;
}

function lastOf(text: string, most: number): string {
  const end = text.slice(-most);
  const [skipped = ""] = /^.*?(?:\n|[.!?]\s)/s.exec(end) ?? [];
  return end.slice(skipped.length);
}

const FIRST_PIECE = 4;

/** In pieces it comes to the same as at once, and nobody on the thread waits for all of it. */
async function extractInPieces(
  previous: PreviousState | undefined,
  messages: readonly ReadMessage[],
  project: string,
  pace: Pace,
): Promise<ExtractState> {
  // Loaded when there is something to read: most looks at a state find nothing new.
  const { createExtraction } = await import("./extract/extract.ts");
  const extraction = createExtraction(previous, { project, active: isActiveProject(project) });
  let size = FIRST_PIECE;
  for (let end = 0; end < messages.length;) {
    if (end > 0) await pace.rest();
    // Not `performance`, which takes a millisecond to load: a hook that reads a few messages waits for it.
    const began = process.uptime();
    const start = end;
    end = Math.min(start + size, messages.length);
    extraction.take(messages.slice(start, end));
    const took = (process.uptime() - began) * 1000;
    size = Math.max(1, Math.min(size * 2, Math.floor((size * PIECE_MS) / Math.max(took, 0.1))));
  }
  return extraction.state();
}

/** Where the work was done, as a fact of its own. */
function withBranch({ items, carried, lastMessageAt }: ExtractState, branch: string | undefined): SummaryItem[] {
  const last = carried.digests.at(-1);
  const isWork = items.some(
    ({ kind }) => kind === "edited" || kind === "commit" || kind === "failure" || kind === "todo",
  );
  if (branch === undefined || branch === "HEAD" || last === undefined || !isWork) return items;
  const text = printableLine(redactText(branch), 120);
  return [...items, { kind: "branch", text, entryId: last.entryId, timestamp: lastMessageAt }];
}

function expiry(lastMessageAt: string, now: number, { expiresHours }: HandoffConfig): string {
  const last = Date.parse(lastMessageAt);
  // A clock that was set back since must not make it last for ever.
  const from = Number.isNaN(last) ? now : Math.min(last, now);
  return new Date(from + expiresHours * 3_600_000).toISOString();
}
