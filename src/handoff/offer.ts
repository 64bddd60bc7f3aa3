/**
 * What a turn is told of the window before it. It is decided once for every window and once more after each of its
 * compactions, and the decision is kept with the state: a turn that is begun again, or another process, does
 * not decide anew. Only what this very session key left is ever offered, and of that only what belongs to the
 * project that is active now. Of a session that has left nothing, nothing is kept: there is nothing to decide.
 */
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { GithubReader } from "../project/github-status.ts";
import type { GitOptions } from "../project/run-git.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Decisions, Moment } from "./decisions.ts";
import type { Offer, OfferRequest, ResumeAnswer } from "./handoff.ts";
import { withWindows } from "./inherit.ts";
import { isExpired, isTellable, projectsIn, readState, wasOffered } from "./kept-state.ts";
import { relatedMemoryFiles } from "./memory-files.ts";
import { type WindowParts, captureBefore, confirm, deriveBefore } from "./previous-windows.ts";
import { isActiveProject } from "./project.ts";
import { renderOffer } from "./render.ts";
import type { SessionState } from "./state.ts";
import { verifyItems } from "./verify.ts";
import { readOpening } from "./window-opening.ts";

export interface OfferParts extends WindowParts {
  git?: GitOptions | undefined;
  github?: GithubReader | false | undefined;
}

export interface Offers {
  mayOffer(request: OfferRequest): boolean;
  offer(request: OfferRequest): Promise<Offer | undefined>;
  offerAhead(request: Pick<OfferRequest, "sessionKey" | "entry">): Promise<Offer | undefined>;
  markOffered(offer: Offer): Promise<void>;
  resume(sessionKey: string, name?: string): Promise<ResumeAnswer>;
}

export function createOffers(parts: OfferParts & { decisions: Decisions }): Offers {
  const { agent, captures, decisions } = parts;
  const { handoffs } = agent.store;

  /** What somebody asks for while it is decided is left for the next turn. */
  const decide = async (key: string, moment: Moment, isForced: boolean): Promise<void> => {
    decisions.decide(key, moment);
    await captures.change(key, (state) => {
      if (!isForced) return isSameMoment(state.decidedFor, moment) ? undefined : { ...state, decidedFor: moment };
      const { forced: _told, ...rest } = state;
      return { ...rest, decidedFor: moment };
    });
  };

  return {
    // Keys that turns have are canonical; any other is looked up in vain here, and properly by `offer`.
    mayOffer: ({ sessionKey, entry }) => entry.handoff !== "off" && !decisions.isSettled(sessionKey, momentOf(entry)),
    async offer({ sessionKey, entry, isFirst }) {
      if (entry.handoff === "off") return undefined;
      const key = canonicalSessionKey(sessionKey, agent);
      const moment = momentOf(entry);
      if (decisions.isSettled(key, moment)) return undefined;
      decisions.looking(key);
      const found = await handoffs.get(key);
      const kept = readState(found);
      const isForced = kept?.forced === true;
      if (!isForced && (decisions.isDecided(key, moment) || isSameMoment(kept?.decidedFor, moment))) {
        decisions.decide(key, moment);
        return undefined;
      }
      // What was asked for is due until it has been told.
      if (isForced) decisions.changed(key);
      const isNothingLeft = found === undefined && (isFirst === true || (await isOnlyWindow(parts, key, entry)));
      if (isNothingLeft) {
        decisions.decide(key, moment);
        return undefined;
      }
      const state = isForced
        ? await askedFor(parts, kept, entry)
        : await dueFor(parts, key, entry, { kept, onTold: async (told) => await markTold(parts, key, told, moment) });
      const offer = state === undefined ? undefined : await makeOffer(parts, state, { key, entry, moment, isForced });
      if (offer === undefined) await decide(key, moment, isForced);
      return offer;
    },
    async offerAhead({ sessionKey, entry }) {
      if (entry.handoff === "off") return undefined;
      const key = canonicalSessionKey(sessionKey, agent);
      const shortened = { ...entry, compactionCount: (entry.compactionCount ?? 0) + 1 };
      const state = await dueAfterShortening(parts, key, shortened);
      if (state === undefined) return undefined;
      return await makeOffer(parts, state, { key, entry: shortened, moment: momentOf(shortened), isForced: false });
    },
    async markOffered({ sessionKey, sessionId, compactions, state }) {
      const key = canonicalSessionKey(sessionKey, agent);
      await markTold(parts, key, state, { sessionId, compactions });
      decisions.decide(key, { sessionId, compactions });
    },
    async resume(sessionKey, name) {
      const key = canonicalSessionKey(sessionKey, agent);
      const state = await whatIsBrought(parts, key);
      if (state === undefined) return { kind: "none" };
      if (name !== undefined && name.trim() !== "" && !isCalled(state, name)) return { kind: "none" };
      if (isExpired(state, agent.clock.now()) && (name === undefined || name.trim() === "")) {
        return { kind: "expired", state };
      }
      await captures.change(key, (kept) => ({ ...kept, forced: true }));
      decisions.changed(key);
      return { kind: "ready", state };
    },
  };
}

function momentOf({ sessionId, compactionCount = 0 }: SessionEntry): Moment {
  return { sessionId, compactions: compactionCount };
}

async function isOnlyWindow({ agent }: OfferParts, key: string, entry: SessionEntry): Promise<boolean> {
  if ((entry.compactionCount ?? 0) > 0) return false;
  const windows = await agent.store.windows(key);
  return windows.every(({ sessionId }) => sessionId === entry.sessionId);
}

/** What this window is to be told, if anything; `onTold` is called when it turns out to have been told already. */
async function dueFor(
  parts: OfferParts,
  key: string,
  entry: SessionEntry,
  { kept, onTold }: { kept: SessionState | undefined; onTold: (state: SessionState) => Promise<void> },
): Promise<SessionState | undefined> {
  if ((entry.compactionCount ?? 0) > 0) return await dueAfterShortening(parts, key, entry);
  const opening = await readOpening(transcriptPath(parts.agent, entry));
  if (opening === "begun") return undefined;
  // What it has left itself came after what it was told; only heartbeats leave something before anybody is.
  if (opening === "told" && kept?.previousSessionId === entry.sessionId) return undefined;
  const state = await captureBefore(parts, key, entry);
  if (state === undefined || opening === "new") return whileDue(parts, state);
  if (isTellable(state)) await onTold(state);
  return undefined;
}

/** What its own window has left, or else the one before. */
async function dueAfterShortening(
  parts: OfferParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const own = await parts.sources.of({ kind: "session", sessionKey: key, entry });
  if (own === undefined) return whileDue(parts, await captureBefore(parts, key, entry));
  return whileDue(parts, await parts.captures.capture(own, "compaction"));
}

function whileDue({ agent }: OfferParts, state: SessionState | undefined): SessionState | undefined {
  const now = agent.clock.now();
  const isDue = state !== undefined && isTellable(state) && !isExpired(state, now) && !wasOffered(state, now);
  return isDue ? state : undefined;
}

/** A person asked: the window before this one, also when this one has left something in between. */
async function askedFor(parts: OfferParts, kept: SessionState, entry: SessionEntry): Promise<SessionState | undefined> {
  const isOwn = kept.previousSessionId === entry.sessionId && (entry.compactionCount ?? 0) === 0;
  const before = isOwn ? await deriveBefore(parts, kept.sessionKey, entry) : undefined;
  return before ?? (await confirm(parts, kept, entry));
}

/** What the next turn is told if somebody asks for it now. */
async function whatIsBrought(parts: OfferParts, key: string): Promise<SessionState | undefined> {
  const entry = await parts.agent.store.get(key);
  if (entry === undefined) {
    const kept = readState(await parts.agent.store.handoffs.get(key));
    return kept !== undefined && isTellable(kept) ? kept : undefined;
  }
  const left = await whatIsLeft(parts, key, entry);
  return left === undefined ? undefined : await broughtFor(left, await parts.sources.project(entry));
}

async function whatIsLeft(parts: OfferParts, key: string, entry: SessionEntry): Promise<SessionState | undefined> {
  const { agent, sources, captures } = parts;
  const kept = readState(await agent.store.handoffs.get(key));
  if (kept?.previousSessionId !== entry.sessionId) {
    const before = await captureBefore(parts, key, entry);
    if (before !== undefined) return before;
  } else if ((entry.compactionCount ?? 0) === 0) {
    const before = await deriveBefore(parts, key, entry);
    if (before !== undefined) return before;
  }
  const own = await sources.of({ kind: "session", sessionKey: key, entry });
  return own === undefined ? undefined : await captures.capture(own, "asked");
}

/** Its project, or the beginning of its window's id. */
function isCalled({ project, previousSessionId }: SessionState, name: string): boolean {
  const wanted = name.trim().toLowerCase();
  if (wanted === project.toLowerCase()) return true;
  return wanted.length >= 4 && previousSessionId.toLowerCase().startsWith(wanted);
}

interface OfferFor {
  key: string;
  entry: SessionEntry;
  moment: Moment;
  isForced: boolean;
}

async function makeOffer(parts: OfferParts, state: SessionState, request: OfferFor): Promise<Offer | undefined> {
  const { agent, sources } = parts;
  const { key, entry, moment } = request;
  const began = performance.now();
  const project = await sources.project(entry);
  const told = request.isForced ? await broughtFor(state, project) : await ofProject(state, project);
  if (told === undefined) return undefined;
  const text = await offerText(parts, told, {
    isSameWindow: state.previousSessionId === entry.sessionId,
    workspace: agent.workspace,
    budgetMs: BUDGET_MS - (performance.now() - began),
  });
  return { sessionKey: key, ...moment, state: told, text };
}

const BUDGET_MS = 1_500;

/** Whoever asks for it gets what was worked on last, if nothing belongs to what is worked on now. */
async function broughtFor(state: SessionState, project: string): Promise<SessionState | undefined> {
  for (const one of [project, ...projectsIn(state), state.project]) {
    const brought = await ofProject(state, one);
    if (brought !== undefined) return brought;
  }
  return undefined;
}

/** Undefined when nothing in it belongs to the project. */
export async function ofProject(state: SessionState, project: string): Promise<SessionState | undefined> {
  const told = state.project === project ? state : await summedUpFor(state, project);
  return told.items.length === 0 ? undefined : told;
}

async function summedUpFor(state: SessionState, project: string): Promise<SessionState> {
  const { extract } = await import("./extract/extract.ts");
  const patterns = state.patterns.filter((note) => note.project === project);
  const extracted = extract(state, [], { project, active: isActiveProject(project) });
  return { ...state, ...extracted, items: withWindows(extracted.items, state.earlier), patterns, project };
}

export async function offerText(
  { git, github }: Pick<OfferParts, "git" | "github">,
  state: SessionState,
  options: { isSameWindow: boolean; isBehind?: boolean; workspace: string; budgetMs: number },
): Promise<string> {
  const { isSameWindow, isBehind = false } = options;
  const [remarks, memoryFiles] = await Promise.all([
    verifyItems(state, { budgetMs: options.budgetMs, git, github }),
    relatedMemoryFiles(options.workspace, state),
  ]);
  return renderOffer({ state, remarks, memoryFiles, isSameWindow, isBehind });
}

async function markTold(
  { agent, captures }: OfferParts,
  key: string,
  told: SessionState,
  moment: Moment,
): Promise<void> {
  const at = new Date(agent.clock.now()).toISOString();
  await captures.change(key, ({ forced: _forced, ...state }) => ({
    ...state,
    decidedFor: moment,
    // A window of its own may have been captured meanwhile, and that was not told to anybody.
    ...(state.previousSessionId === told.previousSessionId ? offeredNow(state, told.project, at) : {}),
  }));
}

const MOST_PROJECTS = 20;

/** Only what was told counts as told: the lines of other projects are still to come. */
function offeredNow(
  { project: present, resumeOfferedAt, offeredFor = [] }: SessionState,
  project: string,
  at: string,
): Pick<SessionState, "resumeOfferedAt" | "offeredFor"> {
  const others = offeredFor.filter((one) => one.project !== project);
  return {
    resumeOfferedAt: present === project ? at : resumeOfferedAt,
    offeredFor: [...others, { project, at }].slice(-MOST_PROJECTS),
  };
}

function isSameMoment(a: Moment | undefined, b: Moment): boolean {
  return a?.sessionId === b.sessionId && a.compactions === b.compactions;
}
