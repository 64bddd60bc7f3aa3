/**
 * The list of sessions. It is read page by page, and its beginning again whenever something happens: a
 * session may have moved up meanwhile, or be gone.
 */
import type { Action } from "./action.ts";
import type { PageState, SessionRow } from "./state.ts";

export function sessionsRead(state: PageState, read: Extract<Action, { type: "sessions.read" }>): PageState {
  const { sessions } = state;
  if (sessions.query.search !== read.query.search || sessions.query.channel !== read.query.channel) return state;
  const rows = merge(sessions.rows ?? [], read);
  const shown = rows.find(({ key }) => key === state.place.key);
  return {
    ...state,
    sessions: { query: sessions.query, rows, total: read.total, isLoading: false },
    // What is on the screen has been seen.
    seen:
      shown === undefined || document.visibilityState !== "visible"
        ? state.seen
        : { ...state.seen, [shown.key]: Math.max(shown.updatedAt, state.seen[shown.key] ?? 0) },
  };
}

function merge(
  known: readonly SessionRow[],
  { rows, offset, total }: { rows: readonly SessionRow[]; offset: number; total: number },
): SessionRow[] {
  const read = new Set(rows.map(({ key }) => key));
  const others = known.filter(({ key }) => !read.has(key));
  const oldest = rows.at(-1)?.updatedAt ?? 0;
  // Whoever should stand among the newest and does not is gone.
  const kept = offset > 0 ? others : rows.length >= total ? [] : others.filter(({ updatedAt }) => updatedAt <= oldest);
  return [...kept, ...rows].toSorted((a, b) => b.updatedAt - a.updatedAt);
}

export function isUnread(
  { seen, seenSince, place }: Pick<PageState, "seen" | "seenSince" | "place">,
  { key, updatedAt }: SessionRow,
): boolean {
  return key !== place.key && updatedAt > (seen[key] ?? seenSince);
}
