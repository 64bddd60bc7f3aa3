/** The `holdfast sessions` commands that change a session. Each prints the new state, as a sentence or as JSON. */
import { localTime } from "../../base/clock.ts";
import { closing } from "../../base/async.ts";
import { ERROR_KINDS, HoldfastError, undefinedOn } from "../../base/errors.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import { type AgentHandle, locateTranscript } from "../../session/agent-handle.ts";
import {
  archiveSession,
  assertDeletable,
  deleteSession,
  readManifests,
  restoreSession,
  reopenWindow,
} from "../../session/archive.ts";
import { findSession } from "../../session/find-session.ts";
import { withSessionLease } from "../../session/lease.ts";
import { maintainSessions } from "../../session/maintenance.ts";
import { type SessionPatch, changesProject, patchNotes, patchSession } from "../../session/patch.ts";
import { resetSession } from "../../session/window.ts";
import type { Lease } from "../../store/queues.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { findDamage } from "../../transcript/damage.ts";
import { type TranscriptProblem, isLoss } from "../../transcript/scan.ts";
import type { Counts, Flags } from "../command.ts";
import { type AgentOptions, type Setup, confirm, withAgent } from "../context.ts";
import { flexible, print, printJson, printTable, talk, waitingLine } from "../output.ts";
import { findRunningGateway, openLocalCaller } from "../gateway-client.ts";
import { reportProblems } from "../conversation-view.ts";
import { compactSession } from "../../session/transcript-changes.ts";

type ChangeOptions = AgentOptions & Flags<"json" | "yes">;

export async function patch(
  reference: string,
  assignments: readonly string[],
  options: ChangeOptions & { unset?: string[] | undefined },
): Promise<void> {
  const unset = Object.fromEntries((options.unset ?? []).map((field) => [field, null]));
  const changes = { ...parseAssignments(assignments), ...unset } as SessionPatch;
  if (Object.keys(changes).length === 0) {
    throw new HoldfastError("usage", "nothing-to-do", "Nothing to set", {
      hint: "Give assignments such as label=work, or --unset <field>.",
    });
  }
  await withAgent(options, async (agent, setup) => {
    const { key } = await findSession(agent, reference);
    const entry = changesProject(changes)
      ? await patchProject({ agent, setup, options }, key, changes)
      : await patchSession(agent, key, changes);
    const notes = patchNotes(changes);
    if (options.json === true) {
      printJson({ ok: true, path: agent.store.location, key, entry, notes: notes.length === 0 ? undefined : notes });
    } else print(`${key}: ${Object.keys(changes).join(", ")} changed`);
    for (const note of notes) talk(note);
  });
}

/** `field=value` pairs; numbers and booleans are converted. */
function parseAssignments(assignments: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const equals = assignment.indexOf("=");
      if (equals > 0) return [assignment.slice(0, equals), parseValue(assignment.slice(equals + 1))];
      throw new HoldfastError("usage", "invalid-assignment", `"${assignment}" is not of the form field=value`, {
        hint: "For example: holdfast sessions patch main label=work",
      });
    }),
  );
}

function parseValue(raw: string): unknown {
  if (raw === "true" || raw === "false") return raw === "true";
  return /^-?\d+(?:\.\d+)?$/.test(raw) ? Number(raw) : raw;
}

interface Change {
  agent: AgentHandle;
  setup: Setup;
  options: ChangeOptions;
}

async function patchProject(change: Change, key: string, changes: SessionPatch): Promise<SessionEntry> {
  const { patchFromOutside } = await import("../../turn/run/change-session.ts");
  const handoff = await openOwnHandoff(change);
  await using _closing = closing(handoff);
  return await patchFromOutside({ agent: change.agent, handoff }, key, changes);
}

/** Undefined with `--store`: that store may belong to another program, and hand-offs are the agent's own. */
async function openOwnHandoff({ agent, setup, options }: Change): Promise<Handoff | undefined> {
  if (options.store !== undefined) return undefined;
  const { openHandoff } = await import("../../compose/handoff.ts");
  return await openHandoff({ ...setup, env: process.env, agent });
}

/**
 * Closes the window and opens the next. The agent saves its memory first, in the gateway or else in this process.
 * With `--store` only the window changes.
 */
export async function reset(reference: string, options: ChangeOptions): Promise<void> {
  const { key, agentId, setup, done } = await withAgent(options, async (agent, loaded) => {
    const found = await findSession(agent, reference);
    const common = { key: found.key, agentId: agent.agentId, setup: loaded };
    if (options.store === undefined) return { ...common, done: undefined };
    return await leased(agent, found.key, async (lease) => {
      const { entry, previous } = await resetSession(agent, found.key, { lease });
      return { ...common, done: { entry, previousSessionId: previous.sessionId } };
    });
  });
  const { entry, previousSessionId } = done ?? (await resetByAgent(setup, { key, agentId }));
  if (options.json === true) printJson({ ok: true, key, entry, previousSessionId });
  else print(`${key}: new window ${entry.sessionId}; the previous one is ${previousSessionId}`);
}

async function leased<T>(agent: AgentHandle, key: string, task: (lease: Lease) => Promise<T>): Promise<T> {
  return await withSessionLease(agent, key, {}, async ({ lease }) => await task(lease));
}

async function resetByAgent(setup: Setup, params: { key: string; agentId: string }) {
  using _line = waitingLine("The agent is saving its memory");
  const gateway = await findRunningGateway(setup);
  if (gateway !== undefined) return await gateway.call("sessions.reset", params);
  const local = await openLocalCaller(setup);
  await using _closing = closing(local);
  return await local.call("sessions.reset", params);
}

export async function compact(reference: string, options: ChangeOptions & Counts<"maxLines">): Promise<void> {
  await withAgent(options, async (agent, setup) => {
    const found = await findSession(agent, reference);
    const { key } = found;
    const handoff = await openOwnHandoff({ agent, setup, options });
    await using _closing = closing(handoff);
    const { maxLines } = options;
    const problems: TranscriptProblem[] = [];
    const result = await compactSession(agent, key, {
      maxLines,
      around: handoff?.keepThrough,
      onProblem: (problem) => problems.push(problem),
    });
    const { path } = await locateTranscript(agent, found);
    const kept = result.kept === 1 ? "1 entry" : `${result.kept} entries`;
    if (options.json === true)
      printJson({ ok: true, ...result, problems: problems.length === 0 ? undefined : problems });
    else if (result.compacted) print(`${key}: kept ${kept}; the original is in ${result.archived}`);
    else if (problems.some(isLoss)) print(`${key}: not compacted (${kept})`);
    else print(`${key}: already short enough (${kept})`);
    reportProblems(path, { problems });
  });
}

export async function archive(reference: string, options: ChangeOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    const { key } = await findSession(agent, reference);
    const { id } = await leased(agent, key, async (lease) => await archiveSession(agent, key, { lease }));
    if (options.json === true) printJson({ ok: true, key, archive: id });
    else print(`${key}: archived as ${id}`);
  });
}

export async function remove(reference: string, options: ChangeOptions): Promise<void> {
  await withAgent(options, async (agent, setup) => {
    const { key } = await findSession(agent, reference);
    assertDeletable(agent, key);
    // Asked before the lease is taken, so that nothing waits for the answer.
    await confirm(`Delete session ${key}? Its transcripts go to the archive.`, options);
    const { id, windows } = await leased(agent, key, async (lease) => {
      const deleted = await deleteSession(agent, key, { lease });
      await agent.store.history.forget(key);
      await agent.store.systemEvents.forgetSystemEvents(key);
      return deleted;
    });
    if (options.store === undefined) {
      const { forgetDeleted } = await import("../../compose/handoff.ts");
      await forgetDeleted({ ...setup, env: process.env, agent }, windows);
    }
    const archived = windows.map(({ sessionId }) => sessionId);
    if (options.json === true) printJson({ ok: true, key, deleted: true, archive: id, archived });
    else print(`${key}: deleted. To bring it back: holdfast sessions restore ${id}`);
  });
}

export async function restore(id: string | undefined, options: ChangeOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    if (id === undefined) return await listArchive(agent, options);
    // The reference may name an earlier window.
    const window = (await undefinedOn(findSession(agent, id), "not-found"))?.window;
    if (window !== undefined) {
      const { key } = window;
      const entry = await leased(agent, key, async (lease) => await reopenWindow(agent, window, { lease }));
      if (options.json === true) printJson({ ok: true, key, entry });
      else print(`${key}: back to window ${entry.sessionId}`);
      return;
    }
    const { key, entry } = await restoreSession(agent, id);
    const { path, expected } = await locateTranscript(agent, { key, entry });
    const damage = await findDamage(path, expected);
    const problems = damage === undefined ? [] : [{ reason: damage.reason }];
    if (options.json === true) printJson({ ok: true, key, entry, problems });
    else print(`${key}: restored`);
    reportProblems(path, { problems });
  });
}

async function listArchive(agent: AgentHandle, options: ChangeOptions): Promise<void> {
  const { records, unreadable } = await readManifests(agent.store.transcripts.manifests);
  if (options.json === true) {
    const archives = records.map(({ id, key, archivedAt, reason, entry }) => {
      return { id, key, archivedAt, reason, sessionId: entry.sessionId };
    });
    printJson({ count: archives.length, archives });
  } else if (records.length === 0 && unreadable.length === 0) {
    talk("The archive is empty.");
  } else {
    printTable(
      ["ARCHIVE", flexible("SESSION"), "WHY", "WHEN"],
      records.map(({ id, key, reason, archivedAt }) => [id, key, reason, localTime(archivedAt)]),
    );
  }
  for (const name of unreadable) {
    talk(`holdfast: cannot read the archive manifest ${name}; \`holdfast doctor --fix\` recovers its transcripts`);
    process.exitCode = ERROR_KINDS.degraded.exitCode;
  }
}

export async function maintain(options: ChangeOptions & Flags<"dryRun">): Promise<void> {
  await withAgent(options, async (agent, { config }) => {
    if (Object.keys(config.maintenance).length === 0) {
      talk("Nothing to do: no limit is configured (maintenance.archiveAfterDays, maxSessions, maxMegabytes).");
    }
    const dryRun = options.dryRun === true;
    const actions = await maintainSessions(agent, config.maintenance, { dryRun });
    if (options.json === true) return printJson({ dryRun, count: actions.length, actions });
    for (const { what, key, sessionId, reason } of actions) {
      print(`${dryRun ? "would archive" : "archived"} ${what} ${key} ${sessionId.slice(0, 8)} (${reason})`);
    }
  });
}
