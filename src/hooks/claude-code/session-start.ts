/**
 * The hand-off for a starting Claude Code session. Usually it was rendered when it was captured, and only has to be
 * compared with the transcripts and the repo. The ends of sessions that were not captured are read now
 * (`read-behind.ts`). Nothing is written here, so locks and full disks do not matter.
 */
import { isExpired, wasOffered } from "../../handoff/kept-state.ts";
import { type NativeTarget, runningIds } from "../../handoff/native-sessions.ts";
import { type ReadyOffer, chooseLeft, readReadyOffers } from "../../handoff/ready-offers.ts";
import type { Remarks } from "../../handoff/render.ts";
import type { SessionState } from "../../handoff/state.ts";
import type { HookInput } from "./hook-call.ts";
import { type StartParts, type StartPlace, isCurrent, placeOf } from "./start-place.ts";

export interface StartAnswer {
  text?: string | undefined;
  /** The state that the text was made from. */
  told?: Pick<SessionState, "sessionKey" | "lastMessageIndex"> | undefined;
  captures: NativeTarget[];
}

/** Claude Code's limit is about 10,000 characters, including its own text around ours. */
const MAX_CHARACTERS = 9_000;
/** A person who resumes this soon still has everything in view. */
const RECENTLY_MS = 5 * 60_000;
/** Git's results are only remarks: it gets at most this time, and none if the answer would be late. */
const VERIFY_MS = 20;
const MIN_VERIFY_MS = 10;
const LATE_MS = 65;

export async function answerStart(parts: StartParts, input: HookInput): Promise<StartAnswer> {
  const place = await placeOf(parts, input);
  const ready = readReadyOffers({ folder: parts.offersFolder, agentId: parts.agentId, repo: place.repo });
  const captures = notReady(place.targets, ready);
  const tellable = ready.filter(({ text }) => text !== undefined);
  const isMissing = captures.some((target) => place.isAtOnce || offerOf(tellable, target) === undefined);
  const sessions = isMissing ? await readBehind(place) : tellable;
  const left = place.isNew
    ? chooseLeft(sessions, { sessionId: input.sessionId, running: await runningIds(parts.claudeHome) })
    : sessions.find(({ state }) => state.previousSessionId === input.sessionId);
  if (left === undefined) return { captures };
  const isBehind = left.text !== undefined && captures.some((target) => offerOf([left], target) !== undefined);
  if (!isDue(left.state, place, input, isBehind)) return { captures };
  const text = await textOf(place, left, isBehind, input);
  if (text.length > MAX_CHARACTERS) return { captures };
  const { sessionKey, lastMessageIndex, previousSessionId } = left.state;
  // Also captures the offered session: the store may have lost it.
  const told = place.targets.filter(({ sessionId }) => sessionId === previousSessionId);
  return {
    text,
    told: { sessionKey, lastMessageIndex },
    captures: Array.from(new Set([...captures, ...told])),
  };
}

/** Sessions with more than was captured, down to the first one that leaves something. */
function notReady(targets: readonly NativeTarget[], ready: readonly ReadyOffer[]): NativeTarget[] {
  const missing: NativeTarget[] = [];
  for (const target of targets) {
    const offer = offerOf(ready, target);
    if (!isCurrent(offer?.state, target)) missing.push(target);
    if (offer?.text !== undefined && offer.isSubstantial) break;
  }
  return missing;
}

function offerOf(ready: readonly ReadyOffer[], { sessionId }: NativeTarget): ReadyOffer | undefined {
  return ready.find(({ state }) => state.previousSessionId === sessionId);
}

async function readBehind(place: StartPlace): Promise<ReadyOffer[]> {
  const { readBehind: read } = await import("./read-behind.ts");
  return await read(place);
}

/** An offer is repeated if more was said since. */
function isDue(state: SessionState, { isNew }: StartPlace, { source }: HookInput, isBehind: boolean): boolean {
  const now = Date.now();
  if (state.forced === true) return true;
  if (isExpired(state, now) || (wasOffered(state, now) && !isBehind)) return false;
  return isNew || source === "compact" || now - Date.parse(state.lastMessageAt) > RECENTLY_MS;
}

/** The rendered text, unless it has not been rendered or the repo says something about it. */
async function textOf(
  place: StartPlace,
  { state, text, isUnjudged }: ReadyOffer,
  isBehind: boolean,
  { cwd }: HookInput,
): Promise<string> {
  const remarks = await remarksOn(place, state);
  const isSameWindow = !place.isNew;
  if (text !== undefined && remarks.size === 0) return isSameWindow ? text.same : isBehind ? text.behind : text.next;
  const [{ renderOffer }, { relatedMemoryFiles }] = await Promise.all([
    import("../../handoff/render.ts"),
    import("../../handoff/memory-files.ts"),
  ]);
  const memoryFiles = await relatedMemoryFiles(cwd, state);
  return renderOffer({ state, remarks, memoryFiles, isSameWindow, isBehind, isUnjudged });
}

async function remarksOn(place: StartPlace, state: SessionState): Promise<Remarks> {
  const budgetMs = Math.min(VERIFY_MS, LATE_MS - place.elapsedMs());
  if (budgetMs < MIN_VERIFY_MS) return new Map();
  const { verifyItems } = await import("../../handoff/verify.ts");
  return await verifyItems(state, { budgetMs, git: { gitTimeoutMs: budgetMs }, github: false });
}
