/**
 * The picker without a terminal: what is shown, what is typed, which session is marked. A key turns one
 * state into the next, or ends it with a choice. Nothing here draws, reads or waits.
 */
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { graphemes } from "../text-width.ts";

/** What the picker knows of a session; `search` is everything that typing looks at, in lower case. */
export interface PickerItem {
  id: string;
  search: string;
  session: DiscoveredSession;
}

export interface PickerState {
  items: readonly PickerItem[];
  query: string;
  /** Those of the items that fit the query, in their order. */
  matches: readonly PickerItem[];
  /** Into `matches`; 0 when there is none. */
  selected: number;
  /** The first match that is shown. */
  top: number;
  /** How many matches fit on the screen. */
  rows: number;
}

export type PickerKey =
  | { name: "text"; text: string }
  | {
      name:
        | "up"
        | "down"
        | "page-up"
        | "page-down"
        | "first"
        | "last"
        | "erase"
        | "erase-word"
        | "erase-all"
        | "enter"
        | "fork"
        | "show-id"
        | "scope"
        | "leave";
    };

export type PickerChoice =
  | { action: "resume" | "fork" | "show-id"; id: string }
  | { action: "scope" }
  | { action: "leave" };

export interface PickerStep {
  state: PickerState;
  /** Set when somebody has to do something about it. */
  choice?: PickerChoice;
}

export function createPickerState(items: readonly PickerItem[], rows: number): PickerState {
  return { items, query: "", matches: items, selected: 0, top: 0, rows: Math.max(1, rows) };
}

export function pressKey(state: PickerState, key: PickerKey): PickerStep {
  switch (key.name) {
    case "text":
      return { state: withQuery(state, state.query + key.text) };
    case "erase":
      return { state: withQuery(state, [...graphemes(state.query)].slice(0, -1).join("")) };
    case "erase-word":
      return { state: withQuery(state, state.query.replace(/\S*\s*$/u, "")) };
    case "erase-all":
      return { state: withQuery(state, "") };
    case "up":
      return { state: moveTo(state, state.selected - 1) };
    case "down":
      return { state: moveTo(state, state.selected + 1) };
    case "page-up":
      return { state: moveTo(state, state.selected - state.rows) };
    case "page-down":
      return { state: moveTo(state, state.selected + state.rows) };
    case "first":
      return { state: moveTo(state, 0) };
    case "last":
      return { state: moveTo(state, state.matches.length - 1) };
    case "enter":
      return choose(state, "resume");
    case "fork":
    case "show-id":
      return choose(state, key.name);
    default:
      return { state, choice: { action: key.name } };
  }
}

/** New sessions have come, or others have changed: what was marked stays marked. */
export function withItems(state: PickerState, items: readonly PickerItem[]): PickerState {
  const marked = selectedItem(state)?.id;
  const matches = matchItems(items, state.query);
  const place = matches.findIndex(({ id }) => id === marked);
  // The first place is "the newest", not a certain session, until somebody moves.
  const selected = state.selected === 0 ? 0 : place;
  return moveTo({ ...state, items, matches }, selected === -1 ? state.selected : selected);
}

export function withRows(state: PickerState, rows: number): PickerState {
  return moveTo({ ...state, rows: Math.max(1, rows) }, state.selected);
}

export function selectedItem(state: PickerState): PickerItem | undefined {
  return state.matches[state.selected];
}

function withQuery(state: PickerState, query: string): PickerState {
  // A longer query fits only what the shorter one did.
  const among = query.startsWith(state.query) ? state.matches : state.items;
  return { ...state, query, matches: matchItems(among, query), selected: 0, top: 0 };
}

/** Every word must be somewhere, in any order. */
function matchItems(items: readonly PickerItem[], query: string): readonly PickerItem[] {
  const words = query
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "");
  return words.length === 0 ? items : items.filter(({ search }) => words.every((word) => search.includes(word)));
}

function moveTo(state: PickerState, wanted: number): PickerState {
  const selected = Math.max(0, Math.min(wanted, state.matches.length - 1));
  const lastTop = Math.max(0, state.matches.length - state.rows);
  const top = Math.min(Math.max(state.top, selected - state.rows + 1), selected, lastTop);
  return { ...state, selected, top };
}

function choose(state: PickerState, action: "resume" | "fork" | "show-id"): PickerStep {
  const item = selectedItem(state);
  return item === undefined ? { state } : { state, choice: { action, id: item.id } };
}
