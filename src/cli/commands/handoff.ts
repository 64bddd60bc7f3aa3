/**
 * `holdfast handoff`: works on the agent's store, whether a gateway runs or not. Every change is a compare-and-swap,
 * so this process and the gateway may capture at the same time.
 */
import { closing } from "../../base/async.ts";
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { findHandoff, type HandoffPlace } from "../../handoff/find-handoff.ts";
import { isNativeState } from "../../handoff/handoff.ts";
import { type HandoffView, handoffView } from "../../handoff/handoff-view.ts";
import { renderMarkdown, shortEntryId } from "../../handoff/render.ts";
import type { ModelWork, SessionState } from "../../handoff/state.ts";
import type { Counts, Flags, Texts } from "../command.ts";
import { type Setup, assertAgentId, loadSetup } from "../context.ts";
import { flexible, formatAge, print, printJson, printTable, right, talk, writeOut, waitingLine } from "../output.ts";
import { printable, printableLine } from "../../base/text.ts";
import { openClaudeSide } from "../../compose/claude.ts";
import { openHandoff } from "../../compose/handoff.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { openAgent } from "../../compose/agent.ts";

type HandoffOptions = Flags<"json"> & Texts<"agent" | "session">;

export async function showHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: false }, async (opened) => {
    const { handoff, agent } = opened;
    const { state } = await requireHandoff(opened, options.session);
    const remarks = await handoff.verify(state);
    const markdown = renderMarkdown(state, remarks);
    if (options.json === true) {
      return printJson({ schema: 1, handoff: handoffView(state, agent.clock.now(), remarks), markdown });
    }
    await writeOut(printable(markdown));
    if (state.model !== undefined) talk(describeModel(state.model));
  });
}

function describeModel({ name, costUsd, items }: ModelWork): string {
  const cost = costUsd === undefined ? "" : ` for $${costUsd.toFixed(4)}`;
  const use = items.length === 0 ? "was asked, but its answer was not used" : "wrote lines of this hand-off";
  return printableLine(`${name} ${use}${cost}. To use no model: holdfast config set handoff.model off`);
}

export async function captureHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: true }, async (opened) => {
    const { handoff, agent } = opened;
    const { key, target } = await findHandoff(opened, options.session ?? (await newestSession(opened)));
    if (target === undefined) throw nothingToRead(key);
    const state = await handoff.capture(target, "asked");
    if (options.json === true) {
      const captured = state !== undefined;
      const view = state === undefined ? undefined : handoffView(state, agent.clock.now());
      return printJson({ schema: 1, ok: true, sessionKey: key, captured, handoff: view });
    }
    if (state === undefined) return talk(`${key} has no messages to hand over.`);
    print(`Captured ${describe(state)}`);
    talk(`To read it: holdfast handoff show --session ${referenceOf(state)}`);
  });
}

export async function clearHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: false }, async (opened) => {
    const { handoff, agent } = opened;
    const key =
      options.session === undefined ? await newestHandoffKey(opened) : (await findHandoff(opened, options.session)).key;
    const before = key === undefined ? undefined : await handoff.get(key);
    const cleared = key !== undefined && (await handoff.clear(key));
    if (options.json === true) {
      const view = cleared && before !== undefined ? handoffView(before, agent.clock.now()) : undefined;
      return printJson({ schema: 1, ok: true, sessionKey: key, cleared, handoff: view });
    }
    if (!cleared) return talk("There is no hand-off to clear.");
    print(before === undefined ? `Cleared the hand-off of ${key}` : `Cleared ${describe(before)}`);
    talk(
      "The transcript stays. To stop new hand-offs: `/handoff off` in the session, or set handoff.enabled to false.",
    );
  });
}

export async function resumeHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: true }, async (opened) => {
    const { handoff, agent } = opened;
    const { key } = await requireHandoff(opened, options.session);
    let answer = await handoff.resume(key);
    // An expired hand-off is resumed only if its session was named.
    if (answer.kind === "expired" && options.session !== undefined) {
      answer = await handoff.resume(key, answer.state.project);
    }
    if (answer.kind === "none") throw noHandoffOf(key);
    const { state } = answer;
    if (answer.kind === "expired") throw expired(state);
    const shown = handoffView({ ...state, forced: true }, agent.clock.now());
    const markdown = renderMarkdown(state, await handoff.verify(state));
    if (options.json === true) return printJson({ schema: 1, ok: true, sessionKey: key, handoff: shown, markdown });
    if (!shown.isNative) return print(`The next message in ${key} includes ${describe(state)}`);
    await writeOut(printable(markdown));
    talk(`With the hooks installed, the next Claude Code session in ${state.cwd ?? "its repo"} gets it. Otherwise:`);
    talk(`  claude "$(holdfast handoff show --session ${referenceOf(state)})"`);
  });
}

const DEFAULT_LIMIT = 50;

export async function listHandoffs(options: HandoffOptions & Texts<"project"> & Counts<"limit">): Promise<void> {
  await withHandoff(options, { writes: false }, async (opened) => {
    const { handoff, agent } = opened;
    await opened.catchUp();
    const now = agent.clock.now();
    const all = (await handoff.list({ cleared: true }))
      .filter(({ project }) => options.project === undefined || project === options.project)
      .map((state) => handoffView(state, now));
    const handoffs = all.slice(0, options.limit ?? DEFAULT_LIMIT);
    if (options.json === true) {
      return printJson({ schema: 1, count: handoffs.length, total: all.length, handoffs });
    }
    if (handoffs.length === 0) return talk("There are no hand-offs yet.");
    printTable(
      ["WINDOW", "SESSION", "PROJECT", right("AGE"), "STATE", flexible("IN PROGRESS")],
      handoffs.map((view) => [
        shortEntryId(view.sessionId),
        view.isNative ? "claude-code" : view.sessionKey,
        view.project,
        formatAge(now - view.lastMessageAt),
        view.status,
        inProgress(view),
      ]),
    );
    if (all.length > handoffs.length) talk(`${all.length - handoffs.length} more; --limit ${all.length} shows all.`);
  });
}

/** The work in progress, else the next step, else the topic. */
function inProgress({ items }: HandoffView): string {
  const lines = (["in-progress", "next-step", "topic"] as const).map(
    (wanted) => items.find(({ kind }) => kind === wanted)?.text,
  );
  return lines.find((line) => line !== undefined) ?? "";
}

/** The hand-off of the named session, captured now if there is none; else the newest hand-off. */
async function requireHandoff(
  opened: OpenedHandoff,
  session: string | undefined,
): Promise<{ key: string; state: SessionState }> {
  const { handoff } = opened;
  if (session === undefined) {
    const key = await newestHandoffKey(opened);
    const state = key === undefined ? undefined : await handoff.get(key);
    if (key === undefined || state === undefined) throw noHandoffs();
    return { key, state };
  }
  const { key, target } = await findHandoff(opened, session);
  const kept = await handoff.get(key);
  const isStale = kept === undefined || target?.kind === "native";
  const state = isStale && target !== undefined ? ((await handoff.capture(target, "found")) ?? kept) : kept;
  if (state === undefined) throw noHandoffOf(key);
  return { key, state };
}

async function newestHandoffKey(opened: OpenedHandoff): Promise<string | undefined> {
  await opened.catchUp();
  const [newest] = (await opened.handoff.list()).toSorted(
    (a, b) => Date.parse(b.lastMessageAt) - Date.parse(a.lastMessageAt),
  );
  return newest?.sessionKey;
}

async function newestSession({ agent }: OpenedHandoff): Promise<string> {
  const { sessions } = await agent.store.list({ limit: 1, fields: [] });
  const [newest] = sessions;
  if (newest !== undefined) return newest.key;
  throw new HoldfastError("not-found", "no-sessions", "There are no sessions yet", {
    hint: "Name a Claude Code session with --session (`holdfast cc list` lists them), or start one with `holdfast chat`.",
  });
}

function describe({ items, project, previousSessionId, sessionKey }: SessionState): string {
  const lines = `${items.length} line${items.length === 1 ? "" : "s"}`;
  return `${lines} of window ${shortEntryId(previousSessionId)} (project ${project}, session ${sessionKey})`;
}

function referenceOf(state: SessionState): string {
  return isNativeState(state) ? shortEntryId(state.previousSessionId) : state.sessionKey;
}

function noHandoffs(): HoldfastError {
  return new HoldfastError("not-found", "no-handoff", "There are no hand-offs yet", {
    hint: "Capture one: holdfast handoff capture --session <session>. `holdfast sessions` and `holdfast cc list` list sessions.",
  });
}

function noHandoffOf(sessionKey: string): HoldfastError {
  return new HoldfastError("not-found", "no-handoff", `${sessionKey} has no hand-off`, {
    hint: "It has no messages yet, or its hand-off was cleared or turned off. `holdfast handoff list` shows all hand-offs.",
    data: { sessionKey },
  });
}

function nothingToRead(sessionKey: string): HoldfastError {
  return new HoldfastError("not-found", "transcript-missing", `The transcript of ${sessionKey} is gone`, {
    hint: "`holdfast handoff show` shows the last captured hand-off.",
    data: { sessionKey },
  });
}

function expired(state: SessionState): HoldfastError {
  const { sessionKey, expiresAt } = state;
  return new HoldfastError("conflict", "handoff-expired", `The hand-off of ${sessionKey} has expired`, {
    hint: `To use it anyway: holdfast handoff resume --session ${referenceOf(state)}`,
    data: { sessionKey, expiresAt },
  });
}

interface OpenedHandoff extends HandoffPlace, Setup {
  /** Captures hand-offs of sessions that ended without one. */
  catchUp(): Promise<void>;
}

/** Opens the agent and its hand-offs for a task. While hand-offs are turned off, they can still be read and cleared. */
async function withHandoff(
  options: HandoffOptions,
  { writes }: { writes: boolean },
  task: (opened: OpenedHandoff) => Promise<void>,
): Promise<void> {
  assertAgentId(options.agent);
  const { home, config } = await loadSetup();
  const isOn = config.handoff.enabled;
  if (writes && !isOn) throw turnedOff();
  // A named agent must exist; the default one is created because it keeps the hand-offs of Claude Code.
  const agent = await openAgent({ home, config, agentId: options.agent, create: options.agent === undefined });
  await using _store = closing(agent.store);
  const on = { ...config, handoff: { ...config.handoff, enabled: true } };
  const handoff = await openHandoff({ home, config: on, env: process.env, agent });
  if (handoff === undefined) throw turnedOff();
  await using _handoff = closing(handoff);
  const claude = openClaudeSide({ home, config, logger: silentLogger });
  await using _claude = closing(claude);
  const findNative = async (idOrPrefix: string): Promise<DiscoveredSession> => {
    using _line = waitingLine("Reading Claude Code's sessions");
    return await claude.find(idOrPrefix);
  };
  const catchUp = async (): Promise<void> => {
    if (!isOn) return;
    using _line = waitingLine("Reading new messages");
    await handoff.recover();
  };
  // The default agent keeps the hand-offs of Claude Code.
  const isKeeper = agent.agentId === config.defaultAgent;
  await task({ home, config, agent, handoff, findNative: isKeeper ? findNative : undefined, catchUp });
}

function turnedOff(): HoldfastError {
  return new HoldfastError("conflict", "handoff-off", "Hand-offs are turned off: handoff.enabled is false", {
    hint: "Turn them on: holdfast config set handoff.enabled true",
  });
}
