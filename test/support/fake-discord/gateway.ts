/** Discord's gateway protocol, version 10, JSON: HELLO, IDENTIFY, READY, heartbeats, RESUME and dispatches. */
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";

export interface FakeGateway {
  /** Sends to every session; disconnected ones get it when they resume. */
  dispatch(type: string, data: unknown): void;
  /** Closes every connection like Discord. */
  disconnect(code: number): void;
  /** Closes the next connections at once. */
  refuseConnections(count: number): void;
  /** Makes all sessions impossible to resume. */
  forgetSessions(): void;
  readonly identified: number;
  readonly resumed: number;
  /** Open connections. */
  readonly connections: number;
  close(): Promise<void>;
}

export interface GatewayOptions {
  server: Server;
  url: () => string;
  token: string;
  heartbeatMs: number;
  /** The close code for a bot that identifies; undefined accepts it. */
  refusal: () => number | undefined;
  /** READY's user and servers, and what follows it. */
  ready: () => { user: unknown; guildIds: string[]; guilds: unknown[] };
}

interface Session {
  id: string;
  sequence: number;
  events: { t: string; s: number; d: unknown }[];
  socket: WebSocket | undefined;
}

const DISPATCH = 0;
const HEARTBEAT = 1;
const IDENTIFY = 2;
const RESUME = 6;
const INVALID_SESSION = 9;
const HELLO = 10;
const HEARTBEAT_ACK = 11;

export function createFakeGateway(options: GatewayOptions): FakeGateway {
  const sockets = new WebSocketServer({ server: options.server, path: "/gateway" });
  let sessions: Session[] = [];
  let identified = 0;
  let resumed = 0;
  let refused = 0;

  const push = (session: Session, t: string, d: unknown): void => {
    session.sequence += 1;
    const event = { t, s: session.sequence, d };
    session.events.push(event);
    session.socket?.send(JSON.stringify({ op: DISPATCH, ...event }));
  };

  const identify = (socket: WebSocket, data: { token: string }): void => {
    identified += 1;
    const refusal = data.token === options.token ? options.refusal() : 4004;
    if (refusal !== undefined) {
      socket.close(refusal);
      return;
    }
    const session: Session = { id: `session-${identified}`, sequence: 0, events: [], socket };
    sessions.push(session);
    const { user, guildIds, guilds } = options.ready();
    push(session, "READY", {
      v: 10,
      user,
      guilds: guildIds.map((id) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: options.url(),
      shard: [0, 1],
      application: { id: "1", flags: 0 },
    });
    for (const guild of guilds) push(session, "GUILD_CREATE", guild);
  };

  const resume = (socket: WebSocket, data: { session_id: string; seq: number }): void => {
    const session = sessions.find(({ id }) => id === data.session_id);
    if (session === undefined) {
      socket.send(JSON.stringify({ op: INVALID_SESSION, d: false }));
      return;
    }
    resumed += 1;
    session.socket = socket;
    const missed = session.events.filter(({ s }) => s > data.seq);
    for (const event of missed) socket.send(JSON.stringify({ op: DISPATCH, ...event }));
    push(session, "RESUMED", {});
  };

  sockets.on("connection", (socket) => {
    // Some tests disconnect at any moment.
    socket.on("error", () => undefined);
    if (refused > 0) {
      refused -= 1;
      socket.close(1013);
      return;
    }
    socket.send(JSON.stringify({ op: HELLO, d: { heartbeat_interval: options.heartbeatMs } }));
    socket.on("message", (raw: Buffer) => {
      const { op, d } = JSON.parse(raw.toString("utf8")) as { op: number; d: never };
      if (op === HEARTBEAT) socket.send(JSON.stringify({ op: HEARTBEAT_ACK }));
      if (op === IDENTIFY) identify(socket, d);
      if (op === RESUME) resume(socket, d);
    });
    socket.on("close", () => {
      for (const session of sessions) if (session.socket === socket) session.socket = undefined;
    });
  });

  return {
    dispatch: (type, data) => {
      for (const session of sessions) push(session, type, data);
    },
    disconnect: (code) => {
      for (const socket of sockets.clients) socket.close(code);
    },
    refuseConnections: (count) => {
      refused = count;
    },
    forgetSessions: () => {
      sessions = [];
    },
    get identified() {
      return identified;
    },
    get resumed() {
      return resumed;
    },
    get connections() {
      return sockets.clients.size;
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => sockets.close(resolve));
    },
  };
}
