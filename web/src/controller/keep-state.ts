/** Restores state from browser storage, and saves its changes. */
import type { Note, PageState, PendingMessage } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { browserStorage, tabStorage } from "../storage.ts";

const MAX_NOTES = 50;
const MAX_SEEN = 2000;

export function keepState(store: Store): void {
  const seenSince = Number(browserStorage.read("seen-since")) || Date.now();
  browserStorage.write("seen-since", String(seenSince));
  store.set({
    pending: readList<PendingMessage>("pending", ["id", "key", "text"]),
    notes: readList<Note>("notes", ["key", "text"]),
    seen: readSeen(),
    seenSince,
  });
  let kept: PageState = store.get();
  store.subscribe(() => {
    const state = store.get();
    if (state.pending !== kept.pending) tabStorage.write("pending", JSON.stringify(state.pending));
    if (state.notes !== kept.notes) tabStorage.write("notes", JSON.stringify(state.notes.slice(-MAX_NOTES)));
    if (state.seen !== kept.seen) browserStorage.write("seen", JSON.stringify(newest(state.seen)));
    kept = state;
  });
}

/** Stored data is unchecked: skips items without the given text fields. */
function readList<Item extends object>(name: string, texts: readonly (keyof Item & string)[]): Item[] {
  const found = tabStorage.readJson(name);
  if (!Array.isArray(found)) return [];
  return found.filter(
    (item: unknown): item is Item =>
      typeof item === "object" &&
      item !== null &&
      texts.every((text) => typeof (item as Record<string, unknown>)[text] === "string"),
  );
}

function readSeen(): Record<string, number> {
  const found = browserStorage.readJson("seen");
  if (typeof found !== "object" || found === null) return {};
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}

function newest(seen: Readonly<Record<string, number>>): Record<string, number> {
  const entries = Object.entries(seen);
  if (entries.length <= MAX_SEEN) return seen;
  return Object.fromEntries(entries.toSorted((a, b) => b[1] - a[1]).slice(0, MAX_SEEN));
}
