/** Frames of the picker: they fit every terminal, whatever the sessions contain. */
import { describe, expect, it } from "vitest";
import { NOON, discoveredSession } from "../../../test/support/claude-samples.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { textWidth } from "../output.ts";
import { type Frame, drawPicker, layoutOf } from "./draw-picker.ts";
import { createPickerState, pressKey } from "./picker-state.ts";

const HOSTILE = "\u001b]0;title\u0007\u001b[2J\r\u202etxet\u0000";
const SESSIONS = [
  discoveredSession({
    sessionId: "aaaaaaaa-1",
    title: "Fix the webhook",
    prompts: ["fix it", "now a test"],
    branch: "fix/hook",
  }),
  discoveredSession({ sessionId: "bbbbbbbb-2", title: "日本語のとても長いタイトルです".repeat(8), branch: "主要" }),
  discoveredSession({
    sessionId: "cccccccc-3",
    title: "👩‍👩‍👧‍👦🎉".repeat(60),
    isRunning: true,
    running: { pid: 4242, status: "busy" },
  }),
  discoveredSession({
    sessionId: "dddddddd-4",
    title: HOSTILE,
    branch: HOSTILE,
    prompts: [HOSTILE],
    repoPath: `/r/${HOSTILE}`,
  }),
  discoveredSession({ sessionId: "eeeeeeee-5", firstMessage: "", archived: true, label: "nightly" }),
];
const bare = (_format: string, text: string): string => text;

function frame(
  sessions: readonly DiscoveredSession[],
  columns: number,
  rows: number,
  keys = 0,
  showRepo = false,
): Frame {
  const size = { columns, rows };
  const items = sessions.map((session) => ({ id: session.sessionId, search: "", session }));
  let state = createPickerState(items, layoutOf(size).list.rows);
  for (let key = 0; key < keys; key += 1) ({ state } = pressKey(state, { name: "down" }));
  return drawPicker({ state, scope: "~/work/shop", showRepo, now: NOON + 7_200_000 }, size, bare);
}

describe("a frame", () => {
  it("has the size of the terminal for every selection", () => {
    for (const [columns, rows] of [
      [80, 24],
      [20, 4],
      [40, 10],
      [119, 9],
      [120, 7],
      [200, 60],
    ] as const) {
      for (let marked = 0; marked < SESSIONS.length; marked += 1) {
        const { lines, cursor } = frame(SESSIONS, columns, rows, marked, marked % 2 === 0);
        expect(lines).toHaveLength(rows);
        for (const line of lines) expect(textWidth(line), `${columns}×${rows}: ${line}`).toBeLessThanOrEqual(columns);
        expect(cursor.column).toBeLessThan(columns);
      }
    }
  });

  it("prints no control characters from sessions", () => {
    for (const size of [
      [80, 24],
      [160, 40],
    ] as const) {
      const [columns, rows] = size;
      const text = frame(SESSIONS, columns, rows, 3).lines.join("\n");
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(text).toContain(String.raw`\u001b]0;title`);
    }
  });

  it("shows the list, and the selected session below or beside it", () => {
    const below = frame(SESSIONS, 80, 24).lines;
    expect(below[0]).toMatch(/^> +5 in ~\/work\/shop$/);
    expect(below[1]).toMatch(/^ {2}aaaaaaaa +2h fix\/hook +Fix the webhook +2000 tok $/);
    expect(below.slice(-10)).toEqual([
      "Fix the webhook",
      "/repo on fix/hook",
      expect.stringContaining("last used 2h ago (") as string,
      "4 turns, 2000 tok, agent main",
      "asked",
      "· fix it",
      "· now a test",
      "",
      "",
      "Enter resume  ^F fork  ^Y id  Tab all/repo  ^U clear  Esc quit",
    ]);
    const beside = frame(SESSIONS, 140, 24, 2).lines;
    expect(beside[3]).toMatch(/^● cccccccc/);
    expect(beside.join("\n")).toContain("running in process 4242, busy");
    expect(frame(SESSIONS, 60, 10).lines[2]).toContain("bbbbbbbb");
  });

  it("keeps the end of a long query visible", () => {
    for (const text of ["日本語".repeat(40), "plain words ".repeat(20), "👩‍👩‍👧‍👦".repeat(50)]) {
      for (const columns of [20, 80]) {
        const { state } = pressKey(createPickerState([], 10), { name: "text", text: `${text}end` });
        const view = { state, scope: "x", showRepo: false, now: NOON };
        const { lines, cursor } = drawPicker(view, { columns, rows: 24 }, bare);
        expect(textWidth(lines[0] ?? "")).toBeLessThanOrEqual(columns);
        expect(cursor.column).toBeLessThan(columns);
        expect(lines[0]).toMatch(columns === 80 ? /end / : /…/);
      }
    }
  });

  it("explains an empty list", () => {
    expect(frame([], 80, 24).lines.join("\n")).toContain("No sessions yet. Start one with `claude`");
    const items = SESSIONS.map((session) => ({ id: session.sessionId, search: "", session }));
    const { state } = pressKey(createPickerState(items, 10), { name: "text", text: "zzz" });
    const { lines, cursor } = drawPicker(
      { state, scope: "x", showRepo: false, now: NOON },
      { columns: 80, rows: 24 },
      bare,
    );
    expect(lines.join("\n")).toContain("No session matches");
    expect(cursor).toEqual({ row: 0, column: 5 });
  });
});
