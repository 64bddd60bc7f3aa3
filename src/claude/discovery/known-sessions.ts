/** What is known of sessions besides their transcripts: registries, living processes, the archive. By session id. */
import { type ArchivedSession, readArchive } from "../archive/catalogue.ts";
import { type RunningSession, readRunningSessions } from "../native/running.ts";
import { type RegistryProblem, listAllSessions } from "../registry/registry.ts";
import type { RegisteredSession } from "../registry/registry-entry.ts";

export interface KnownSessions {
  registered: ReadonlyMap<string, RegisteredSession>;
  running: ReadonlyMap<string, RunningSession>;
  archive: ReadonlyMap<string, ArchivedSession>;
  problems: RegistryProblem[];
}

/** Where to look. */
export interface SessionPlaces {
  claudeHome: string;
  home: string;
  /** Left out: OpenClaw's registries are not looked at. */
  openClawHome?: string;
}

export async function readKnownSessions(places: SessionPlaces): Promise<KnownSessions> {
  const [registries, running, archive] = await Promise.all([
    listAllSessions(places),
    readRunningSessions(places.claudeHome),
    readArchive(places.home),
  ]);
  return {
    registered: byId(registries.sessions),
    running: new Map(running.map((one) => [one.sessionId, one])),
    archive,
    problems: registries.problems,
  };
}

/** Of several entries for one session the one that is in use counts. */
function byId(sessions: readonly RegisteredSession[]): Map<string, RegisteredSession> {
  const map = new Map<string, RegisteredSession>();
  for (const session of sessions) {
    const known = map.get(session.sessionId);
    if (known === undefined || (session.current && !known.current)) map.set(session.sessionId, session);
  }
  return map;
}
