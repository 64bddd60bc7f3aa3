/** Shared by the fake servers: a free loopback port, JSON in and out. */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord } from "../../src/base/json-record.ts";

export interface LoopbackServer extends AsyncDisposable {
  port: number;
  url: string;
}

export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Anything but an object becomes an empty object. */
export function parseBody(body: Buffer | string): Record<string, unknown> {
  const parsed: unknown = body.length === 0 ? {} : JSON.parse(body.toString());
  return isRecord(parsed) ? parsed : {};
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
