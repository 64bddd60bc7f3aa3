/**
 * Opens a home after a kill, as the next process would, and compares it with the acknowledged operations. It must be
 * in the state before the operation in flight or in the state after it. Returns problems as sentences.
 */
import { readFile, appendFile, readdir, stat, truncate } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { closing } from "../base/async.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { systemErrorCode } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import { agentLayout } from "../config/layout.ts";
import { type AgentHandle, windowTranscriptName } from "../session/agent-handle.ts";
import { listArchives } from "../session/archive.ts";
import type { StoreKind } from "../store/store.ts";
import {
  type Expectation,
  type HomeState,
  type ItemState,
  type SessionState,
  expectOperation,
  sessionOf,
} from "./expectation.ts";
import {
  type CountedEntry,
  type Counter,
  type Operation,
  type OperationResult,
  replyKeyOf,
  type Random,
  placeOfText,
} from "./operations.ts";
import { admit } from "./perform.ts";
import { errorText, openHome } from "./run-child.ts";
import { messageText } from "../transcript/messages.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { readTranscript } from "../transcript/reader.ts";

export interface HomeCheck {
  home: string;
  kind: StoreKind;
  expectation: Expectation;
  inFlight: Operation | undefined;
  /** Changes nothing, so that the next process finds the locks of the killed one. */
  onlyRead: boolean;
  clock?: Clock | undefined;
}

export async function checkHome(check: HomeCheck): Promise<string[]> {
  const { home, kind, expectation, inFlight, clock = systemClock } = check;
  const problems = await checkSessionsFile(check);
  const create = Object.values(expectation.state.sessions).every(({ state }) => state === "absent");
  try {
    const agent = await openHome(home, kind, { view: true, create, clock });
    await using _closing = closing(agent.store);
    problems.push(...(await checkState(agent, check)));
    if (!check.onlyRead) {
      problems.push(...(await checkLeases(agent, expectation)));
      problems.push(...(await checkRedelivery(agent, expectation.state, inFlight)));
    }
  } catch (error) {
    problems.push(`the home cannot be used: ${errorText(error)}`);
  }
  return problems;
}

/** `sessions.json` must be valid JSON at any moment, as a store (`json`) or as a view (`sqlite`). */
async function checkSessionsFile({ home, kind, expectation }: HomeCheck): Promise<string[]> {
  const known = expectation.state.sessions;
  try {
    const sessions = JSON.parse(await readFile(agentLayout(home, "main").sessionsFile, "utf8")) as object;
    const strangers = Object.keys(sessions).filter((key) => !Object.hasOwn(known, key));
    return strangers.map((key) => `sessions.json names the unknown session ${key}`);
  } catch (error) {
    const isNew = Object.values(known).every(({ windows }) => Object.keys(windows).length === 0);
    if (systemErrorCode(error) === "ENOENT" && (kind === "sqlite" || isNew)) return [];
    return [`sessions.json is incomplete: ${String(error)}`];
  }
}

/** If the operation in flight was performed, its results are expected from now on. */
async function checkState(agent: AgentHandle, { expectation, inFlight }: HomeCheck): Promise<string[]> {
  const { found, problems } = await readHome(agent, expectation, inFlight);
  const unlikeBefore = differences(expectation.state, found);
  if (inFlight === undefined || unlikeBefore.length === 0) return [...problems, ...unlikeBefore];
  const after = structuredClone(expectation.state);
  expectOperation(after, inFlight, resultOf(found, inFlight, expectation.state));
  const unlikeAfter = differences(after, found);
  if (unlikeAfter.length === 0) expectation.state = after;
  return [...problems, ...(unlikeAfter.length < unlikeBefore.length ? unlikeAfter : unlikeBefore)];
}

function differences(expected: unknown, found: unknown, place = "the home"): string[] {
  if (isDeepStrictEqual(expected, found)) return [];
  if (isRecord(expected) && isRecord(found)) {
    const members = new Set([...Object.keys(expected), ...Object.keys(found)]);
    return [...members].flatMap((member) => differences(expected[member], found[member], `${place}, ${member}`));
  }
  if (!Array.isArray(expected) || !Array.isArray(found)) {
    return [`${place}: ${JSON.stringify(found)?.slice(0, 200)} instead of ${JSON.stringify(expected)?.slice(0, 200)}`];
  }
  const first = expected.findIndex((text, index) => text !== found[index]);
  return [`${place}: ${found.length} messages instead of ${expected.length}; number ${first} differs`];
}

function resultOf(found: HomeState, { name, number, key }: Operation, before: HomeState): OperationResult {
  const items = Object.entries(found.items).map(([id, item]) => ({ itemId: Number(id), ...item }));
  const { current } = sessionOf(found, key);
  const texts = (state: HomeState): number => sessionOf(state, key).windows[current ?? ""]?.length ?? 0;
  return {
    sessionId: current,
    itemId: items.find((item) => item.number === number)?.itemId,
    answered: items.flatMap(({ itemId, replyId, key: its }) =>
      replyId === undefined || its !== key ? [] : [{ itemId, replyId }],
    ),
    delivered: items.flatMap(({ replyId, delivered }) => (replyId === undefined || !delivered ? [] : [replyId])),
    appended: name === "append" ? Math.max(0, texts(found) - texts(before)) : undefined,
  };
}

interface Reading {
  agent: AgentHandle;
  expectation: Expectation;
  inFlight: Operation | undefined;
  problems: string[];
}

async function readHome(
  agent: AgentHandle,
  expectation: Expectation,
  inFlight: Operation | undefined,
): Promise<{ found: HomeState; problems: string[] }> {
  const reading: Reading = { agent, expectation, inFlight, problems: [] };
  const sessions: Record<string, SessionState> = {};
  for (const key of Object.keys(expectation.state.sessions)) sessions[key] = await readSession(reading, key);
  const live = Object.values(sessions).filter(({ state }) => state === "live").length;
  const { total } = await agent.store.list();
  if (total !== live) reading.problems.push(`the store lists ${total} sessions instead of ${live}`);
  return { found: { sessions, items: await readItems(reading) }, problems: reading.problems };
}

async function readSession({ agent, expectation, inFlight, problems }: Reading, key: string): Promise<SessionState> {
  const live: CountedEntry | undefined = await agent.store.get(key);
  const archive = live === undefined ? (await listArchives(agent)).find((record) => record.key === key) : undefined;
  const entry: CountedEntry | undefined = live ?? archive?.entry;
  const known = archive?.windows ?? (await agent.store.windows(key));
  const windows: Record<string, string[]> = {};
  for (const window of known) {
    const { sessionId } = window;
    if (windows[sessionId] !== undefined) problems.push(`${key}: window ${sessionId} is listed twice`);
    const name = windowTranscriptName(window);
    const inUse = await agent.store.transcripts.locate(name);
    const archived = await agent.store.transcripts.locate(name, "archive");
    const path = await firstPresent(live === undefined ? [archived, inUse] : [inUse]);
    if (path === undefined) problems.push(`${key}: the transcript of window ${sessionId} is missing`);
    windows[sessionId] = path === undefined ? [] : await readWindowTexts(path, dirname(inUse), problems);
  }
  const open = known.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId);
  if (open.join() !== (entry?.sessionId ?? "")) problems.push(`${key}: open windows: ${open.join()}`);

  const isOpening = inFlight?.key === key && (inFlight.name === "reset" || inFlight.name === "open");
  for (const [sessionId, texts] of Object.entries(windows)) {
    const isExpected = sessionOf(expectation.state, key).windows[sessionId] !== undefined;
    if (isExpected || sessionId === entry?.sessionId || texts.length > 0) continue;
    if (isOpening) expectation.strays.add(sessionId);
    if (expectation.strays.has(sessionId)) delete windows[sessionId];
  }
  const never = { count: 0, lastNumber: 0 };
  return {
    state: live !== undefined ? "live" : archive === undefined ? "absent" : "archived",
    current: entry?.sessionId,
    counted: entry?.selftest ?? never,
    handedOver: ((await agent.store.handoffs.get(key)) as Counter | undefined) ?? never,
    windows,
  };
}

async function firstPresent(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await fileExists(path)) return path;
  return undefined;
}

const ALL = 1_000_000;

/** Every message has at most one reply, and every reply has its message. */
async function readItems({ agent, expectation, problems }: Reading): Promise<Record<number, ItemState>> {
  const { inbox, outbox } = agent.store;
  const pending = await inbox.pending();
  const numbers = pending.map(({ address }) => Number(address.messageId));
  if (numbers.some((number, index) => number <= (numbers[index - 1] ?? 0))) {
    problems.push(`messages wait out of order: ${numbers.join(", ")}`);
  }
  const due = await outbox.due(agent.clock.now() + ALL, ALL);
  const replies = new Map(due.map(({ idempotencyKey, id }) => [idempotencyKey, id]));
  if (replies.size < due.length) problems.push("a reply is in the outbox twice");

  const items: Record<number, ItemState> = {};
  const expected = expectation.state.items;
  for (const id of new Set([...Object.keys(expected).map(Number), ...pending.map((item) => item.id)])) {
    const item = await inbox.get(id);
    if (item === undefined) continue;
    const replyKey = replyKeyOf(id);
    const replyId = replies.get(replyKey) ?? expected[id]?.replyId;
    replies.delete(replyKey);
    const reply = replyId === undefined ? undefined : await outbox.get(replyId);
    items[id] = {
      number: Number(item.address.messageId),
      key: item.key,
      state: item.state === "queued" || item.state === "running" ? "waiting" : item.state,
      replyId: reply?.idempotencyKey === replyKey ? replyId : undefined,
      delivered: reply?.state === "delivered",
    };
  }
  for (const id of replies.values()) problems.push(`outbox item ${id} answers nothing that has ended`);
  return items;
}

const TTL_MS = 60_000;

/** The lease of a dead holder is free at once, and the next holder gets a higher epoch. */
async function checkLeases({ store }: AgentHandle, { state, epochs }: Expectation): Promise<string[]> {
  const problems: string[] = [];
  for (const key of Object.keys(state.sessions)) {
    const attempt = await store.leases.acquire(key, { ttlMs: TTL_MS });
    if (!attempt.acquired) {
      problems.push(`${key}: the lease of the dead process ${attempt.held.process.pid} is still in force`);
      continue;
    }
    const { epoch } = attempt.lease;
    const before = epochs.get(key) ?? 0;
    if (epoch <= before) problems.push(`${key}: epoch ${epoch} was given after ${before}`);
    epochs.set(key, Math.max(before, epoch));
    await store.leases.release(attempt.lease);
  }
  return problems;
}

/** Platforms may deliver a message twice; the second delivery must change nothing. */
async function checkRedelivery(
  agent: AgentHandle,
  state: HomeState,
  inFlight: Operation | undefined,
): Promise<string[]> {
  const problems: string[] = [];
  const [lastId, last] = Object.entries(state.items).at(-1) ?? [];
  if (last !== undefined) {
    const again = await admit(agent, { ...last, name: "admit" });
    if (again.admitted || again.itemId !== Number(lastId)) problems.push(`message ${last.number} was admitted twice`);
  }
  const isOpen = Object.values(state.items).every(({ number }) => number !== inFlight?.number);
  if (inFlight?.name === "admit" && isOpen) expectOperation(state, inFlight, await admit(agent, inFlight));
  return problems;
}

/**
 * A compaction moves the beginning of the conversation into archives in `bakFolder`. Each file must hold a contiguous
 * part of the conversation, and the transcript must hold the end.
 */
async function readWindowTexts(path: string, bakFolder: string, problems: string[]): Promise<string[]> {
  const name = basename(path);
  const names = (await readdir(bakFolder)).filter((file) => file.startsWith(`${name}.bak.`));
  const current = (await readTexts(path, problems)).texts;
  const archives: string[][] = [];
  for (const file of names) archives.push((await readTexts(join(bakFolder, file), problems)).texts);
  const inOrder = [...new Set([current, ...archives].flat())].toSorted((a, b) => placeOfText(a) - placeOfText(b));
  const holds = (texts: readonly string[], start: number): boolean =>
    texts.every((text, index) => text === inOrder[start + index]);
  if (!holds(current, inOrder.length - current.length)) {
    problems.push(`${name} does not hold the end of its conversation`);
  }
  for (const [index, texts] of archives.entries()) {
    if (!holds(texts, inOrder.indexOf(texts[0] ?? ""))) problems.push(`${names[index]} has a gap`);
  }
  return inOrder;
}

/** The messages, the end offset of each, and that of the last line that is none. */
async function readTexts(path: string, problems: string[]) {
  const name = basename(path);
  const reading = readTranscript(path);
  const read = { texts: [] as string[], ends: [] as number[], endOfPreamble: 0 };
  let place = 0;
  try {
    for await (const item of reading) {
      if (item.kind !== "entry" || item.entry.type !== "message") {
        read.endOfPreamble = item.end;
        continue;
      }
      const text = messageText(item.entry.message);
      if (placeOfText(text) <= place) problems.push(`${name} has "${text.slice(0, 20)}" twice or in the wrong place`);
      place = placeOfText(text);
      read.texts.push(text);
      read.ends.push(item.end);
    }
  } catch (error) {
    problems.push(`${name} cannot be read: ${String(error)}`);
    return read;
  }
  if (reading.report.header === undefined) problems.push(`${name} has no header`);
  for (const { reason, line } of reading.report.problems) problems.push(`${name} line ${line ?? "?"}: ${reason}`);
  return read;
}

/**
 * Cuts the transcript of the append in flight at a random byte; false if there is nothing to cut. After a power cut only
 * unsynced bytes may be missing, and an acknowledged append was synced.
 */
export async function cutPower(
  home: string,
  state: HomeState,
  inFlight: Operation | undefined,
  random: Random,
): Promise<boolean> {
  if (inFlight?.name !== "append") return false;
  const session = sessionOf(state, inFlight.key);
  const path = transcriptOf(home, session);
  if (path === undefined) return false;
  const { texts, ends, endOfPreamble } = await readTexts(path, []);
  const last = session.windows[session.current ?? ""]?.at(-1);
  const syncedEnd = last === undefined ? endOfPreamble : ends[texts.lastIndexOf(last)];
  const { size } = await stat(path);
  if (syncedEnd === undefined || syncedEnd >= size) return false;
  await truncate(path, random.whole(syncedEnd, size - 1));
  return true;
}

/** Appends half a line to a live session's transcript and returns the key of the session. */
export async function tearTail(home: string, { sessions }: HomeState): Promise<string | undefined> {
  for (const [key, session] of Object.entries(sessions)) {
    const path = transcriptOf(home, session);
    if (session.state !== "live" || path === undefined || !(await fileExists(path))) continue;
    await appendFile(path, '{"type":"message","id":"0badcafe","parentId":null,"timest');
    return key;
  }
  return undefined;
}

function transcriptOf(home: string, { current }: SessionState): string | undefined {
  if (current === undefined) return undefined;
  return join(agentLayout(home, "main").sessionsFolder, transcriptFileName(current));
}
