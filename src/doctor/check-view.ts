/** Whether `sessions.json` shows what the `sqlite` store holds. Other tools read it; Holdfast never does. */
import { setAside } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { AgentScope } from "./agent-scope.ts";
import type { Diagnosis } from "./finding.ts";
import { isEntry, readSessionsFile } from "./sessions-file.ts";

export async function* checkView(scope: AgentScope, agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const path = scope.layout.sessionsFile;
  const rewriteView = scope.repair.rewriteView?.bind(scope.repair);
  if (rewriteView === undefined) return;
  const message = await whatIsWrong(path, agent);
  if (message === undefined) return;
  yield {
    finding: { severity: "warning", message, path, fix: "write it again" },
    mend: async () => {
      await keepWhatOnlyItHolds(path, agent);
      await rewriteView();
      if ((await whatIsWrong(path, agent)) === undefined) return;
      // The store believes that the view is up to date, so somebody else wrote this one.
      await setAside(path, "replaced", agent.clock.now());
      await rewriteView();
    },
  };
}

/** Damaged text, and sessions that are not in the store, may be of use to somebody. */
async function keepWhatOnlyItHolds(path: string, { store, clock }: AgentHandle): Promise<void> {
  const view = await readSessionsFile(path);
  if (view.state === "unreadable") await setAside(path, "corrupt", clock.now());
  if (view.state !== "read") return;
  const { sessions } = await store.list({ fields: [] });
  const known = new Set(sessions.map(({ key }) => key));
  if (Object.keys(view.sessions).some((key) => !known.has(key))) await setAside(path, "replaced", clock.now());
}

/** A running process writes the view a little after the store. */
const GRACE_MS = 10_000;

async function whatIsWrong(path: string, { store, clock }: AgentHandle): Promise<string | undefined> {
  const { sessions } = await store.list({ fields: [] });
  const view = await readSessionsFile(path);
  if (view.state === "missing") return sessions.length === 0 ? undefined : "The view for other tools is missing";
  if (view.state === "unreadable") return `The view for other tools cannot be read: ${view.reason}`;
  const isCurrent =
    Object.keys(view.sessions).length === sessions.length &&
    sessions.every(({ key, entry }) => {
      const shown = view.sessions[key];
      return isEntry(shown) && shown.sessionId === entry.sessionId && shown.updatedAt === entry.updatedAt;
    });
  const changedAt = Math.max(0, ...sessions.map(({ entry }) => entry.updatedAt));
  if (isCurrent || Math.abs(clock.now() - changedAt) < GRACE_MS) return undefined;
  return "The view for other tools does not show what the store holds";
}
