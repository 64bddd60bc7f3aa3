/** The commands that change a session. Each prints what is now, as a sentence or as JSON. */
import { localTime } from "../../base/clock.ts";
import { ERROR_KINDS, HoldfastError } from "../../base/errors.ts";
import { agentLayout } from "../../config/layout.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { archiveSession, deleteSession, readManifests, restoreSession } from "../../session/archive.ts";
import { compactSession } from "../../session/compaction.ts";
import { withSessionLease } from "../../session/lease.ts";
import { type SessionPatch, changesProject, patchSession } from "../../session/patch.ts";
import { reopenWindow } from "../../session/reopen-window.ts";
import { type FoundSession, findSession } from "../../session/find-session.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Lease } from "../../store/store.ts";
import { parseAssignments } from "../arguments.ts";
import { type AgentOptions, type Setup, confirm, withAgent } from "../context.ts";
import { print, printJson, printTable, talk } from "../output.ts";

type ChangeOptions = AgentOptions & { json?: boolean; yes?: boolean };

export async function patch(
  reference: string,
  assignments: readonly string[],
  options: ChangeOptions & { unset?: string[] },
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
    if (options.json === true) printJson({ ok: true, path: agent.store.path, key, entry });
    else print(`${key}: ${Object.keys(changes).join(", ")} changed`);
  });
}

interface Change {
  agent: AgentHandle;
  setup: Setup;
  options: ChangeOptions;
}

async function patchProject(change: Change, key: string, changes: SessionPatch): Promise<SessionEntry> {
  const { patchFromOutside } = await import("../../turn/patch-session.ts");
  const handoff = await openOwnHandoff(change);
  const parts = { agent: change.agent, ...(handoff === undefined ? {} : { handoff }) };
  try {
    return await patchFromOutside(parts, key, changes);
  } finally {
    await handoff?.close();
  }
}

/** A store that was named may be anybody's; hand-offs are the agent's own. */
async function openOwnHandoff({ agent, setup, options }: Change): Promise<Handoff | undefined> {
  if (options.store !== undefined) return undefined;
  const { openHandoff } = await import("../../compose-handoff.ts");
  return await openHandoff({ ...setup, env: process.env, agent });
}

export async function compact(reference: string, options: ChangeOptions & { maxLines?: number }): Promise<void> {
  await withAgent(options, async (agent, setup) => {
    const { key } = await findSession(agent, reference);
    const handoff = await openOwnHandoff({ agent, setup, options });
    const { maxLines } = options;
    try {
      const result = await compactSession(agent, key, { maxLines, around: handoff?.keepThrough });
      if (options.json === true) printJson({ ok: true, ...result });
      else if (result.compacted) print(`${key}: ${result.kept} entries kept; the whole is in ${result.archived}`);
      else print(`${key}: short enough already (${result.kept} entries)`);
    } finally {
      await handoff?.close();
    }
  });
}

export async function archive(reference: string, options: ChangeOptions): Promise<void> {
  await withWritableSession(reference, options, async (agent, { key }, lease) => {
    const { id } = await archiveSession(agent, key, { lease });
    if (options.json === true) printJson({ ok: true, key, archive: id });
    else print(`${key}: archived as ${id}`);
  });
}

export async function remove(reference: string, options: ChangeOptions): Promise<void> {
  await withAgent(options, async (agent, setup) => {
    const { key } = await findSession(agent, reference);
    // Before the lease is taken: nobody else has to wait for the answer.
    await confirm(`Delete session ${key}? Its transcripts go to the archive.`, options);
    const { id, windows } = await withSessionLease(agent, key, {}, async ({ lease }) => {
      const deleted = await deleteSession(agent, key, { lease });
      // A store that was named may be anybody's; what waits and what was left is the agent's own.
      if (options.store === undefined) await forgetWaiting(agent, setup.home, key);
      return deleted;
    });
    if (options.store === undefined) {
      const { forgetDeleted } = await import("../../compose-handoff.ts");
      await forgetDeleted({ ...setup, env: process.env, agent }, windows);
    }
    const archived = windows.map(({ sessionId }) => sessionId);
    if (options.json === true) printJson({ ok: true, key, deleted: true, archive: id, archived });
    else print(`${key}: deleted; \`holdfast sessions restore ${id}\` brings it back`);
  });
}

async function forgetWaiting({ agentId, clock, logger }: AgentHandle, home: string, key: string): Promise<void> {
  const { forgetPending } = await import("../../turn/body/forget-pending.ts");
  await forgetPending({ path: agentLayout(home, agentId).pending, clock, logger }, key);
}

export async function restore(id: string | undefined, options: ChangeOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    if (id === undefined) return await showArchive(agent, options);
    const window = await findClosedWindow(agent, id);
    if (window !== undefined) {
      const { key } = window;
      const entry = await withSessionLease(
        agent,
        key,
        {},
        async ({ lease }) => await reopenWindow(agent, window, { lease }),
      );
      if (options.json === true) printJson({ ok: true, key, entry });
      else print(`${key}: back at window ${entry.sessionId}`);
      return;
    }
    const { key, entry } = await restoreSession(agent, id);
    if (options.json === true) printJson({ ok: true, key, entry });
    else print(`${key}: restored`);
  });
}

async function showArchive(agent: AgentHandle, options: ChangeOptions): Promise<void> {
  const { records: archives, unreadable } = await readManifests(agent);
  if (options.json === true) {
    const list = archives.map(({ id, key, archivedAt, reason, entry }) => {
      return { id, key, archivedAt, reason, sessionId: entry.sessionId };
    });
    printJson({ count: list.length, archives: list });
  } else if (archives.length === 0 && unreadable.length === 0) {
    talk("The archive is empty.");
  } else {
    printTable(
      [{ title: "ARCHIVE" }, { title: "SESSION", flexible: true }, { title: "WHY" }, { title: "WHEN" }],
      archives.map(({ id, key, reason, archivedAt }) => [id, key, reason, localTime(archivedAt)]),
    );
  }
  for (const name of unreadable) {
    talk(
      `holdfast: the archive manifest ${name} cannot be read; \`holdfast doctor --fix\` brings its transcripts back`,
    );
    process.exitCode = ERROR_KINDS.degraded.exitCode;
  }
}

/** An earlier window that the reference names, if it names one. */
async function findClosedWindow(agent: AgentHandle, reference: string) {
  try {
    return (await findSession(agent, reference)).window;
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "not-found") return undefined;
    throw error;
  }
}

async function withWritableSession(
  reference: string,
  options: ChangeOptions,
  task: (agent: AgentHandle, session: FoundSession, lease: Lease) => Promise<void>,
): Promise<void> {
  await withAgent(options, async (agent) => {
    const session = await findSession(agent, reference);
    await withSessionLease(agent, session.key, {}, async ({ lease }) => await task(agent, session, lease));
  });
}
