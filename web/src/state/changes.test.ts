/** The promises of the page's state: nothing missing, nothing twice, whatever comes first. */
import { describe, expect, it } from "vitest";
import { shownMessages, shownNotes, shownPending } from "../transcript/shown-messages.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";
import { accepted as acceptMessage, runningRead } from "./changes.ts";
import { applyEvent } from "./event-changes.ts";
import { historyRead, olderRead } from "./history-changes.ts";
import { turnName } from "./turn-number.ts";
import { type HistoryMessage, type HistoryPage, type PageState, initialState } from "./state.ts";

const KEY = "agent:main:main";
const NAME = { agentId: "main", sessionKey: KEY };

describe("reading the end of a history again", () => {
  it("adds new messages and keeps loaded ones", () => {
    const state = play(read([said(3), said(4)], { before: "3" }), older([said(1), said(2)]), read([said(4), said(5)]));
    expect(ids(state)).toEqual(["1", "2", "3", "4", "5"]);
    expect(state.view?.before).toBeUndefined();
  });

  it("replaces pages that do not overlap, and those of another window", () => {
    expect(ids(play(read([said(1)]), read([said(8)], { before: "8" })))).toEqual(["8"]);
    expect(ids(play(read([said(1)]), read([], { sessionId: "w2" })))).toEqual([]);
  });

  it("ignores an answer for another place", () => {
    expect(play(read([said(1)], {}, { key: "agent:main:other" })).view).toBeUndefined();
  });
});

describe("a turn", () => {
  it("is shown from events while it runs, then from the history", () => {
    const running = play(
      read([]),
      written("m1"),
      accepted("m1", 7),
      event({ type: "turn.started", ...NAME, itemId: 7, attempt: 1 }),
      event({ type: "turn.text", ...NAME, itemId: 7, text: "he" }),
      event({ type: "turn.text", ...NAME, itemId: 7, text: "llo" }),
    );
    expect(running.live[KEY]?.parts).toEqual([{ kind: "text", text: "hello" }]);
    const early = after(running, read([said(7), answered(7)]));
    // Already on disk, but the text still comes from events.
    expect(shown(early)).toEqual({ entries: ["7"], pending: [], isLive: true });
    const ended = after(early, event({ type: "turn.ended", ...NAME, itemId: 7, outcome: "answered", durationMs: 1 }));
    expect(shown(ended)).toEqual({ entries: ["7"], pending: [], isLive: true });
    expect(shown(after(ended, read([said(7), answered(7)], {}, { key: KEY }, [])))).toMatchObject({ isLive: true });
    expect(shown(after(ended, read([said(7), answered(7)], {}, { key: KEY }, [7])))).toEqual({
      entries: ["7", "a7"],
      pending: [],
      isLive: false,
    });
  });

  it("that ended before its message was acknowledged still answers it", () => {
    const state = play(
      read([]),
      written("m1", "/status"),
      event({
        type: "turn.ended",
        ...NAME,
        itemId: 7,
        outcome: "command",
        text: "fine",
        sessionId: "w1",
        durationMs: 1,
      }),
      accepted("m1", 7, true),
      read([], {}, { key: KEY }, [7]),
    );
    expect(state.pending).toEqual([]);
    expect(state.notes).toMatchObject([{ question: "/status", text: "fine", kind: "answer" }]);
  });

  it("that the page joined late shows the messages on disk and new events", () => {
    const state = play(
      read([said(7)], { running: { itemId: 7, startedAt: 1 } }),
      event({ type: "turn.text", ...NAME, itemId: 7, text: "rest" }),
    );
    expect(state.live[KEY]).toMatchObject({ isWhole: false, parts: [{ text: "rest" }] });
    expect(shown(state).entries).toEqual(["7"]);
  });

  it("that ended before the answer arrived is not added again", () => {
    const page = { running: { itemId: 7, startedAt: 1 } };
    const ended = event({ type: "turn.ended", ...NAME, itemId: 7, outcome: "answered", durationMs: 1 });
    expect(play(ended, read([], page)).live).toEqual({});
    expect(runningRead(play(ended), [{ sessionKey: KEY, itemId: 7 }]).live).toEqual({});
  });

  it("whose end was missed is removed when nothing runs", () => {
    const joined = play(read([said(7)], { running: { itemId: 7, startedAt: 1 } }));
    expect(after(joined, read([said(7)], {}, { key: KEY }, [], 6)).live[KEY]).toBeDefined();
    expect(after(joined, read([said(7)], {}, { key: KEY }, [], 7)).live).toEqual({});
  });

  it("shows a failure once: as a note, unless the transcript has it", () => {
    const failed = play(
      read([]),
      event({
        type: "turn.ended",
        ...NAME,
        itemId: 7,
        outcome: "failed",
        sessionId: "w1",
        error: { code: "x", kind: "unavailable", message: "no disk", retryable: true },
        durationMs: 1,
      }),
    );
    expect(shownNotes(failed.notes, [])).toMatchObject([{ kind: "failed", text: "no disk" }]);
    expect(shownNotes(failed.notes, [answered(7, "error")])).toEqual([]);
  });

  it("of a new conversation keeps the answer of a command, also when the first window begins", () => {
    const answer = {
      type: "turn.ended",
      ...NAME,
      itemId: 7,
      outcome: "command",
      text: "Accepted.",
      durationMs: 1,
    } as const;
    const started = play(read([], { sessionId: undefined }), event(answer));
    expect(started.notes).toMatchObject([{ key: KEY, text: "Accepted.", sessionId: undefined }]);
    const after = play(read([], { sessionId: undefined }), event(answer), read([said(7)]));
    expect(after.notes).toMatchObject([{ text: "Accepted.", sessionId: after.view?.sessionId ?? "" }]);
    const [note] = after.notes.map((one) => ({ ...one, question: "/cc run hello" }));
    expect(note && shownNotes([note], [said(7)])).toMatchObject([{ question: undefined, after: "7" }]);
  });

  it("of another session leaves nothing behind", () => {
    const other = { agentId: "main", sessionKey: "agent:main:other", itemId: 3 };
    const state = play(
      read([]),
      event({ type: "turn.started", ...other, attempt: 1 }),
      event({ type: "turn.ended", ...other, outcome: "answered", durationMs: 1 }),
    );
    expect(state.live).toEqual({});
  });
});

describe("pending messages", () => {
  it("are hidden once the transcript has them, also when combined", () => {
    const state = play(read([]), written("m1", "first"), written("m2", "second"), accepted("m1", 5), accepted("m2", 6));
    expect(shown(state).pending).toEqual(["first", "second"]);
    const joined = { ...said(5), content: "first\nsecond" } as HistoryMessage;
    const begun = after(state, event({ type: "turn.started", ...NAME, itemId: 6, attempt: 1 }), read([joined]));
    expect(shown(begun).pending).toEqual([]);
  });

  it("show that they were dropped", () => {
    const state = play(
      read([]),
      written("m1"),
      accepted("m1", 5),
      event({ type: "message.dropped", ...NAME, itemIds: [5], reason: "the queue is full" }),
    );
    expect(state.pending).toMatchObject([{ problem: "Not answered: the queue is full" }]);
  });
});

type Change = (state: PageState) => PageState;

function play(...changes: Change[]): PageState {
  return after(initialState({ key: KEY }), ...changes);
}

function after(state: PageState, ...changes: Change[]): PageState {
  return changes.reduce((before, change) => change(before), state);
}

function event(told: RpcEvent): Change {
  return (state) => applyEvent(state, told);
}

function read(
  messages: HistoryMessage[],
  more: Partial<HistoryPage> = {},
  place: PageState["place"] = { key: KEY },
  settled: number[] = [],
  running?: number,
): Change {
  const page = { sessionKey: place.key ?? KEY, sessionId: "w1", isCurrent: true, messages, ...more };
  const names = settled.map((item) => turnName(KEY, item));
  return (state) => historyRead(state, { place, page, settled: names, running });
}

function older(messages: HistoryMessage[]): Change {
  const page = { sessionKey: KEY, sessionId: "w1", isCurrent: true, messages };
  return (state) => olderRead(state, { key: KEY }, page);
}

function written(id: string, text = "hello"): Change {
  return (state) => ({ ...state, pending: [...state.pending, { id, key: KEY, text, createdAt: 1 }] });
}

function accepted(id: string, itemId: number, hasEnded = false): Change {
  return (state) => acceptMessage(state, { id, itemId, hasEnded });
}

function said(item: number): HistoryMessage {
  return { role: "user", content: "hello", timestamp: 1, entryId: String(item), turnId: `main:${item}:${KEY}` };
}

function answered(item: number, stopReason: "stop" | "error" = "stop"): HistoryMessage {
  const place = { entryId: `a${item}`, turnId: `main:${item}:${KEY}` };
  return { role: "assistant", content: "hello", stopReason, timestamp: 2, ...place };
}

function ids(state: PageState): string[] {
  return (state.view?.messages ?? []).map(({ entryId }) => entryId);
}

function shown(state: PageState): { entries: string[]; pending: string[]; isLive: boolean } {
  const live = state.live[KEY];
  const messages = shownMessages(state.view?.messages ?? [], live);
  return {
    entries: messages.map(({ entryId }) => entryId),
    pending: shownPending(state.pending, messages, state.notes, live).map(({ text }) => text),
    isLive: live !== undefined,
  };
}
