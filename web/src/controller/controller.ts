/** Executes the person's actions: calls the gateway and updates the store. */
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { type Place, readPlace, takeTokenFromAddress, writePlace } from "../address.ts";
import { type Connection, openConnection } from "../connection.ts";
import type { FoundSession } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { tabStorage } from "../storage.ts";
import { type ChatControl, createChatControl } from "./chat-control.ts";
import { type HandoffControl, createHandoffControl } from "./handoff-control.ts";
import { type HistoryControl, createHistoryControl } from "./history-control.ts";
import { keepState } from "./keep-state.ts";
import { type TasksControl, createTasksControl } from "./tasks-control.ts";
import { type SessionsControl, createSessionsControl } from "./sessions-control.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

export interface Controller {
  readonly chat: ChatControl;
  readonly handoff: HandoffControl;
  readonly history: HistoryControl;
  readonly sessions: SessionsControl;
  readonly tasks: TasksControl;
  /** Signs in with the token in the address or of this tab, and shows the session in the address. */
  start(): void;
  signIn(token: string): void;
  signOut(): void;
  retryNow(): void;
  open(place: Place): void;
  /** Opens a chat at its best passage. Fails for a chat that was deleted. */
  openFound(found: FoundSession): Promise<void>;
}

export function createController(store: Store): Controller {
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
    store.dispatch({ type: "running.read", running: turns.running });
    store.dispatch({
      type: "agents.read",
      agents: { defaultId: agents.defaultId, mainKey: agents.mainKey, ids: agents.agents.map(({ id }) => id) },
    });
    await chat.sendAgain();
    await Promise.all([sessions.refresh(), history.refresh(), handoff.refresh(), tasks.refresh()]);
  };

  const onEvent = (event: RpcEvent): void => {
    store.dispatch({ type: "event", event });
    sessions.onEvent(event);
    history.onEvent(event);
    handoff.onEvent(event);
    tasks.onEvent(event);
    chat.onEvent(event);
  };

  const signIn = (token: string): void => {
    connection?.close();
    tabStorage.write(TOKEN, token);
    connection = openConnection(token, {
      onLink: (link) => {
        if (link.state === "refused") {
          tabStorage.write(TOKEN, undefined);
          store.dispatch({ type: "link.changed", link: { state: "signed-out", reason: link.reason } });
        } else {
          store.dispatch({ type: "link.changed", link });
        }
      },
      onOpen,
      onEvent,
    });
  };

  const show = (place: Place): void => {
    store.dispatch({ type: "place.changed", place });
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
    start: () => {
      keepState(store);
      window.addEventListener("hashchange", followAddress);
      followAddress();
    },
    signIn,
    signOut: () => {
      connection?.close();
      connection = undefined;
      tabStorage.write(TOKEN, undefined);
      store.dispatch({ type: "link.changed", link: { state: "signed-out" } });
    },
    retryNow: () => connection?.retryNow(),
    open,
    openFound: async ({ sessionId, agentId, passages }) => {
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
