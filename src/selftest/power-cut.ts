/**
 * What a power cut does beyond a kill: bytes that were written but not synced may be missing from
 * some point on. Only the append in flight has such bytes, because an acknowledged one was synced.
 */
import { appendFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { fileExists } from "../base/files.ts";
import { agentLayout } from "../config/layout.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { readTexts } from "./check-transcript.ts";
import { type Expectation, type ExpectedSession, sessionOf } from "./expectation.ts";
import type { Operation } from "./operations.ts";
import type { Random } from "./random.ts";

/** Cuts the transcript of the append in flight at a random byte; false when there is nothing to cut. */
export async function cutPower(
  home: string,
  expectation: Expectation,
  inFlight: Operation | undefined,
  random: Random,
): Promise<boolean> {
  if (inFlight?.name !== "append") return false;
  const session = sessionOf(expectation, inFlight.key);
  const path = transcriptOf(home, session);
  if (path === undefined) return false;
  const syncedEnd = await endOfAcknowledged(path, session);
  const { size } = await stat(path);
  if (syncedEnd === undefined || syncedEnd >= size) return false;
  await truncate(path, random.whole(syncedEnd, size - 1));
  return true;
}

/** Leaves half a line at the end of a live session's transcript; resolves to the key of that session. */
export async function tearTail(home: string, expectation: Expectation): Promise<string | undefined> {
  for (const session of expectation.sessions.values()) {
    const path = transcriptOf(home, session);
    if (session.state !== "live" || path === undefined || !(await fileExists(path))) continue;
    await appendFile(path, '{"type":"message","id":"0badcafe","parentId":null,"timest');
    return session.key;
  }
  return undefined;
}

function transcriptOf(home: string, { current }: ExpectedSession): string | undefined {
  if (current === undefined) return undefined;
  return join(agentLayout(home, "main").sessionsFolder, transcriptFileName(current));
}

async function endOfAcknowledged(path: string, session: ExpectedSession): Promise<number | undefined> {
  const { texts, ends, endOfPreamble } = await readTexts(path);
  const acknowledged = session.windows.get(session.current ?? "") ?? [];
  const last = acknowledged.at(-1);
  return last === undefined ? endOfPreamble : ends[texts.lastIndexOf(last)];
}
