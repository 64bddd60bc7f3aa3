/** A TCP proxy on loopback that can cut connections, and swallow everything like a network that has failed. */
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Closes all connections. New ones are accepted. */
  cut(): void;
  /** Nothing arrives any more, in both directions, and nobody is told. */
  swallow(): void;
  /** Delivers what was swallowed, and all that follows. */
  heal(): void;
}

export interface TcpProxyOptions {
  port: number;
  /** Changes what the server sends. Default: nothing. */
  rewrite?: ((chunk: Buffer) => Buffer) | undefined;
}

export async function startTcpProxy({ port, rewrite = (chunk) => chunk }: TcpProxyOptions): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    if (isSwallowing) socket.pause();
  };
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    keep(client);
    keep(upstream);
    client.on("data", (chunk) => upstream.write(chunk)).on("close", () => upstream.destroy());
    upstream.on("data", (chunk: Buffer) => client.write(rewrite(chunk))).on("close", () => client.destroy());
    if (isSwallowing) for (const socket of [client, upstream]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    swallow: () => {
      isSwallowing = true;
      for (const socket of sockets) socket.pause();
    },
    heal: () => {
      isSwallowing = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
