/**
 * Calls to hooks and to the hand-off during a turn. None of them may fail a turn, and each has a time limit
 * after which the turn continues without it.
 *
 * A hand-off is written to the transcript together with the message it precedes, and marked as offered only
 * then. A repeated turn finds it in the transcript, or asks for it again.
 */
import { isDeepStrictEqual } from "node:util";
import type { PromptReport, WorkspacePrompt } from "../../engine/workspace/workspace-description.ts";
import type { Offer, OfferRequest } from "../../handoff/handoff.ts";
import type { CaptureReason, SessionState } from "../../handoff/state.ts";
import type { BootstrapFile, HookEventName, HookOutcome, HookRequest, HookRunner } from "../../hooks/hook.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TextBlock, TranscriptEntry } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { AgentParts } from "../pipeline.ts";
import { delimited, printable, printableLine } from "../../base/text.ts";
import { TOO_LATE, within } from "../../base/async.ts";

/** How long the turn waits for a hook that must come before something. The hook itself may take longer. */
const BEFORE_MS = 3000;
const MESSAGES_MS = 250;
const MAX_MESSAGE = 2000;

export interface HookCall {
  parts: AgentParts;
  sessionKey: string;
  event: HookEventName;
  entry?: SessionEntry | undefined;
  ctx?: MessageContext | undefined;
  reason?: string | undefined;
  bootstrapFiles?: readonly BootstrapFile[] | undefined;
}

export type HookMessages = ReturnType<typeof createHookMessages>;

/** Calls hooks for one turn, and collects their messages for the person in the order of the calls. */
export function createHookMessages() {
  let calls: Promise<string[]>[] = [];
  const start = (call: HookCall): Promise<string[]> | undefined => {
    const fired = fireHooks(call);
    if (fired === undefined) return undefined;
    const messages = fired.then((outcome) => shownMessages(outcome.messages));
    calls.push(messages);
    return messages;
  };
  return {
    async before(call: HookCall): Promise<void> {
      const messages = start(call);
      if (messages !== undefined) await within(BEFORE_MS, messages);
    },
    inBackground: (call: HookCall) => void start(call),
    add: (messages: readonly string[]) => void calls.push(Promise.resolve(shownMessages(messages))),
    /** Messages that have arrived, or arrive shortly. Each is returned once. */
    async take(): Promise<string[]> {
      if (calls.length === 0) return [];
      const taken = calls;
      calls = [];
      const arrived = await Promise.all(taken.map(async (messages) => await within(MESSAGES_MS, messages)));
      return arrived.flatMap((messages) => (messages === TOO_LATE ? [] : messages));
    },
  };
}

/** Undefined when no hook listens. Never rejects. */
function fireHooks(call: HookCall): Promise<HookOutcome> | undefined {
  const { hooks } = call.parts;
  return hooks?.listens(call.event) === true ? fireListening(call, hooks) : undefined;
}

async function fireListening(call: HookCall, hooks: HookRunner): Promise<HookOutcome> {
  const { parts, sessionKey, event, entry, ctx, reason, bootstrapFiles } = call;
  const session = entry && {
    sessionId: entry.sessionId,
    sessionFile: await transcriptPath(parts.agent, entry).catch(() => entry.sessionFile),
    sessionEntry: entry,
  };
  const context: HookRequest["context"] = {
    ...session,
    reason,
    commandSource: ctx?.OriginatingChannel ?? ctx?.Provider,
    senderId: ctx?.SenderId,
    bootstrapFiles: bootstrapFiles && [...bootstrapFiles],
  };
  return await hooks.fire(event, { sessionKey, context });
}

function shownMessages(messages: readonly string[]): string[] {
  return messages.map((text) => text.trim().slice(0, MAX_MESSAGE).toWellFormed()).filter((text) => text !== "");
}

/** Limits for what hooks add or change. The workspace's own files have theirs. */
const MAX_FILE_TEXT = 20_000;
const MAX_FILES_TEXT = 40_000;

export async function bootstrapHooks(call: Omit<HookCall, "event">, prompt: WorkspacePrompt) {
  const { files: given = [], withFiles = (files) => appendFiles(prompt.system, files) } = prompt;
  const fired = await fireHooks({ ...call, event: "agent:bootstrap", bootstrapFiles: given });
  if (fired === undefined) return { prompt, messages: [] };
  const files = limitFiles(fired.bootstrapFiles, given);
  const { messages } = fired;
  if (isDeepStrictEqual(files, given)) return { prompt, messages };
  const system = withFiles(files);
  return { prompt: { ...prompt, system, files, report: reportOf(prompt, system, files) }, messages };
}

/** The report about the prompt with the files of hooks. */
function reportOf(
  { report }: WorkspacePrompt,
  system: string,
  files: readonly BootstrapFile[],
): PromptReport | undefined {
  if (report === undefined) return undefined;
  const { systemPrompt, injectedWorkspaceFiles: known } = report;
  // Everything else in the prompt stays the same.
  const projectContextChars = system.length - systemPrompt.nonProjectContextChars;
  return {
    ...report,
    systemPrompt: { ...systemPrompt, chars: system.length, projectContextChars },
    injectedWorkspaceFiles: files.map(({ name, content: { length } }) => {
      const file = known.find((one) => one.name === name && one.injectedChars === length);
      return file ?? { name, rawChars: length, injectedChars: length, truncated: false };
    }),
  };
}

function appendFiles(system: string, files: readonly BootstrapFile[]): string {
  return [system, ...files.map(({ name, content }) => delimited(name, content))]
    .filter((part) => part !== "")
    .join("\n\n");
}

function limitFiles(files: readonly BootstrapFile[], given: readonly BootstrapFile[]): BootstrapFile[] {
  let left = MAX_FILES_TEXT;
  return files.flatMap(({ name, content }) => {
    const known = given.find((file) => file.name === name && file.content === content);
    if (known !== undefined) return [known];
    const text = printable(content).trim();
    const shown = text.slice(0, Math.min(MAX_FILE_TEXT, left)).toWellFormed();
    if (shown === "") return [];
    left -= shown.length;
    const label = printableLine(name, 80).replace(/[^\w.-]+/g, "_") || "file";
    return [{ name: label, content: shown.length < text.length ? `${shown}\n[cut here]` : shown }];
  });
}

/** Limit for work that normally takes milliseconds. */
const HANDOFF_MS = 2500;

/** Undefined for most turns, and when it takes too long. */
export async function askForOffer(parts: AgentParts, request: OfferRequest): Promise<Offer | undefined> {
  if (parts.handoff?.mayOffer(request) !== true) return undefined;
  return await inTime(parts, request.sessionKey, "offered", parts.handoff.offer(request));
}

/** The offer for a conversation that this turn will shorten, computed before the message is written. */
export async function askForSpare(parts: AgentParts, request: OfferRequest): Promise<Offer | undefined> {
  return await inTime(parts, request.sessionKey, "offered", parts.handoff?.offerAhead(request));
}

export async function confirmOffer(parts: AgentParts, offer: Offer | undefined): Promise<void> {
  if (offer === undefined) return;
  await inTime(parts, offer.sessionKey, "marked as offered", parts.handoff?.markOffered(offer));
}

export function offerBlock({ text }: Offer): TextBlock {
  return { type: "text", text: `${text}\n`, handoff: true };
}

/** `customType` of an offer in the middle of a turn, after the conversation was shortened. */
const HANDOFF_NOTE_TYPE = "holdfast.handoff";

export function isHandoffNote(entry: TranscriptEntry): boolean {
  return entry.type === "custom_message" && entry.customType === HANDOFF_NOTE_TYPE;
}

/** After the conversation was shortened: writes the offer before the engine continues. */
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

/** Captures a window before the session leaves it. Undefined when there is nothing to capture, or not in time. */
export async function captureWindow(
  parts: AgentParts,
  sessionKey: string,
  entry: SessionEntry,
  reason: CaptureReason,
): Promise<SessionState | undefined> {
  const capturing = parts.handoff?.capture({ kind: "session", sessionKey, entry }, reason);
  return await inTime(parts, sessionKey, "captured", capturing);
}

/** `work` is undefined when hand-off is off. */
async function inTime<T>({ agent }: AgentParts, key: string, what: string, work: Promise<T> | undefined) {
  if (work === undefined) return undefined;
  try {
    const done = await within(HANDOFF_MS, work);
    if (done !== TOO_LATE) return done;
    agent.logger.warn(`a hand-off was not ${what} in time; the turn continues without it`, { key });
  } catch (error) {
    agent.logger.warn(`a hand-off could not be ${what}; the turn continues without it`, { key, error });
  }
  return undefined;
}
