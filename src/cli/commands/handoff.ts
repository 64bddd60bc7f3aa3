/**
 * `holdfast handoff`: works on the agent's store, as the commands for sessions do, whether a gateway runs or not.
 * What is kept is compared and swapped, so both may capture at once, and the gateway's page hears of it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { findHandoff } from "../../handoff/find-handoff.ts";
import { type HandoffView, handoffView, isNativeState } from "../../handoff/handoff-view.ts";
import { renderMarkdown, shortId } from "../../handoff/render.ts";
import type { SessionState } from "../../handoff/state.ts";
import { formatAge, print, printJson, printTable, talk, writeOut } from "../output.ts";
import { waitingLine } from "../waiting-line.ts";
import { type HandoffOptions, type OpenedHandoff, withHandoff } from "./handoff-place.ts";

export async function showHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: false }, async (opened) => {
    const { handoff, agent } = opened;
    const { state } = await requireKept(opened, options.session);
    const remarks = await handoff.verify(state);
    const markdown = renderMarkdown(state, remarks);
    if (options.json !== true) return await writeOut(printable(markdown));
    printJson({ schema: 1, handoff: handoffView(state, agent.clock.now(), remarks), markdown });
  });
}

/** How long a model that puts it into better words is waited for; what comes later is lost, and nothing else. */
const MODEL_MS = 15_000;

export async function captureHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: true }, async (opened) => {
    const { handoff, agent, config } = opened;
    const { key, target } = await findHandoff(opened, options.session ?? (await newestSession(opened)));
    if (target === undefined) throw nothingToRead(key);
    let state = await handoff.capture(target, "asked");
    if (state !== undefined && config.handoff.model !== undefined) {
      using _line = waitingLine("A model puts it into words");
      await Promise.race([handoff.settled(), delay(MODEL_MS, undefined, { ref: false })]);
      state = (await handoff.get(key)) ?? state;
    }
    if (options.json === true) {
      const captured = state !== undefined;
      const shown = state === undefined ? {} : { handoff: handoffView(state, agent.clock.now()) };
      return printJson({ schema: 1, ok: true, sessionKey: key, captured, ...shown });
    }
    if (state === undefined) return talk(`Nothing was said in ${key} that could be handed over.`);
    print(`Captured ${describe(state)}`);
    talk(`\`holdfast handoff show --session ${referenceOf(state)}\` shows it.`);
  });
}

export async function clearHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: false }, async (opened) => {
    const { handoff, agent } = opened;
    const key =
      options.session === undefined ? await newestKept(opened) : (await findHandoff(opened, options.session)).key;
    const before = key === undefined ? undefined : await handoff.get(key);
    const cleared = key !== undefined && (await handoff.clear(key));
    if (options.json === true) {
      const shown = cleared && before !== undefined ? { handoff: handoffView(before, agent.clock.now()) } : {};
      return printJson({ schema: 1, ok: true, ...(key === undefined ? {} : { sessionKey: key }), cleared, ...shown });
    }
    if (!cleared) return talk("Nothing was kept.");
    print(before === undefined ? `Cleared what ${key} left` : `Cleared ${describe(before)}`);
    talk("The transcript stays. `/handoff off` in the session, or handoff.enabled, turns it off.");
  });
}

export async function resumeHandoff(options: HandoffOptions): Promise<void> {
  await withHandoff(options, { writes: true }, async (opened) => {
    const { handoff, agent } = opened;
    const { key } = await requireKept(opened, options.session);
    let answer = await handoff.resume(key);
    // Whoever names the session has named what is expired.
    if (answer.kind === "expired" && options.session !== undefined) {
      answer = await handoff.resume(key, answer.state.project);
    }
    if (answer.kind === "none") throw nothingKept(key);
    const { state } = answer;
    if (answer.kind === "expired") throw expired(state);
    const shown = handoffView({ ...state, forced: true }, agent.clock.now());
    const markdown = renderMarkdown(state, await handoff.verify(state));
    if (options.json === true) return printJson({ schema: 1, ok: true, sessionKey: key, handoff: shown, markdown });
    if (!shown.isNative) return print(`The next message in ${key} brings ${describe(state)}`);
    await writeOut(printable(markdown));
    talk(`The next session of Claude Code in ${state.cwd ?? "its repo"} is told, where the hooks are installed; else:`);
    talk(`  claude "$(holdfast handoff show --session ${referenceOf(state)})"`);
  });
}

const LISTED = 50;

export async function listHandoffs(options: HandoffOptions & { project?: string; limit?: number }): Promise<void> {
  await withHandoff(options, { writes: false }, async (opened) => {
    const { handoff, agent } = opened;
    await opened.catchUp();
    const now = agent.clock.now();
    const all = (await handoff.list({ cleared: true }))
      .filter(({ project }) => options.project === undefined || project === options.project)
      .map((state) => handoffView(state, now));
    const handoffs = all.slice(0, options.limit ?? LISTED);
    if (options.json === true) {
      return printJson({ schema: 1, count: handoffs.length, total: all.length, handoffs });
    }
    if (handoffs.length === 0) return talk("No session has left anything yet.");
    printTable(
      [
        { title: "WINDOW" },
        { title: "SESSION" },
        { title: "PROJECT" },
        { title: "AGE", align: "right" },
        { title: "STATE" },
        { title: "IN PROGRESS", flexible: true },
      ],
      handoffs.map((view) => [
        shortId(view.sessionId),
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

/** What somebody would look for; a conversation without anything in progress by what it was about. */
function inProgress({ items }: HandoffView): string {
  const lines = (["in-progress", "next-step", "topic"] as const).map(
    (wanted) => items.find(({ kind }) => kind === wanted)?.text,
  );
  return lines.find((line) => line !== undefined) ?? "";
}

/** What is kept of the session that was named, else the newest; captured now if nobody has. */
async function requireKept(
  opened: OpenedHandoff,
  session: string | undefined,
): Promise<{ key: string; state: SessionState }> {
  const { handoff } = opened;
  if (session === undefined) {
    const key = await newestKept(opened);
    const state = key === undefined ? undefined : await handoff.get(key);
    if (key === undefined || state === undefined) throw nothingAtAll();
    return { key, state };
  }
  const { key, target } = await findHandoff(opened, session);
  const kept = await handoff.get(key);
  const isStale = kept === undefined || target?.kind === "native";
  const state = isStale && target !== undefined ? ((await handoff.capture(target, "found")) ?? kept) : kept;
  if (state === undefined) throw nothingKept(key);
  return { key, state };
}

async function newestKept(opened: OpenedHandoff): Promise<string | undefined> {
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
    hint: "Name a session of Claude Code with --session (`holdfast cc list` shows them), or start one with `holdfast chat`.",
  });
}

function describe({ items, project, previousSessionId, sessionKey }: SessionState): string {
  const lines = `${items.length} line${items.length === 1 ? "" : "s"}`;
  return `${lines} of window ${shortId(previousSessionId)} (project ${project}, session ${sessionKey})`;
}

/** Short enough to be typed; a native session is known by its id. */
function referenceOf(state: SessionState): string {
  return isNativeState(state) ? shortId(state.previousSessionId) : state.sessionKey;
}

function nothingAtAll(): HoldfastError {
  return new HoldfastError("not-found", "no-handoff", "No session has left anything yet", {
    hint: "`holdfast handoff capture --session <session>` captures one; `holdfast sessions` and `holdfast cc list` show them.",
  });
}

function nothingKept(sessionKey: string): HoldfastError {
  return new HoldfastError("not-found", "no-handoff", `Nothing is kept of ${sessionKey}`, {
    hint: "Nothing was said in it yet, or it was cleared or turned off; `holdfast handoff list` shows what is kept.",
    data: { sessionKey },
  });
}

function nothingToRead(sessionKey: string): HoldfastError {
  return new HoldfastError("not-found", "transcript-missing", `The transcript of ${sessionKey} is gone`, {
    hint: "`holdfast handoff show` shows what was captured before.",
    data: { sessionKey },
  });
}

function expired(state: SessionState): HoldfastError {
  const { sessionKey, expiresAt } = state;
  return new HoldfastError("conflict", "handoff-expired", `What ${sessionKey} left has expired`, {
    hint: `\`holdfast handoff resume --session ${referenceOf(state)}\` brings it all the same.`,
    data: { sessionKey, expiresAt },
  });
}
