/** Reads the tasks of the visible session, and again when one of them changes. */
import type { RpcCaller } from "../../../src/rpc/client.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";
import { isConnectionLost } from "../connection.ts";
import type { Store } from "../state/store.ts";
import { createReadAgain } from "./read-again.ts";

export interface TasksControl {
  refresh(): Promise<void>;
  onEvent(event: RpcEvent): void;
}

const SHOWN = 20;

export function createTasksControl(store: Store, caller: RpcCaller): TasksControl {
  const refresh = createReadAgain(async () => {
    const { key } = store.get().place;
    if (key === undefined) return;
    try {
      const { tasks } = await caller.call("tasks.list", { sessionKey: key, limit: SHOWN });
      store.dispatch({ type: "tasks.read", key, tasks: tasks.filter(({ state }) => state !== "ended") });
    } catch (error) {
      // The next event or connection tries again.
      if (!isConnectionLost(error)) store.dispatch({ type: "tasks.read", key, tasks: [] });
    }
  });
  return {
    refresh,
    onEvent: (event) => {
      if (event.type === "task.changed" && event.sessionKey === store.get().place.key) void refresh();
    },
  };
}
