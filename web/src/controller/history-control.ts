/** Reads transcripts. */
import { errorMessage } from "../../../src/base/errors.ts";
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { isConnectionLost } from "../connection.ts";
import { historyFailed, historyRead, olderRead } from "../state/history-changes.ts";
import type { PageState } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { createReadAgain } from "./read-again.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

export type HistoryControl = ReturnType<typeof createHistoryControl>;

const PAGE = 60;

export function createHistoryControl(store: Store, caller: RpcCaller) {
  /** The last turn for which the transcript was read early. */
  let joined: string | undefined;

  const refresh = createReadAgain(async () => {
    const { place } = store.get();
    if (place.key !== undefined) await read(place, place.key);
  });

  const read = async (place: PageState["place"], key: string): Promise<void> => {
    const { ended: settled, live } = store.get();
    const running = live[key]?.itemId;
    try {
      const page = await caller.call("chat.history", { sessionKey: key, sessionId: place.windowId, limit: PAGE });
      store.change((state) => historyRead(state, { place, page, settled, running }));
      if (page.sessionId !== undefined) await readNewWindows(key, page.sessionId);
    } catch (error) {
      showFailure(place, error);
    }
  };

  const readNewWindows = async (key: string, sessionId: string): Promise<void> => {
    const { windows } = store.get();
    if (windows?.key === key && windows.windows.some((known) => known.sessionId === sessionId)) return;
    await readWindows(key);
  };

  const readWindows = async (key: string): Promise<void> => {
    const found = await caller.call("sessions.windows", { key });
    store.set({ windows: { key, windows: found.windows } });
  };

  const showFailure = (place: PageState["place"], error: unknown): void => {
    const problem = isConnectionLost(error) ? undefined : errorMessage(error);
    store.change((state) => historyFailed(state, place, problem));
  };

  return {
    /** Reads the end of the visible transcript, and the windows of its session. */
    refresh,
    loadOlder: async (): Promise<void> => {
      const { view, place, link } = store.get();
      const canRead = link.state === "open" && view?.problem === undefined;
      if (view?.before === undefined || view.isLoadingOlder || !canRead) return;
      store.set({ view: { ...view, isLoadingOlder: true } });
      try {
        const page = await caller.call("chat.history", {
          sessionKey: view.key,
          sessionId: view.sessionId,
          limit: PAGE,
          before: view.before,
        });
        store.change((state) => olderRead(state, place, page));
      } catch (error) {
        showFailure(place, error);
      }
    },
    /** Titles of windows change with their messages. */
    refreshWindows: async (key: string): Promise<void> => {
      // On failure the known windows stay.
      await readWindows(key).catch(() => undefined);
    },
    onEvent: (event: RpcEvent): void => {
      const { place, pending } = store.get();
      if (!("sessionKey" in event) || event.sessionKey !== place.key || place.windowId !== undefined) return;
      const isWritten = event.type === "task.changed" && event.text !== undefined;
      if (event.type === "turn.ended" || event.type === "session.changed" || isWritten) void refresh();
      // A message from elsewhere, such as Telegram, is on disk when its answer begins.
      if (event.type !== "turn.text" && event.type !== "turn.tool") return;
      const name = `${event.sessionKey} ${event.itemId}`;
      if (joined === name || pending.some(({ itemId }) => itemId === event.itemId)) return;
      joined = name;
      void refresh();
    },
  };
}
