/**
 * For any history of messages, resets and rewinds: every entry is in exactly one window, each window shows the
 * conversation that OpenClaw would show, and a second conversion finds nothing new.
 */
import { writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { readContext } from "../transcript/context.ts";
import { messageText } from "../transcript/messages.ts";
import { readTranscript } from "../transcript/reader.ts";
import { type FoundTranscript, type ImportedWindow, type KnownEntries, toLine, toWindows } from "./transcripts.ts";

type Step = { do: "say" } | { do: "reset" } | { do: "roll over" } | { do: "rewind" | "move"; to: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.constant({ do: "say" } as const), weight: 4 },
  fc.constant({ do: "reset" } as const),
  fc.constant({ do: "roll over" } as const),
  fc.record({ do: fc.constantFrom("rewind" as const, "move" as const), to: fc.nat(20) }),
);

interface Event {
  type: string;
  /** Unique in its session; another session that is no copy uses the same ids. */
  id: string;
  /** Unique. */
  text: string;
  parentId: string | null;
  targetId?: string | null;
}

/** OpenClaw's sessions after these steps: the events of each, and the entry it continues from. */
function play(steps: readonly Step[]) {
  const sessions: { id: string; events: Event[]; leaf: string | null }[] = [{ id: "s0", events: [], leaf: null }];
  let next = 0;
  for (const [at, one] of steps.entries()) {
    const current = sessions.at(-1);
    if (current === undefined) break;
    const id = `entry-${next++}`;
    const text = `text-${at}`;
    if (one.do === "say" || one.do === "reset") {
      current.events.push({ type: one.do === "say" ? "message" : "reset", id, text, parentId: current.leaf });
      current.leaf = id;
    } else if (one.do === "roll over") {
      next = 0;
      sessions.push({ id: `s${sessions.length}`, events: [], leaf: null });
    } else {
      const earlier = sessions.at(-2)?.events ?? [];
      const isCopied = (event: Event): boolean => one.do === "move" && earlier.includes(event);
      const targets = current.events.filter((event) => event.type !== "leaf" && !isCopied(event));
      const target = targets[one.to % Math.max(1, targets.length)]?.id;
      if (target === undefined) continue;
      const leaf = { type: "leaf", id, text, parentId: current.leaf, targetId: target };
      if (one.do === "rewind")
        sessions.push({ id: `s${sessions.length}`, events: [...current.events, leaf], leaf: target });
      else Object.assign(current, { events: [...current.events, leaf], leaf: target });
    }
  }
  return sessions;
}

/** From the entry back to the last reset, as texts. */
function conversation(events: readonly Event[], leaf: string | null): string[] {
  const texts: string[] = [];
  for (let id = leaf; id !== null;) {
    const event = events.find((one) => one.id === id);
    if (event === undefined || event.type === "reset") break;
    texts.unshift(event.text);
    id = event.parentId;
  }
  return texts;
}

it("gives windows with the same conversations", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await using folder = await temporaryFolder();
      const sessions = play(steps);
      const known: KnownEntries = new Map();
      const windows: ImportedWindow[] = [];
      for (const [index, { id, events }] of sessions.entries()) {
        const found = transcriptOf(id, index === sessions.length - 1);
        windows.push(
          ...toWindows(found, { ...(await content(id, events)), key: "agent:main:main", known, isTaken: () => false }),
        );
      }
      for (const { fileName, content: text } of windows) await writeFile(folder.join(fileName), text);
      const ids: string[] = [];
      for (const { fileName } of windows) {
        const reading = readTranscript(folder.join(fileName));
        for await (const item of reading)
          if (item.kind === "entry" && item.entry.id.startsWith("entry-")) ids.push(markOf(item.entry));
        expect(reading.report.problems).toEqual([]);
      }
      const all = new Set(sessions.flatMap(({ events }) => events.map(markOf)));
      expect(ids.toSorted()).toEqual([...all].toSorted());

      const last = sessions.at(-1);
      const current = windows.find(({ isCurrent }) => isCurrent);
      const texts = current === undefined ? [] : await textsOf(folder.join(current.fileName));
      expect(texts).toEqual(conversation(last?.events ?? [], last?.leaf ?? null));
      expect(new Set(windows.map(({ sessionId }) => sessionId)).size).toBe(windows.length);
      for (const { id, events } of sessions) {
        const again = { ...(await content(id, events)), key: "agent:main:main", known, isTaken: () => true };
        expect(toWindows(transcriptOf(id, false), again)).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});

function markOf(entry: object): string {
  const [text] = /text-\d+/.exec(JSON.stringify(entry)) ?? [];
  return `${(entry as Event).id} ${text}`;
}

function transcriptOf(sessionId: string, isCurrent: boolean): FoundTranscript {
  return { sessionId, isCurrent, reason: "initial", openedAt: 1, read: async () => await content(sessionId, []) };
}

async function content(sessionId: string, events: readonly Event[]) {
  const timestamp = "2026-11-15T19:00:00.000Z";
  const header = { type: "session", version: 4, id: sessionId, timestamp, cwd: "/" };
  const lines = events.map((event) => ({
    ...event,
    timestamp,
    ...(event.type === "message" ? { message: { role: "user", content: event.text, timestamp: 1 } } : {}),
  }));
  return await Promise.resolve({ lines: [header, ...lines].map((value) => toLine(JSON.stringify(value))) });
}

async function textsOf(path: string): Promise<string[]> {
  return (await readContext(path)).messages.map((message) => messageText(message));
}
