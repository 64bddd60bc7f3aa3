/** Executes the person's actions: calls the gateway and updates the store. */
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { type Place, readPlace, takeTokenFromAddress, writePlace } from "../address.ts";
import { type Connection, openConnection } from "../connection.ts";
import { placeChanged, runningRead } from "../state/changes.ts";
import { applyEvent } from "../state/event-changes.ts";
import type { FoundSession } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { tabStorage } from "../storage.ts";
import { createChatControl } from "./chat-control.ts";
import { createHandoffControl } from "./handoff-control.ts";
import { createHistoryControl } from "./history-control.ts";
import { keepState } from "./keep-state.ts";
import { createTasksControl } from "./tasks-control.ts";
import { createSessionsControl } from "./sessions-control.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

export type Controller = ReturnType<typeof createController>;

export function createController(store: Store) {
  let connection: Connection | undefined;
  const caller: RpcCaller = {
    call: async (method, params, options) => {
      if (connection === undefined) throw new Error("Not signed in");
      return await connection.call(method, params, options);
    },
  };
  const history = createHistoryControl(store, caller);
  const handoff = createHandoffControl(store, caller);
  const sessions = createSessionsControl(store, caller);
  const tasks = createTasksControl(store, caller);
  const chat = createChatControl(store, caller, history);

  /** Subscribes to events before reading, so that nothing is missed. */
  const onOpen = async (opened: RpcCaller): Promise<void> => {
    await opened.call("events.subscribe", { events: [...WATCHED] });
    const [agents, { turns }] = await Promise.all([
      opened.call("agents.list", {}),
      opened.call("status", { limit: 1 }),
    ]);
    store.change((state) => runningRead(state, turns.running));
    const { defaultId, mainKey } = agents;
    store.set({ agents: { defaultId, mainKey, ids: agents.agents.map(({ id }) => id) } });
    await chat.sendAgain();
    await Promise.all([sessions.refresh(), history.refresh(), handoff.refresh(), tasks.refresh()]);
  };

  const onEvent = (event: RpcEvent): void => {
    store.change((state) => applyEvent(state, event));
    for (const control of [sessions, history, handoff, tasks, chat]) control.onEvent(event);
  };

  const signIn = (token: string): void => {
    connection?.close();
    tabStorage.write(TOKEN, token);
    connection = openConnection(token, {
      onLink: (link) => {
        if (link.state !== "refused") return store.set({ link });
        tabStorage.write(TOKEN, undefined);
        store.set({ link: { state: "signed-out", reason: link.reason } });
      },
      onOpen,
      onEvent,
    });
  };

  const show = (place: Place): void => {
    store.change((state) => placeChanged(state, place));
    void history.refresh();
    void tasks.refresh();
  };

  const followAddress = (): void => {
    const token = takeTokenFromAddress() ?? (connection === undefined ? tabStorage.read(TOKEN) : undefined);
    if (token !== undefined) signIn(token);
    show(readPlace());
  };

  const open = (place: Place): void => {
    writePlace(place);
    show(place);
  };

  return {
    chat,
    handoff,
    history,
    sessions,
    tasks,
    /** Signs in with the token in the address or of this tab, and shows the session in the address. */
    start: (): void => {
      keepState(store);
      window.addEventListener("hashchange", followAddress);
      followAddress();
    },
    signIn,
    signOut: (): void => {
      connection?.close();
      connection = undefined;
      tabStorage.write(TOKEN, undefined);
      store.set({ link: { state: "signed-out" } });
    },
    retryNow: () => connection?.retryNow(),
    open,
    /** Opens a chat at its best passage. Fails for a chat that was deleted. */
    openFound: async ({ sessionId, agentId, passages }: FoundSession): Promise<void> => {
      const { key, isCurrent } = await caller.call("sessions.resolve", { sessionId, agentId });
      open({ key, windowId: isCurrent ? undefined : sessionId, entryId: passages[0]?.entryId });
    },
  };
}

const TOKEN = "token";

const WATCHED = [
  "message.admitted",
  "message.dropped",
  "turn.started",
  "turn.text",
  "turn.tool",
  "turn.notice",
  "turn.compaction",
  "turn.ended",
  "session.changed",
  "handoff.changed",
  "task.changed",
] as const satisfies readonly RpcEvent["type"][];
