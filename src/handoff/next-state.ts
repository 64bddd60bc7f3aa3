/**
 * Derives the next state from the stored one and the messages since. A stored state is used only if it is valid and
 * describes this transcript; otherwise this is logged, and the whole transcript is read again.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import type { HandoffConfig } from "../config/config.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { findDamage } from "../transcript/damage.ts";
import type { CaptureSource } from "./capture-source.ts";
import { type ExtractState, createExtraction, extract } from "./extract.ts";
import { type Inheritance, inherit, stillEarlier } from "./inherit.ts";
import { summaryOf, withModelItems, withWindows } from "./items.ts";
import {
  clearedAtOf,
  expiryOf,
  isSubstantial,
  isSubstantialItself,
  isTellable,
  readState,
  sealState,
} from "./kept-state.ts";
import { readNative } from "./read/read-native.ts";
import { readSession } from "./read/read-session.ts";
import { type ReadTranscript, transcriptFits } from "./read/read-transcript.ts";
import { type CaptureReason, type ReadMessage, STATE_VERSION, type SessionState } from "./state.ts";
import { withBranch } from "./work-facts.ts";

export interface StateParts {
  agent: Pick<AgentHandle, "agentId" | "clock" | "logger">;
  config: HandoffConfig;
  /** The state of another session that was offered to this one. Optional. */
  toldTo?: ((source: CaptureSource) => Promise<SessionState | undefined>) | undefined;
}

/** Undefined if the stored state stays. A window without substance does not replace the previous window's state. */
export async function nextState(
  parts: StateParts,
  source: CaptureSource,
  reason: CaptureReason,
  kept: unknown,
): Promise<SessionState | undefined> {
  const other = readState(kept);
  const next = await readFurther(parts, source, reason, kept);
  if (other === undefined || other.previousSessionId === source.sessionId || !isTellable(other)) return next;
  if (next !== undefined && isSubstantialItself(next)) return next;
  return other.project === source.project
    ? undefined
    : sealState({ ...forProject(other, source.project), cwd: source.cwd });
}

/** The state with the lines of another project. */
export function forProject(state: SessionState, project: string): SessionState {
  if (state.project === project) return state;
  const items = withWindows(extract(state, [], project).items, state.earlier);
  return { ...state, project, items, summary: summaryOf(items), resumeOfferedAt: offeredAt(state, project) };
}

function offeredAt(state: SessionState, project: string): string | null {
  if (state.project === project) return state.resumeOfferedAt;
  return state.offeredFor?.find((one) => one.project === project)?.at ?? null;
}

/** Undefined if there are no messages, or none that are new. */
export async function readFurther(
  parts: StateParts,
  source: CaptureSource,
  reason: CaptureReason,
  kept: unknown,
): Promise<SessionState | undefined> {
  const { agent, config } = parts;
  const { project } = source;
  const before = readState(kept);
  const match = await matchKept(parts, source, kept, before);
  // The stored state knows more than a damaged transcript.
  if (match === "damaged") return undefined;
  const { base, reading } = await readFrom(match === "other" ? undefined : before, match === "rebuilt", source);
  if (reading === undefined) return undefined;

  const clearedAt = clearedAtOf(kept);
  const since = base === undefined ? clearedAt : match === "rebuilt" ? base.lastMessageAt : undefined;
  const messages = reading.messages.filter(isAfter(since));
  const isNews = messages.length > 0 || base === undefined;
  if (!isNews && base.project === project && (base.reason === reason || reason === "found")) return undefined;
  await nextTick();
  const inherited = base === undefined ? await inheritance(parts, source, before, messages[0]) : undefined;
  const extracted = await extractInPieces(base ?? inherited?.state, messages, project);
  if (extracted.lastMessageIndex === 0) return undefined;
  const { lastMessageIndex, lastMessageAt, carried } = extracted;
  const earlier = stillEarlier(base?.earlier ?? inherited?.earlier, carried);
  const branch = reading.branch ?? base?.branch;
  const found = withWindows(withBranch(extracted, branch), earlier);
  const items = withModelItems(found, base?.model, { lastMessageIndex, project });
  const now = agent.clock.now();
  return sealState({
    ...extracted,
    items,
    summary: summaryOf(items),
    earlier,
    version: STATE_VERSION,
    agentId: agent.agentId,
    sessionKey: source.sessionKey,
    previousSessionId: source.sessionId,
    createdAt: base?.createdAt ?? new Date(now).toISOString(),
    updatedAt: new Date(now).toISOString(),
    expiresAt: expiryOf(lastMessageAt, now, config),
    reason: reason === "found" && !isNews ? base.reason : reason,
    project,
    cwd: source.cwd,
    branch,
    transcriptHash: reading.hash,
    transcript: { file: source.file, offset: reading.offset },
    resumeAvailable: isSubstantial({ carried, items }),
    resumeOfferedAt: isNews ? null : offeredAt(base, project),
    offeredFor: isNews ? undefined : base.offeredFor,
    decidedFor: before?.decidedFor,
    model: base?.model,
    // A person's request is due until it was answered, even if the state is now of another window.
    forced: before?.forced,
    clearedAt,
  });
}

function isAfter(instant: string | undefined): (message: ReadMessage) => boolean {
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
  return inherit(before ?? (await toldTo?.(source)), first.timestamp);
}

/**
 * `damaged`: the transcript lost something, and nothing was written since. `rebuilt`: it lost something after the
 * capture and was repaired, so only messages newer than the state count.
 */
type Match = "same" | "damaged" | "rebuilt" | "other";

async function matchKept(
  { agent }: StateParts,
  source: CaptureSource,
  kept: unknown,
  state: SessionState | undefined,
): Promise<Match> {
  const { sessionKey, sessionId } = source;
  if (state === undefined) {
    const isState = kept !== undefined && Object.keys(kept ?? {}).some((name) => name !== "clearedAt");
    if (isState) agent.logger.warn("a hand-off was damaged; it is made again from the transcript", { sessionKey });
    return "other";
  }
  if (state.previousSessionId !== sessionId || state.transcript.file !== source.file) return "other";
  const match = await matchText(state, source);
  if (match === "other") {
    agent.logger.warn("a hand-off describes another transcript; it is made again", { sessionKey, sessionId });
  }
  return match;
}

/** Compares a state with the current transcript of its window. */
export async function matchText(state: SessionState, source: CaptureSource): Promise<Match> {
  const { transcript, transcriptHash: hash, updatedAt } = state;
  const { path, kind, expected } = source;
  if (await transcriptFits(path, { offset: transcript.offset, hash }, kind)) return "same";
  if (expected !== undefined && (await findDamage(path, expected)) !== undefined) return "damaged";
  const damagedAt = (await readMessages(source, 0))?.damagedAt;
  return damagedAt !== undefined && Date.parse(damagedAt) >= Date.parse(updatedAt) ? "rebuilt" : "other";
}

/** The end of the transcript, as fields of a state. */
export async function endOf(
  source: CaptureSource,
): Promise<Pick<SessionState, "transcript" | "transcriptHash"> | undefined> {
  const reading = await readMessages(source, 0);
  if (reading === undefined) return undefined;
  return { transcript: { file: source.file, offset: reading.offset }, transcriptHash: reading.hash };
}

async function readFrom(
  base: SessionState | undefined,
  isRebuilt: boolean,
  source: CaptureSource,
): Promise<{ base: SessionState | undefined; reading: ReadTranscript | undefined }> {
  const offset = base === undefined || isRebuilt ? 0 : base.transcript.offset;
  const reading = await readMessages(source, offset);
  // The transcript was cut after the comparison, so the base describes another text.
  if (reading !== undefined && reading.start < offset) {
    return { base: undefined, reading: await readMessages(source, 0) };
  }
  return { base, reading };
}

/** Undefined if there is no transcript. */
async function readMessages({ kind, path }: CaptureSource, offset: number): Promise<ReadTranscript | undefined> {
  if (kind === "native") return await readNative(path, { offset });
  try {
    return await readSession(path, { offset });
  } catch (error) {
    const isMissing = error instanceof HoldfastError ? error.kind === "not-found" : systemErrorCode(error) === "ENOENT";
    if (isMissing) return undefined;
    throw error;
  }
}

/** Messages without a pause for other work: a few milliseconds. */
const PIECE = 8;

async function extractInPieces(
  previous: ExtractState | undefined,
  messages: readonly ReadMessage[],
  project: string,
): Promise<ExtractState> {
  const extraction = createExtraction(previous, project);
  for (let start = 0; start < messages.length; start += PIECE) {
    if (start > 0) await nextTick();
    extraction.take(messages.slice(start, start + PIECE));
  }
  return extraction.state();
}
