/** Reads the tasks of the visible session, and again when one of them changes. */
import type { RpcCaller } from "../../../src/rpc/client.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";
import { isConnectionLost } from "../connection.ts";
import type { OpenTask } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { createReadAgain } from "./read-again.ts";

const SHOWN = 20;

export function createTasksControl(store: Store, caller: RpcCaller) {
  const show = (key: string, tasks: readonly OpenTask[]): void => {
    if (key === store.get().place.key) store.set({ tasks: { key, tasks } });
  };
  const refresh = createReadAgain(async () => {
    const { key } = store.get().place;
    if (key === undefined) return;
    try {
      const { tasks } = await caller.call("tasks.list", { sessionKey: key, limit: SHOWN });
      show(
        key,
        tasks.filter(({ state }) => state !== "ended"),
      );
    } catch (error) {
      // The next event or connection tries again.
      if (!isConnectionLost(error)) show(key, []);
    }
  });
  return {
    refresh,
    onEvent: (event: RpcEvent): void => {
      if (event.type === "task.changed" && event.sessionKey === store.get().place.key) void refresh();
    },
  };
}
