/** The picker's behaviour, key by key, without a terminal. */
import type { Key } from "node:readline";
import { describe, expect, it } from "vitest";
import { discoveredSession } from "../../../test/support/claude-samples.ts";
import {
  type PickerItem,
  type PickerKey,
  type PickerState,
  createPickerState,
  pressKey,
  selectedItem,
  withItems,
  withRows,
  createKeyReader,
} from "./picker-state.ts";

function item(id: string, search = id): PickerItem {
  return { id, search, session: discoveredSession({ sessionId: id }) };
}

const ITEMS = Array.from({ length: 20 }, (_, index) => item(`s${index}`, `session number ${index} on main`));

function press(state: PickerState, ...names: Exclude<PickerKey["name"], "text">[]): PickerState {
  return names.reduce((now, name) => pressKey(now, { name }).state, state);
}

function type(state: PickerState, text: string): PickerState {
  return Array.from(text).reduce((now, letter) => pressKey(now, { name: "text", text: letter }).state, state);
}

describe("moving", () => {
  it("stops at both ends and keeps the selection visible", () => {
    const start = createPickerState(ITEMS, 5);
    expect(press(start, "up")).toMatchObject({ selected: 0, top: 0 });
    expect(press(start, "down", "down", "down", "down", "down")).toMatchObject({ selected: 5, top: 1 });
    expect(press(start, "page-down")).toMatchObject({ selected: 5, top: 1 });
    expect(press(start, "last")).toMatchObject({ selected: 19, top: 15 });
    expect(press(start, "last", "down")).toMatchObject({ selected: 19 });
    expect(press(start, "last", "page-up", "page-up")).toMatchObject({ selected: 9, top: 9 });
    expect(press(start, "last", "first")).toMatchObject({ selected: 0, top: 0 });
  });

  it("follows the size of the terminal", () => {
    const far = press(createPickerState(ITEMS, 10), "last");
    expect(withRows(far, 3)).toMatchObject({ selected: 19, top: 17, rows: 3 });
    expect(withRows(far, 100)).toMatchObject({ selected: 19, top: 0 });
    expect(withRows(far, 0)).toMatchObject({ rows: 1 });
  });
});

describe("typing", () => {
  it("matches all words in any order and case, and selects the first match", () => {
    const found = type(press(createPickerState(ITEMS, 5), "last"), "MAIN 1");
    expect(found.matches.map(({ id }) => id)).toEqual([
      "s1",
      ...Array.from({ length: 10 }, (_, index) => `s${index + 10}`),
    ]);
    expect(found).toMatchObject({ selected: 0, top: 0 });
    expect(press(found, "erase", "erase").matches).toHaveLength(20);
    expect(press(found, "erase-word").query).toBe("MAIN ");
    expect(press(found, "erase-all").matches).toHaveLength(20);
    expect(type(createPickerState(ITEMS, 5), "nothing").matches).toEqual([]);
  });

  it("erases one grapheme", () => {
    const typed = pressKey(createPickerState(ITEMS, 5), { name: "text", text: "a👩‍👩‍👧‍👦" }).state;
    expect(press(typed, "erase").query).toBe("a");
  });
});

describe("choosing", () => {
  it("returns the selected session, if any", () => {
    const second = press(createPickerState(ITEMS, 5), "down");
    const session = ITEMS[1]?.session;
    expect(pressKey(second, { name: "enter" }).choice).toEqual({ action: "resume", session });
    expect(pressKey(second, { name: "fork" }).choice).toEqual({ action: "fork", session });
    expect(pressKey(second, { name: "show-id" }).choice).toEqual({ action: "show-id", session });
    expect(pressKey(second, { name: "leave" }).choice).toEqual({ action: "leave" });
    expect(pressKey(createPickerState([], 5), { name: "enter" }).choice).toBeUndefined();
  });
});

describe("when sessions change", () => {
  it("keeps the selection on its session, or on the newest until the first move", () => {
    const newer = [item("new", "session new on main"), ...ITEMS];
    expect(selectedItem(withItems(createPickerState(ITEMS, 5), newer))?.id).toBe("new");
    const moved = press(createPickerState(ITEMS, 5), "down", "down");
    expect(selectedItem(withItems(moved, newer))?.id).toBe("s2");
    expect(selectedItem(withItems(moved, ITEMS.slice(0, 2)))?.id).toBe("s1");
    expect(selectedItem(withItems(moved, []))).toBeUndefined();
    expect(withItems(type(moved, "new"), newer).matches.map(({ id }) => id)).toEqual(["new"]);
  });
});

function key(name: string | undefined, more: Partial<Key> = {}): Key {
  return { name, ...more };
}

describe("keys of a terminal", () => {
  it("become commands or text", () => {
    const read = createKeyReader();
    expect(read("a", key("a"))).toEqual({ name: "text", text: "a" });
    expect(read("é", key(undefined))).toEqual({ name: "text", text: "é" });
    expect(read("\r", key("return"))).toEqual({ name: "enter" });
    expect(read("\u000e", key("n", { ctrl: true }))).toEqual({ name: "down" });
    expect(read("\u0006", key("f", { ctrl: true }))).toEqual({ name: "fork" });
    expect(read("\u0003", key("c", { ctrl: true }))).toEqual({ name: "leave" });
    expect(read("\u001b", key("escape", { meta: true }))).toEqual({ name: "leave" });
    expect(read("x", key("x", { meta: true }))).toBeUndefined();
    expect(read("\u0002", key("b", { ctrl: true }))).toBeUndefined();
    expect(read(undefined, key("f5"))).toBeUndefined();
  });

  it("are text within a paste", () => {
    const read = createKeyReader();
    expect(read(undefined, key("paste-start"))).toBeUndefined();
    expect(read("\r", key("return"))).toEqual({ name: "text", text: " " });
    expect(read("\u0003", key("c", { ctrl: true }))).toBeUndefined();
    expect(read(undefined, key("paste-end"))).toBeUndefined();
    expect(read("\r", key("return"))).toEqual({ name: "enter" });
  });
});
