/** Whether the store can be opened at all; if it is damaged or lost, it is built again from what is left. */
import { join } from "node:path";
import { readManifests } from "../session/archive.ts";
import type { SalvagedSession } from "../store/store-repair.ts";
import type { AgentScope } from "./agent-scope.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listTranscripts } from "./folders.ts";
import { recoverSessions } from "./recover-sessions.ts";
import { entriesByKey, readSessionsFile } from "./sessions-file.ts";
import { type TranscriptSummary, summarizeTranscript } from "./transcript-summary.ts";
import { windowFile } from "./window-file.ts";

export async function* checkStore(scope: AgentScope): AsyncGenerator<Diagnosis> {
  const { repair } = scope;
  const damage = await repair.diagnose();
  if (damage === undefined) return;
  const { message, hint, canRebuild } = damage;
  const finding = { severity: "error" as const, message: hint === undefined ? message : `${message}. ${hint}` };
  if (!canRebuild) {
    yield { finding: { ...finding, path: repair.path } };
    return;
  }
  yield {
    finding: {
      ...finding,
      path: repair.path,
      fix: "set what is damaged aside and rebuild the store from sessions.json and the transcripts",
    },
    mend: async () => {
      await repair.rebuild(await recover(scope));
    },
  };
}

async function recover(scope: AgentScope): Promise<SalvagedSession[]> {
  const { layout, repair } = scope;
  const owner = { agentId: scope.agentId, mainKey: scope.mainKey };
  const inArchive = await listTranscripts(layout.archiveFolder);
  const ofArchivedSessions = await archivedFiles(layout.archiveFolder);
  const isLoose = (name: string): boolean => !ofArchivedSessions.has(name);
  return recoverSessions({
    owner,
    sessionsFolder: layout.sessionsFolder,
    listed: entriesByKey(await readSessionsFile(layout.sessionsFile), owner),
    salvaged: await repair.salvage(),
    // Of an archived session whose move was interrupted a transcript may still lie here.
    transcripts: await summarize(layout.sessionsFolder, (await listTranscripts(layout.sessionsFolder)).filter(isLoose)),
    archived: await summarize(layout.archiveFolder, inArchive.filter(isLoose)),
  });
}

async function archivedFiles(archiveFolder: string): Promise<Set<string>> {
  const { records } = await readManifests({ archiveFolder });
  return new Set(records.flatMap(({ windows }) => windows.flatMap((window) => windowFile(window) ?? [])));
}

async function summarize(folder: string, names: readonly string[]): Promise<TranscriptSummary[]> {
  return await inParallel(names, async (name) => await summarizeTranscript(join(folder, name)));
}
