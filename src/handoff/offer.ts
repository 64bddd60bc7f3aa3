/**
 * The hand-off that a turn receives from the previous window. Offering is decided once per window and once after each
 * compaction, and the decision is stored with the state, so that a repeated turn or another process does not decide
 * again. Only the state of the same session key is offered, and only its lines of the current project.
 */
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { GithubReader } from "../project/github-status.ts";
import type { GitOptions } from "../project/run-git.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Handoff, Offer } from "./handoff.ts";
import { isExpired, isTellable, readState, wasOffered } from "./kept-state.ts";
import { type HandoffParts, confirmState } from "./kept-states.ts";
import { relatedMemoryFiles } from "./memory-files.ts";
import { forProject } from "./next-state.ts";
import { captureBefore, deriveBefore, readOpening } from "./previous-windows.ts";
import { renderOffer } from "./render.ts";
import type { SessionState } from "./state.ts";
import { verifyItems } from "./verify.ts";

export interface OfferParts extends HandoffParts {
  git?: GitOptions | undefined;
  github?: GithubReader | false | undefined;
}

export interface Offers extends Pick<Handoff, "mayOffer" | "offer" | "offerAhead" | "markOffered" | "resume"> {
  close(): void;
}

/** A window and its number of compactions. */
type Moment = NonNullable<SessionState["decidedFor"]>;

export function createOffers(parts: OfferParts): Offers {
  const { agent, captures } = parts;
  const { handoffs } = agent.store;
  const decided = createDecided(parts);

  const decide = async (key: string, moment: Moment, isForced: boolean): Promise<void> => {
    await captures.change(key, (state) => {
      if (!isForced && isSameMoment(state.decidedFor, moment)) return undefined;
      return { ...state, decidedFor: moment, forced: isForced ? undefined : state.forced };
    });
    decided.add(key, moment);
  };

  return {
    // Turns have canonical keys. For any other key this is true, and `offer` does the rest.
    mayOffer: ({ sessionKey, entry }) => entry.handoff !== "off" && !decided.has(sessionKey, momentOf(entry)),
    async offer({ sessionKey, entry, isFirst }) {
      if (entry.handoff === "off") return undefined;
      const key = canonicalSessionKey(sessionKey, agent);
      const moment = momentOf(entry);
      if (decided.has(key, moment)) return undefined;
      decided.look(key);
      const found = await handoffs.get(key);
      const kept = readState(found);
      const isForced = kept?.forced === true;
      const isNothingLeft = found === undefined && (isFirst === true || (await isOnlyWindow(parts, key, entry)));
      if (isNothingLeft || (!isForced && isSameMoment(kept?.decidedFor, moment))) {
        decided.add(key, moment);
        return undefined;
      }
      const state = isForced ? await requested(parts, kept, entry) : await dueFor(parts, key, entry, kept);
      const offer = state === undefined ? undefined : await makeOffer(parts, state, { key, entry, isForced });
      if (offer === undefined) await decide(key, moment, isForced);
      return offer;
    },
    async offerAhead({ sessionKey, entry }) {
      if (entry.handoff === "off") return undefined;
      const key = canonicalSessionKey(sessionKey, agent);
      const shortened = { ...entry, compactionCount: (entry.compactionCount ?? 0) + 1 };
      const state = await dueAfterCompaction(parts, key, shortened);
      return state === undefined
        ? undefined
        : await makeOffer(parts, state, { key, entry: shortened, isForced: false });
    },
    async markOffered({ sessionKey, sessionId, compactions, state }) {
      const key = canonicalSessionKey(sessionKey, agent);
      await markTold(parts, key, state, { sessionId, compactions });
      decided.add(key, { sessionId, compactions });
    },
    async resume(sessionKey, given) {
      const key = canonicalSessionKey(sessionKey, agent);
      const name = given?.trim() ?? "";
      const state = await resumable(parts, key);
      if (state === undefined || (name !== "" && !isCalled(state, name))) return { kind: "none" };
      if (name === "" && isExpired(state, agent.clock.now())) return { kind: "expired", state };
      await captures.change(key, (kept) => ({ ...kept, forced: true }));
      decided.forget(key);
      return { kind: "ready", state };
    },
    close: () => decided.close(),
  };
}

const MAX_DECIDED = 10_000;

/** Decided windows whose state has not changed since, so that nearly every turn needs no look at the store. */
function createDecided({ agent }: OfferParts) {
  const moments = new Map<string, Moment | undefined>();
  let stop: (() => void) | undefined;
  return {
    has: (key: string, moment: Moment) => isSameMoment(moments.get(key), moment),
    /** Before the state is read: a change after this call prevents `add`. */
    look(key: string) {
      stop ??= agent.store.onChange((change) => {
        if (change.what === "handoff") moments.delete(change.key);
      });
      if (moments.size >= MAX_DECIDED) moments.clear();
      moments.set(key, undefined);
    },
    add(key: string, moment: Moment) {
      if (moments.has(key)) moments.set(key, moment);
    },
    forget: (key: string) => void moments.delete(key),
    close: () => stop?.(),
  };
}

function momentOf({ sessionId, compactionCount = 0 }: SessionEntry): Moment {
  return { sessionId, compactions: compactionCount };
}

function isSameMoment(a: Moment | undefined, b: Moment): boolean {
  return a?.sessionId === b.sessionId && a.compactions === b.compactions;
}

async function isOnlyWindow({ agent }: OfferParts, key: string, entry: SessionEntry): Promise<boolean> {
  if ((entry.compactionCount ?? 0) > 0) return false;
  const windows = await agent.store.windows(key);
  return windows.every(({ sessionId }) => sessionId === entry.sessionId);
}

async function dueFor(
  parts: OfferParts,
  key: string,
  entry: SessionEntry,
  kept: SessionState | undefined,
): Promise<SessionState | undefined> {
  if ((entry.compactionCount ?? 0) > 0) return await dueAfterCompaction(parts, key, entry);
  const opening = await readOpening(await transcriptPath(parts.agent, entry));
  if (opening === "begun") return undefined;
  // The window's own state came after its hand-off.
  if (opening === "told" && kept?.previousSessionId === entry.sessionId) return undefined;
  const state = await captureBefore(parts, key, entry);
  if (opening === "new") return whileDue(parts, state);
  // The hand-off is in the transcript, but the process ended before it was marked.
  if (state !== undefined) await markTold(parts, key, state, momentOf(entry));
  return undefined;
}

/** The state of the window itself. */
async function dueAfterCompaction(
  parts: OfferParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const own = await parts.sources.of({ kind: "session", sessionKey: key, entry });
  return own === undefined ? undefined : whileDue(parts, await parts.captures.capture(own, "compaction"));
}

function whileDue({ agent }: OfferParts, state: SessionState | undefined): SessionState | undefined {
  const now = agent.clock.now();
  const isDue = state !== undefined && isTellable(state) && !isExpired(state, now) && !wasOffered(state, now);
  return isDue ? state : undefined;
}

/** At a person's request: the previous window, even if the current one has a state already. */
async function requested(
  parts: OfferParts,
  kept: SessionState,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const { sessionKey, previousSessionId } = kept;
  const isOwn = previousSessionId === entry.sessionId && (entry.compactionCount ?? 0) === 0;
  const before = isOwn ? await deriveBefore(parts, sessionKey, entry) : undefined;
  return before ?? (await confirmState(parts, sessionKey, kept));
}

/** The state that the next turn receives after a request. */
async function resumable(parts: OfferParts, key: string): Promise<SessionState | undefined> {
  const { agent, sources, captures } = parts;
  const kept = readState(await agent.store.handoffs.get(key));
  const entry = await agent.store.get(key);
  if (entry === undefined) return kept !== undefined && isTellable(kept) ? kept : undefined;
  let state: SessionState | undefined;
  if (kept?.previousSessionId !== entry.sessionId) state = await captureBefore(parts, key, entry);
  else if ((entry.compactionCount ?? 0) === 0) state = await deriveBefore(parts, key, entry);
  if (state === undefined) {
    const own = await sources.of({ kind: "session", sessionKey: key, entry });
    state = own === undefined ? undefined : await captures.capture(own, "asked");
  }
  return state === undefined ? undefined : ofAnyProject(state, await sources.project(entry));
}

/** `name` is the project, or a prefix of the window's id. */
function isCalled({ project, previousSessionId }: SessionState, name: string): boolean {
  const wanted = name.toLowerCase();
  if (wanted === project.toLowerCase()) return true;
  return wanted.length >= 4 && previousSessionId.toLowerCase().startsWith(wanted);
}

async function makeOffer(
  parts: OfferParts,
  state: SessionState,
  { key, entry, isForced }: { key: string; entry: SessionEntry; isForced: boolean },
): Promise<Offer | undefined> {
  const began = performance.now();
  const project = await parts.sources.project(entry);
  const told = isForced ? ofAnyProject(state, project) : ofProject(state, project);
  if (told === undefined) return undefined;
  const text = await offerText(parts, told, {
    isSameWindow: state.previousSessionId === entry.sessionId,
    workspace: parts.agent.workspace,
    began,
  });
  return { sessionKey: key, ...momentOf(entry), state: told, text };
}

/** The current project if it has lines, else the last one that has. */
function ofAnyProject(state: SessionState, project: string): SessionState | undefined {
  for (const one of [project, ...state.carried.open, state.project]) {
    const told = ofProject(state, one);
    if (told !== undefined) return told;
  }
  return undefined;
}

/** Undefined if the project has no lines. */
function ofProject(state: SessionState, project: string): SessionState | undefined {
  const told = forProject(state, project);
  return told.items.length === 0 ? undefined : told;
}

const BUDGET_MS = 1_500;

/** `began` is when the offer was requested (`performance.now()`). */
export async function offerText(
  { git, github }: Pick<OfferParts, "git" | "github">,
  state: SessionState,
  { isSameWindow, workspace, began }: { isSameWindow: boolean; workspace: string; began: number },
): Promise<string> {
  const [remarks, memoryFiles] = await Promise.all([
    verifyItems(state, { budgetMs: BUDGET_MS - (performance.now() - began), git, github }),
    relatedMemoryFiles(workspace, state),
  ]);
  return renderOffer({ state, remarks, memoryFiles, isSameWindow });
}

const MAX_PROJECTS = 20;

/** Marks only the lines of the offered project. */
async function markTold(
  { agent, captures }: OfferParts,
  key: string,
  { previousSessionId, project }: SessionState,
  moment: Moment,
): Promise<void> {
  const at = new Date(agent.clock.now()).toISOString();
  await captures.change(key, (state) => {
    const next = { ...state, decidedFor: moment, forced: undefined };
    // Another window may have been captured meanwhile.
    if (state.previousSessionId !== previousSessionId) return next;
    const others = (state.offeredFor ?? []).filter((one) => one.project !== project);
    return {
      ...next,
      resumeOfferedAt: state.project === project ? at : state.resumeOfferedAt,
      offeredFor: [...others, { project, at }].slice(-MAX_PROJECTS),
    };
  });
}
