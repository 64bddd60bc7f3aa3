/** Reads the list of sessions page by page, and its beginning again after events. Searches transcripts and memory. */
import { errorMessage } from "../../../src/base/errors.ts";
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { isConnectionLost } from "../connection.ts";
import type { SessionQuery } from "../state/state.ts";
import { isSameQuery, searchedText, sessionsAsked, sessionsRead } from "../state/changes.ts";
import type { Store } from "../state/store.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

const PAGE = 100;
/** At most one read per interval. */
const REFRESH_MS = 700;
const TYPING_MS = 150;
const INDEXING_MS = 1000;
const FOUND = 20;

export function createSessionsControl(store: Store, caller: RpcCaller) {
  let refreshTimer: ReturnType<typeof setTimeout> | undefined;
  let typingTimer: ReturnType<typeof setTimeout> | undefined;

  const find = async (query: SessionQuery, text: string): Promise<void> => {
    const found = await caller
      .call("search.query", { text, limit: FOUND })
      .catch((error: unknown) => (isConnectionLost(error) ? undefined : { problem: errorMessage(error) }));
    if (found === undefined) return;
    if (isSameQuery(store.get().sessions.query, query)) store.set({ found });
    // The gateway is still reading files: ask again for the rest.
    const isPartial = "complete" in found && !found.complete;
    if (isPartial && store.get().found === found) typingTimer = setTimeout(() => void find(query, text), INDEXING_MS);
  };
  const read = async (query: SessionQuery, offset: number): Promise<void> => {
    store.change((state) => sessionsAsked(state, query));
    const search = searchedText(query);
    if (search !== "" && offset === 0) void find(query, search);
    try {
      const { sessions, total } = await caller.call("sessions.list", {
        limit: PAGE,
        offset,
        includeDerivedTitles: true,
        includeLastMessage: true,
        search: search === "" ? undefined : search,
        channel: query.channel,
      });
      store.change((state) => sessionsRead(state, { query, rows: sessions, total, offset }));
    } catch (error) {
      const problem = isConnectionLost(error) ? undefined : errorMessage(error);
      store.set({ sessions: { ...store.get().sessions, isLoading: false, problem } });
    }
  };
  const refresh = async (): Promise<void> => await read(store.get().sessions.query, 0);

  return {
    refresh,
    loadMore: async (): Promise<void> => {
      const { sessions, link } = store.get();
      const { rows, total, isLoading, query } = sessions;
      if (isLoading || link.state !== "open" || rows === undefined || rows.length >= total) return;
      await read(query, rows.length);
    },
    search: (search: string): void => {
      clearTimeout(typingTimer);
      typingTimer = setTimeout(() => {
        const query = { ...store.get().sessions.query, search };
        void read(query, 0);
      }, TYPING_MS);
    },
    chooseChannel: (channel: string | undefined): void => void read({ ...store.get().sessions.query, channel }, 0),
    onEvent: (event: RpcEvent): void => {
      if (!MOVES_SESSIONS.has(event.type)) return;
      refreshTimer ??= setTimeout(() => {
        refreshTimer = undefined;
        void refresh();
      }, REFRESH_MS);
    },
  };
}

const MOVES_SESSIONS: ReadonlySet<RpcEvent["type"]> = new Set(["message.admitted", "turn.ended", "session.changed"]);
