/** Checks of an agent's store and of its view, `sessions.json`. */
import { join } from "node:path";
import { setAside } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { readManifests } from "../session/archive.ts";
import type { SalvagedSession } from "../store/store-repair.ts";
import type { AgentScope, Diagnosis } from "./finding.ts";
import { inParallel } from "../base/async.ts";
import { ownKeyOrUndefined } from "../store/store-rules.ts";
import { recoverSessions } from "./recover-sessions.ts";
import {
  type TranscriptSummary,
  entriesByKey,
  isEntry,
  readSessionsFile,
  summarizeTranscript,
  windowFile,
  listTranscripts,
} from "./session-files.ts";

/** A damaged or lost store is rebuilt from `sessions.json` and the transcripts. */
export async function* checkStore(scope: AgentScope): AsyncGenerator<Diagnosis> {
  const { repair: store } = scope;
  const damage = await store.diagnose();
  if (damage === undefined) return;
  const diagnosis = { severity: "error", message: withHint(damage.message, damage.hint), path: store.path } as const;
  const fix = "set the damaged files aside and rebuild the store from sessions.json and the transcripts";
  const repair = async (): Promise<void> => void (await store.rebuild(await recover(scope)));
  yield damage.canRebuild ? { ...diagnosis, fix, repair } : diagnosis;
}

function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}

async function recover({ layout, repair, agentId, mainKey }: AgentScope): Promise<SalvagedSession[]> {
  const owner = { agentId, mainKey };
  const { records } = await readManifests(layout);
  const ofArchivedSessions = new Set(records.flatMap(({ windows }) => windows.map(windowFile)));
  // Transcripts of archived sessions are not recovered, wherever an interrupted move has left them.
  const summarize = async (folder: string): Promise<TranscriptSummary[]> => {
    const names = (await listTranscripts(folder)).filter((name) => !ofArchivedSessions.has(name));
    return await inParallel(names, async (name) => await summarizeTranscript(join(folder, name)));
  };
  return recoverSessions({
    owner,
    sessionsFolder: layout.sessionsFolder,
    listed: entriesByKey(await readSessionsFile(layout.sessionsFile), owner),
    salvaged: await repair.salvage(),
    transcripts: await summarize(layout.sessionsFolder),
    archived: await summarize(layout.archiveFolder),
  });
}

/** Entries in `sessions.json` that Holdfast ignores: other agents' keys, invalid values and double spellings. */
export async function* checkKeys(scope: AgentScope): AsyncGenerator<Diagnosis> {
  const path = scope.layout.sessionsFile;
  const file = await readSessionsFile(path);
  if (file.state !== "read") return;
  for (const [key, value] of Object.entries(file.sessions)) {
    const own = ownKeyOrUndefined(key, scope);
    if (own === undefined) {
      const message = "Not a session of this agent; it is kept but not shown. Move it to the agent it belongs to";
      yield { severity: "warning", message, key, path };
    } else if (!isEntry(value)) {
      const message = "The value of this key is not a session entry; it is kept but not shown. Correct or remove it";
      yield { severity: "warning", message, key, path };
    } else if (own !== key) {
      yield { severity: "info", message: `Another spelling of ${own}: both are one session`, key, path };
    }
  }
}

/** Whether `sessions.json` shows what the `sqlite` store holds. Other tools read it; Holdfast never does. */
export async function* checkView({ layout, repair: store }: AgentScope, agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const path = layout.sessionsFile;
  const rewriteView = store.rewriteView?.bind(store);
  if (rewriteView === undefined) return;
  const message = await viewProblem(path, agent);
  if (message === undefined) return;
  yield {
    severity: "warning",
    message,
    path,
    fix: "write it again",
    repair: async () => {
      await keepForeignContent(path, agent);
      await rewriteView();
      if ((await viewProblem(path, agent)) === undefined) return;
      // The store considers the view current, so another program wrote this one.
      await setAside(path, "replaced", agent.clock.now());
      await rewriteView();
    },
  };
}

/** Sets the view aside if it is damaged or has sessions that the store does not have. */
async function keepForeignContent(path: string, { store, clock }: AgentHandle): Promise<void> {
  const view = await readSessionsFile(path);
  if (view.state === "unreadable") await setAside(path, "corrupt", clock.now());
  if (view.state !== "read") return;
  const { sessions } = await store.list({ fields: [] });
  const known = new Set(sessions.map(({ key }) => key));
  if (Object.keys(view.sessions).some((key) => !known.has(key))) await setAside(path, "replaced", clock.now());
}

/** A running process writes the view a little later than the store. */
const GRACE_MS = 10_000;

async function viewProblem(path: string, { store, clock }: AgentHandle): Promise<string | undefined> {
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
  return "The view for other tools is out of date";
}
