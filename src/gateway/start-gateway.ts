/**
 * The gateway: HTTP and WebSocket on the loopback interface, and nowhere else. It owns connections only;
 * agents, channels and the pipeline belong to whoever starts it and outlive it.
 */
import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import { gatewayLayout } from "../config/layout.ts";
import type { RpcParts } from "../rpc/rpc-parts.ts";
import { DEFAULT_LIMITS, type GatewayCore, type GatewayLimits, createGatewayCore } from "./gateway-core.ts";
import { createHttpApp } from "./http-app.ts";
import { type RunningGateway, announceGateway, findGateway, withdrawGateway } from "./runtime-file.ts";
import { createStaticFiles } from "./static-files.ts";
import { ensureToken } from "./token-file.ts";
import { type WsServer, attachWsServer } from "./ws-server.ts";

export interface GatewayOptions {
  parts: RpcParts;
  /** Left out: as configured. 0: any free one. */
  port?: number;
  /** Left out: that of the home's token file, which is made if it is missing. */
  token?: string;
  /** The folder with the built page. Left out: there is no page. */
  webRoot?: string;
  /** True: refused with `gateway-running` (conflict) when another process has a gateway of this home. */
  onlyOne?: boolean;
  /** For tests; what is left out is as configured or usual. */
  limits?: Partial<GatewayLimits>;
}

export interface Gateway {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /**
   * Takes no more connections and calls and tells the clients so. They stay connected until `until`
   * settles (such as the pipeline's drain) and calls under way are answered, then they are closed.
   */
  close(options?: { until?: Promise<unknown> }): Promise<void>;
}

const HOST = "127.0.0.1";
/** How long calls under way may take once nothing else is waited for. */
const ANSWER_GRACE_MS = 1000;

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { parts } = options;
  const { home, config, logger } = parts;
  const token = options.token ?? (await ensureToken(gatewayLayout(home).tokenFile, logger));
  const { maxBodyBytes, requestsPerMinute } = config.gateway;
  const limits = { ...DEFAULT_LIMITS, maxBodyBytes, requestsPerMinute, ...options.limits };
  const core = createGatewayCore({ parts, token, limits });
  const pages = options.webRoot === undefined ? undefined : createStaticFiles(options.webRoot);

  const server = createHttpServer(core, pages);
  const sockets = attachWsServer(server, core);
  try {
    await goOnAir(core, server, options);
  } catch (error) {
    // One that listens but that no command finds would be taken for a gateway, and keep its process.
    await closeGateway({ core, server, sockets, until: undefined });
    await withdrawGateway(home, urlOf(core)).catch(() => undefined);
    throw error;
  }
  const url = urlOf(core);
  const unsubscribe = parts.pipeline.events.subscribe((event) => sockets.tell(event));

  let closing: Promise<void> | undefined;
  return {
    url,
    port: core.port,
    token,
    close: async ({ until } = {}) => {
      closing ??= closeGateway({ core, server, sockets, until });
      await closing;
      unsubscribe();
      await withdrawGateway(home, url);
    },
  };
}

/** Listens, and says where. */
async function goOnAir(core: GatewayCore, server: Server, options: GatewayOptions): Promise<void> {
  const { home, config, logger, version, startedAt } = core.parts;
  core.port = await listen(server, options.port ?? config.gateway.port, home);
  const url = urlOf(core);
  const isAnnounced = await announceGateway(home, { url, port: core.port, version, startedAt });
  if (!isAnnounced && options.onlyOne === true) throw alreadyRunning(await findGateway(home));
  if (!isAnnounced) logger.warn("another gateway of this home is the one that commands find", { url });
}

function urlOf({ port }: GatewayCore): string {
  return `http://${HOST}:${port}`;
}

function createHttpServer(core: GatewayCore, pages: ReturnType<typeof createStaticFiles> | undefined): Server {
  const { requestTimeoutMs, maxConnections } = core.limits;
  const answer = getRequestListener(createHttpApp(core, pages).fetch, { overrideGlobalObjects: false });
  const server = createServer(
    {
      // Whoever sends a byte now and then does not keep a connection for ever.
      headersTimeout: Math.min(10_000, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(2000, requestTimeoutMs / 2),
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
    },
    (request, response) => {
      void answer(request, response).then(() => limitTaking(response, requestTimeoutMs));
    },
  );
  server.maxConnections = maxConnections;
  return server;
}

/** An answer that nobody takes keeps its connection no longer than a request that nobody finishes. */
function limitTaking(response: ServerResponse, ms: number): void {
  if (response.closed) return;
  const timer = setTimeout(() => response.req.socket.destroy(), ms);
  response.once("close", () => clearTimeout(timer));
}

async function listen(server: Server, port: number, home: string): Promise<number> {
  const opened = Promise.withResolvers<void>();
  server.once("error", opened.reject);
  server.listen({ host: HOST, port }, opened.resolve);
  try {
    await opened.promise;
  } catch (error) {
    throw await listenFailed(error, port, home);
  }
  server.off("error", opened.reject);
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function listenFailed(error: unknown, port: number, home: string): Promise<HoldfastError> {
  const code = systemErrorCode(error);
  const running = code === "EADDRINUSE" ? await findGateway(home) : undefined;
  if (running?.port === port) return alreadyRunning(running);
  if (code === "EADDRINUSE") {
    return new HoldfastError("conflict", "port-in-use", `Another program listens on ${HOST}:${port}`, {
      hint: "Give another port with --port (0 for any free one), or set gateway.port in the configuration.",
      data: { port },
      cause: error,
    });
  }
  return new HoldfastError("unavailable", "listen-failed", `Cannot listen on ${HOST}:${port}: ${code ?? "unknown"}`, {
    hint: "Ports below 1024 need rights; give another one with --port, or set gateway.port.",
    data: { port },
    cause: error,
  });
}

/** `running` is undefined when it has ended since. */
export function alreadyRunning(running: RunningGateway | undefined): HoldfastError {
  const place = running === undefined ? "" : ` at ${running.url} (process ${running.process.pid})`;
  return new HoldfastError("conflict", "gateway-running", `A gateway of this home runs already${place}`, {
    hint: "Use that one, or end it with `holdfast gateway stop`.",
    ...(running === undefined ? {} : { data: { url: running.url, pid: running.process.pid } }),
  });
}

interface Closing {
  core: GatewayCore;
  server: Server;
  sockets: WsServer;
  until: Promise<unknown> | undefined;
}

async function closeGateway({ core, server, sockets, until }: Closing): Promise<void> {
  core.isClosing = true;
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  sockets.tell({ type: "gateway.closing", reason: "the gateway stops" });
  await until?.catch(() => undefined);
  await within(Promise.allSettled(core.underWay), ANSWER_GRACE_MS);
  // An answer is sent a moment after its call has ended.
  await new Promise((resolve) => setImmediate(resolve));
  sockets.close("the gateway stops");
  server.closeIdleConnections();
  await within(closed, ANSWER_GRACE_MS);
  server.closeAllConnections();
  await closed;
}

async function within(task: Promise<unknown>, ms: number): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  await Promise.race([task, over.promise]);
  clearTimeout(timer);
}
