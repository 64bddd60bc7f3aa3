/**
 * What an earlier conversation left for this one, on the way of a turn. It is on disk with the message that
 * it stands before, and only then marked as offered: a turn that is begun again finds it there, or asks
 * anew. Nothing here fails a turn or holds it up for long.
 */
import type { CaptureReason, SessionState } from "../../handoff/state.ts";
import type { Offer, OfferRequest } from "../../handoff/handoff.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TextBlock, TranscriptEntry } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { AgentParts } from "../turn.ts";
import { TOO_LATE, within } from "../../base/within.ts";

/** It takes milliseconds; a disk that is slower than this must not keep a person waiting. */
const OFFER_MS = 2500;

/** Undefined for most turns, and whenever it cannot be had in time. */
export async function askForOffer(parts: AgentParts, request: OfferRequest): Promise<Offer | undefined> {
  const { handoff } = parts;
  if (handoff === undefined || !handoff.mayOffer(request)) return undefined;
  return await inTime(parts, request.sessionKey, "offered", handoff.offer(request));
}

export async function confirmOffer(parts: AgentParts, offer: Offer | undefined): Promise<void> {
  if (offer === undefined || parts.handoff === undefined) return;
  await inTime(parts, offer.sessionKey, "marked as offered", parts.handoff.markOffered(offer));
}

/** The turn's message had it when its process died; whether that was marked is not known. */
export async function confirmAgain(parts: AgentParts, request: OfferRequest): Promise<void> {
  await confirmOffer(parts, await askForOffer(parts, request));
}

/** As the transcript keeps it before a person's words. */
export function offerBlock({ text }: Offer): TextBlock {
  return { type: "text", text: `${text}\n`, handoff: true };
}

/** `customType` of an offer that came in the middle of a turn, when the conversation had been shortened. */
const HANDOFF_NOTE_TYPE = "holdfast.handoff";

export function isHandoffNote(entry: TranscriptEntry): boolean {
  return entry.type === "custom_message" && entry.customType === HANDOFF_NOTE_TYPE;
}

/** What is to be told once the conversation has been shortened: asked for before the message adds to it. */
export async function askForSpare(parts: AgentParts, request: OfferRequest): Promise<Offer | undefined> {
  const { handoff } = parts;
  if (handoff === undefined) return undefined;
  return await inTime(parts, request.sessionKey, "offered", handoff.offerAhead(request));
}

/** Of a conversation that has just been shortened: the engine is told before it goes on. */
export async function offerInTurn(
  parts: AgentParts,
  log: TranscriptLog,
  request: OfferRequest,
  spare: Offer | undefined,
): Promise<void> {
  const isSpareDue = spare?.compactions === (request.entry.compactionCount ?? 0);
  const offer = isSpareDue ? spare : await askForOffer(parts, request);
  if (offer === undefined) return;
  await log.append([{ type: "custom_message", customType: HANDOFF_NOTE_TYPE, content: offer.text, display: false }]);
  await log.sync();
  await confirmOffer(parts, offer);
}

/** Of a turn that is begun again: it may have died after its conversation was shortened, with nobody told. */
export async function offerAgain(parts: AgentParts, log: TranscriptLog, request: OfferRequest): Promise<void> {
  if ((request.entry.compactionCount ?? 0) > 0) await offerInTurn(parts, log, request, undefined);
}

/** Before a window is left. Undefined when there is nothing to hand over, or it takes too long. */
export async function captureWindow(
  parts: AgentParts,
  sessionKey: string,
  entry: SessionEntry,
  reason: CaptureReason,
): Promise<SessionState | undefined> {
  const { handoff } = parts;
  if (handoff === undefined) return undefined;
  return await inTime(parts, sessionKey, "captured", handoff.capture({ kind: "session", sessionKey, entry }, reason));
}

async function inTime<T>({ agent }: AgentParts, key: string, what: string, work: Promise<T>): Promise<T | undefined> {
  try {
    const done = await within(OFFER_MS, work);
    if (done !== TOO_LATE) return done;
    agent.logger.warn(`a hand-off was not ${what} in time; the turn goes on without`, { key });
  } catch (error) {
    agent.logger.warn(`a hand-off could not be ${what}; the turn goes on without`, { key, error });
  }
  return undefined;
}
