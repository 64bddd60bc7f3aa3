/**
 * The state of the picker: sessions, search text and selection. A key produces the next state or a choice. Nothing
 * here draws, reads or waits.
 */
import type { Key } from "node:readline";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { graphemes } from "../output.ts";

/** `search` is the searchable text in lower case. */
export interface PickerItem {
  id: string;
  search: string;
  session: DiscoveredSession;
}

/** A passage for each session whose content has the words of `query`, best first. */
export interface FoundContent {
  query: string;
  passages: ReadonlyMap<string, string>;
}

export interface PickerState {
  items: readonly PickerItem[];
  query: string;
  found?: FoundContent | undefined;
  /** Items that match the query, in order. */
  matches: readonly PickerItem[];
  /** Index into `matches`; 0 if there is none. */
  selected: number;
  /** Index of the first visible match. */
  top: number;
  /** Number of visible matches. */
  rows: number;
}

export type PickerKey = { name: "text"; text: string } | { name: PickerCommand };
type PickerCommand = keyof typeof CHANGES | keyof typeof ACTIONS;

export type PickerChoice =
  | { action: "resume" | "fork" | "show-id"; session: DiscoveredSession }
  | { action: "scope" }
  | { action: "leave" };

export function createPickerState(items: readonly PickerItem[], rows: number, query = ""): PickerState {
  return { items, query, matches: matchItems(items, { query }), selected: 0, top: 0, rows: Math.max(1, rows) };
}

const CHANGES = {
  erase: (state: PickerState) => withQuery(state, [...graphemes(state.query)].slice(0, -1).join("")),
  "erase-word": (state: PickerState) => withQuery(state, state.query.replace(/\S*\s*$/u, "")),
  "erase-all": (state: PickerState) => withQuery(state, ""),
  up: (state: PickerState) => moveTo(state, state.selected - 1),
  down: (state: PickerState) => moveTo(state, state.selected + 1),
  "page-up": (state: PickerState) => moveTo(state, state.selected - state.rows),
  "page-down": (state: PickerState) => moveTo(state, state.selected + state.rows),
  first: (state: PickerState) => moveTo(state, 0),
  last: (state: PickerState) => moveTo(state, state.matches.length - 1),
};

const ACTIONS = { enter: "resume", fork: "fork", "show-id": "show-id", scope: "scope", leave: "leave" } as const;

/** `choice` is set when the key asks for an action. */
export function pressKey(
  state: PickerState,
  key: PickerKey,
): { state: PickerState; choice?: PickerChoice | undefined } {
  if (key.name === "text") return { state: withQuery(state, state.query + key.text) };
  if (key.name in CHANGES) return { state: CHANGES[key.name as keyof typeof CHANGES](state) };
  const action = ACTIONS[key.name as keyof typeof ACTIONS];
  if (action === "scope" || action === "leave") return { state, choice: { action } };
  const session = selectedItem(state)?.session;
  return { state, choice: session && { action, session } };
}

/** Replaces the sessions; the selected one stays selected. */
export function withItems(state: PickerState, items: readonly PickerItem[]): PickerState {
  const marked = selectedItem(state)?.id;
  const matches = matchItems(items, state);
  const place = matches.findIndex(({ id }) => id === marked);
  // At the top the selection follows the newest session.
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
  return { ...state, query, matches: matchItems(state.items, { ...state, query }), selected: 0, top: 0 };
}

/** Adds sessions by their content. Ignored if the query has changed meanwhile. */
export function withFound(state: PickerState, found: FoundContent): PickerState {
  return found.query === state.query ? withItems({ ...state, found }, state.items) : state;
}

/** All words must match a session's facts, in any order, or its content. The best content comes first. */
function matchItems(
  items: readonly PickerItem[],
  { query, found }: Pick<PickerState, "query" | "found">,
): readonly PickerItem[] {
  const words = queryWords(query);
  if (words.length === 0) return items;
  const hasWords = ({ search }: PickerItem): boolean => words.every((word) => search.includes(word));
  const ids = found?.query === query ? [...found.passages.keys()] : [];
  const places = new Map(ids.map((id, place) => [id, place]));
  const placeOf = ({ id }: PickerItem): number => places.get(id) ?? places.size;
  const [named, others] = [items.filter(hasWords), items.filter((item) => places.has(item.id) && !hasWords(item))];
  return [named, others].flatMap((group) => group.toSorted((a, b) => placeOf(a) - placeOf(b)));
}

/** In lower case. */
export function queryWords(query: string): string[] {
  return query
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "");
}

function moveTo(state: PickerState, wanted: number): PickerState {
  const selected = Math.max(0, Math.min(wanted, state.matches.length - 1));
  const lastTop = Math.max(0, state.matches.length - state.rows);
  const top = Math.min(Math.max(state.top, selected - state.rows + 1), selected, lastTop);
  return { ...state, selected, top };
}

const NAMED: Record<string, PickerCommand> = {
  up: "up",
  down: "down",
  pageup: "page-up",
  pagedown: "page-down",
  home: "first",
  end: "last",
  backspace: "erase",
  return: "enter",
  enter: "enter",
  tab: "scope",
  escape: "leave",
};

const WITH_CONTROL: Record<string, PickerCommand> = {
  p: "up",
  n: "down",
  w: "erase-word",
  u: "erase-all",
  f: "fork",
  y: "show-id",
  a: "scope",
  c: "leave",
  d: "leave",
  g: "leave",
};

/** Converts key presses; undefined for keys without a meaning. Within a paste no key is a command. */
export function createKeyReader(): (text: string | undefined, key: Key) => PickerKey | undefined {
  let isPasting = false;
  return (text, key) => {
    if (key.name === "paste-start" || key.name === "paste-end") {
      isPasting = key.name === "paste-start";
      return undefined;
    }
    if (isPasting) return typed(text === "\r" || text === "\n" || text === "\t" ? " " : text);
    const command = key.ctrl === true ? WITH_CONTROL[key.name ?? ""] : NAMED[key.name ?? ""];
    if (command !== undefined) return { name: command };
    return key.ctrl === true || key.meta === true ? undefined : typed(text);
  };
}

/** Ignores control characters and unknown escape sequences. */
function typed(text: string | undefined): PickerKey | undefined {
  return text === undefined || text === "" || !/^[^\p{Cc}\p{Cs}]+$/u.test(text) ? undefined : { name: "text", text };
}
