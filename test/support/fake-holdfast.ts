/** A program on a gateway's port that accepts everything and records every byte. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

export interface FakeHoldfast extends AsyncDisposable {
  url: string;
  /** Requests with headers and bodies, and frames. */
  heard: string[];
}

export interface FakeHoldfastOptions {
  /** Default: any free port. */
  port?: number;
  /** Answers a challenge. Default: a constant. */
  prove?: (nonce: string) => Promise<unknown>;
}

export async function startFakeHoldfast(options: FakeHoldfastOptions = {}): Promise<FakeHoldfast> {
  const { port = 0, prove = async () => await Promise.resolve("00".repeat(32)) } = options;
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headersDistinct)}`);
    request.on("data", (data) => heard.push(String(data)));
    request.on("end", () => {
      const nonce = new URL(request.url ?? "/", "http://squatter").searchParams.get("nonce") ?? "";
      void prove(nonce).then((proof) => {
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({ ok: true, payload: { proof } }));
      });
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => {
      const text = (data as Buffer).toString();
      heard.push(text);
      const { id, params } = JSON.parse(text) as { id: string; params: { nonce?: string } };
      void prove(params.nonce ?? "").then((proof) => {
        socket.send(JSON.stringify({ type: "res", id, ok: true, payload: { proof } }));
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen({ host: "127.0.0.1", port }, resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
