/**
 * A conversation about work as people have it, and what the next window must be told of it: what was in
 * progress, what blocks, what was decided, what comes next, each with a reference that leads to the entry.
 */
import { expect } from "vitest";
import { type AgentHandle, locateWindowTranscript } from "../../src/session/agent-handle.ts";
import type { TranscriptEntry } from "../../src/transcript/entries.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import { handoffText, saidText } from "../../src/transcript/messages.ts";

/** What the person writes, and what an agent with a model answers. */
export const TALK = [
  [
    "Please add idempotency keys to the webhook handler of the billing service.",
    "I am adding the column for the keys now.",
  ],
  ["We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up.", "Noted."],
  ["I'm blocked: the integration tests fail on CI with connection refused to the database.", "The log says the same."],
  ["The next step is to ask Bob for the password of the CI database.", "I wait for him."],
] as const;

/** What a person says to an agent that has no model and repeats it. */
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

/** Every entry of every window of the session, by window. */
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

/** The hand-offs that stand in a window, oldest first. */
export function handoffsIn(entries: readonly TranscriptEntry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type === "custom_message" && typeof entry.content === "string") return [entry.content];
    const text =
      entry.type === "message" && entry.message.role === "user" ? handoffText(entry.message.content) : undefined;
    return text === undefined ? [] : [text];
  });
}

/** Each fact is there, and its reference leads to where it was said. */
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
      // Not to an answer that only repeats it.
      if (facts === ALONE_FACTS) expect(entry).toMatchObject({ message: { role: "user" } });
    }
  }
}
