/** An agent with its hand-off and real transcripts: `await using home = await createHandoffHome("sqlite")`. */
import { expect } from "vitest";
import { createLogger } from "../../src/base/log.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { type HandoffOptions, createHandoff } from "../../src/handoff/create-handoff.ts";
import type { Handoff, Offer } from "../../src/handoff/handoff.ts";
import { type AgentHandle, transcriptPath, locateWindowTranscript } from "../../src/session/agent-handle.ts";
import { openWindow, resetSession } from "../../src/session/window.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { StoreKind, WindowReason } from "../../src/store/store.ts";
import type { TranscriptEntry } from "../../src/transcript/entries.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { handoffText, saidText } from "../../src/transcript/messages.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import { type AgentHome, createAgentHome } from "./agent-home.ts";
import { assistantDraft, userDraft } from "./transcripts.ts";

export const KEY = "agent:main:telegram:dm:1";

/** A message of a person, or with a leading `<` of the agent. */
export type Said = string;

/** A conversation with one item of each kind. */
export const WORK: readonly Said[] = [
  "Let's make the webhook idempotent. Please implement the retry queue in src/webhook.ts.",
  "<I'm working on the retry queue in src/webhook.ts now.",
  "We decided to use Redis for the queue instead of Postgres.",
  "<The integration test webhook-retry is failing: the build cannot connect to Redis, so I'm stuck on it.",
  "<Next step: fix the Redis connection in CI, then run the integration tests again.",
];

export interface HandoffHome extends AsyncDisposable {
  fixture: AgentHome;
  agent: AgentHandle;
  handoff: Handoff;
  /** Logged lines. */
  log: string[];
  /** Opens the first window of a session, in the project `webhooks`. */
  open(key?: string, patch?: Partial<SessionEntry>): Promise<SessionEntry>;
  /** Adds messages to the current window; resolves to the entry ids. */
  say(lines: readonly Said[], key?: string): Promise<string[]>;
  /** Opens the next window. */
  next(reason?: WindowReason, key?: string): Promise<SessionEntry>;
  entry(key?: string): Promise<SessionEntry>;
  offer(key?: string): Promise<Offer | undefined>;
  /** A second hand-off on the same files, like another process. */
  another(options?: Partial<HandoffOptions>): Promise<Handoff>;
}

export async function createHandoffHome(
  kind: StoreKind = "sqlite",
  options: Partial<HandoffOptions> = {},
): Promise<HandoffHome> {
  const fixture = await createAgentHome(kind);
  const log: string[] = [];
  const logger = createLogger({ level: "debug", write: (line) => log.push(line) });
  const agent = { ...fixture.agent, logger };
  const layout = agentLayout(fixture.home, agent.agentId);
  const common = { layout: layout.handoff, defaultWorkspace: layout.workspace, config: fixture.config.handoff };
  const opened: Handoff[] = [];
  const create = (own: AgentHandle, more: Partial<HandoffOptions>): Handoff => {
    const handoff = createHandoff({ ...common, ...options, ...more, agent: own });
    opened.push(handoff);
    return handoff;
  };
  const entryOf = async (key: string): Promise<SessionEntry> => {
    const entry = await agent.store.get(key);
    if (entry === undefined) throw new Error(`no session ${key}`);
    return entry;
  };
  const handoff = create(agent, {});
  return {
    fixture,
    agent,
    handoff,
    log,
    async open(key = KEY, patch = {}) {
      const complete = (entry: SessionEntry): SessionEntry => ({ project: "webhooks", ...entry, ...patch });
      const entry = await openWindow(agent, { key, previous: undefined, reason: "initial", complete });
      if (entry === undefined) throw new Error(`${key} is there already`);
      return entry;
    },
    async say(lines, key = KEY) {
      const path = await transcriptPath(agent, await entryOf(key));
      await using transcript = await openTranscriptLog({ path, clock: agent.clock });
      const ids: string[] = [];
      for (const line of lines) {
        fixture.clock.advance(1000);
        const draft = line.startsWith("<") ? assistantDraft(line.slice(1)) : userDraft(line);
        ids.push(...(await transcript.append([draft])).map(({ id }) => id));
      }
      return ids;
    },
    async next(reason = "command", key = KEY) {
      return (await resetSession(agent, key, { reason })).entry;
    },
    entry: async (key = KEY) => await entryOf(key),
    offer: async (key = KEY) => await handoff.offer({ sessionKey: key, entry: await entryOf(key) }),
    another: async (more = {}) => create({ ...(await fixture.another()), logger }, more),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map(async (one) => await one.close()));
      await fixture[Symbol.asyncDispose]();
    },
  };
}

/** Messages of a person, with the answers of an agent with a model. */
export const TALK = [
  [
    "Please add idempotency keys to the webhook handler of the billing service.",
    "I am adding the column for the keys now.",
  ],
  ["We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up.", "Noted."],
  ["I'm blocked: the integration tests fail on CI with connection refused to the database.", "The log says the same."],
  ["The next step is to ask Bob for the password of the CI database.", "I wait for him."],
] as const;

/** Messages of a person to an agent without a model, which repeats them. */
export const ALONE = [
  "hey, I'm halfway through moving the photo archive to the new NAS",
  "we decided to keep the originals as TIFF, no JPEGs",
  "the NAS refuses logins from the scanner since this morning, so nothing new gets in",
  "first thing tomorrow: call the vendor about the firmware",
] as const;

type Facts = readonly (readonly [heading: string, words: RegExp])[];

export const ALONE_FACTS: Facts = [
  ["In progress:", /moving the photo archive/],
  ["Blockers:", /refuses logins from the scanner/],
  ["Decisions:", /originals as TIFF/],
  ["Suggested next step:", /call the vendor/],
];

const FACTS: Facts = [
  ["In progress:", /idempotency keys/],
  ["Blockers:", /connection refused to the database/],
  ["Decisions:", /Postgres instead of Redis/],
  ["Suggested next step:", /ask Bob/],
];

/** All entries of a session, by window. */
export async function readWindows(agent: AgentHandle, sessionKey: string): Promise<Map<string, TranscriptEntry[]>> {
  const windows = new Map<string, TranscriptEntry[]>();
  for (const window of await agent.store.windows(sessionKey)) {
    const entries: TranscriptEntry[] = [];
    for await (const item of readTranscript(await locateWindowTranscript(agent, window))) {
      if (item.kind === "entry") entries.push(item.entry);
    }
    windows.set(window.sessionId, entries);
  }
  return windows;
}

/** The hand-offs in a window, oldest first. */
export function handoffsIn(entries: readonly TranscriptEntry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type === "custom_message" && typeof entry.content === "string") return [entry.content];
    const text =
      entry.type === "message" && entry.message.role === "user" ? handoffText(entry.message.content) : undefined;
    return text === undefined ? [] : [text];
  });
}

/** Expects every fact, each with a reference to its entry. */
export function expectTold(handoff: string | undefined, said: readonly TranscriptEntry[], facts = FACTS): void {
  const lines = (handoff ?? "").split("\n");
  for (const [heading, words] of facts) {
    const start = lines.indexOf(heading);
    expect(start, `${heading} in\n${handoff}`).toBeGreaterThan(-1);
    const section = lines.slice(start + 1);
    const end = section.findIndex((line) => !line.startsWith("- "));
    const told = section.slice(0, end === -1 ? section.length : end).filter((line) => words.test(line));
    expect(told.length, `${heading} ${words} in\n${handoff}`).toBeGreaterThan(0);
    for (const line of told) {
      const [, reference = "nothing"] = /\[([\w-]+)\]/.exec(line) ?? [];
      const entry = said.find(({ id }) => id.startsWith(reference));
      expect(entry?.type === "message" ? saidText(entry) : undefined, line).toMatch(words);
      // The reference must not lead to an answer that only repeats the fact.
      if (facts === ALONE_FACTS) expect(entry).toMatchObject({ message: { role: "user" } });
    }
  }
}
