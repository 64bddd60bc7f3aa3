/** The WebSocket side: lets connections in, tells all of them what happens, and ends them. */
import type { IncomingMessage, Server } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { HoldfastError } from "../base/errors.ts";
import type { RpcEvent } from "../rpc/events.ts";
import { CLOSE_CODES } from "../rpc/frames.ts";
import { checkHost, checkOrigin, headersOf, tooManyRequests } from "./access.ts";
import type { GatewayCore } from "./gateway-core.ts";
import { httpStatusOf } from "./outgoing-error.ts";
import { type WsClient, serveWsClient } from "./ws-client.ts";

export interface WsServer {
  tell(event: RpcEvent): void;
  /** Ends every connection. */
  close(reason: string): void;
}

export function attachWsServer(server: Server, core: GatewayCore): WsServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: core.limits.maxBodyBytes,
    // Compression keeps memory per connection, and what is compressed beside a secret can betray it.
    perMessageDeflate: false,
  });
  const clients = new Set<WsClient>();

  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    try {
      admit(request, core);
    } catch (error) {
      refuse(socket, error);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const client = serveWsClient(opened, request.socket, core);
      clients.add(client);
      opened.on("close", () => clients.delete(client));
    });
  });

  return {
    tell: (event) => {
      let text: string | undefined;
      for (const client of clients) client.tell(event, () => (text ??= JSON.stringify(event)));
    },
    close: (reason) => {
      for (const client of clients) client.close(CLOSE_CODES.goingAway, reason);
      sockets.close();
    },
  };
}

/** The token comes with `connect`: browsers cannot send a header here, and an address would be logged. */
function admit(request: IncomingMessage, core: GatewayCore): void {
  const header = headersOf(request);
  checkHost(header, core.port);
  checkOrigin(header, core.port);
  const wait = core.requests.take(`socket:${addressOf(request)}`);
  if (wait !== undefined) throw tooManyRequests(wait);
  if (core.isClosing) throw new HoldfastError("unavailable", "gateway-stopping", "The gateway is stopping");
  if (request.url !== "/ws") throw new HoldfastError("not-found", "no-such-address", "WebSockets are at /ws");
}

function refuse(socket: Duplex, error: unknown): void {
  const status = httpStatusOf(error);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  // Not only half closed: somebody who goes on sending would keep the connection.
  socket.end(head, () => socket.destroy());
}

function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown";
}
