/**
 * The gateway: HTTP and WebSocket, on the loopback interface only. It owns its connections; agents, channels
 * and the pipeline belong to the caller and outlive it.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { HoldfastError, systemErrorCode, hasCode } from "../base/errors.ts";
import { gatewayLayout } from "../config/layout.ts";
import type { RpcParts } from "../rpc/rpc-parts.ts";
import { DEFAULT_LIMITS, type GatewayCore, type GatewayLimits, createGatewayCore } from "./gateway-core.ts";
import { createHttpApp, createStaticFiles } from "./http-app.ts";
import {
  type RunningGateway,
  announceGateway,
  findGateway,
  withdrawGateway,
  watchHome,
  ensureToken,
} from "./gateway-files.ts";
import { type WsServer, attachWsServer } from "./ws-server.ts";
import { within } from "../base/async.ts";

export interface GatewayOptions {
  parts: RpcParts;
  /** Default: as configured. 0: any free port. */
  port?: number | undefined;
  /** True: takes any free port if that one is in use. Default: fails with `port-in-use` (conflict). */
  orFreePort?: boolean | undefined;
  /** Called once when the home was deleted, moved or replaced. Optional; without it the home is not watched. */
  onHomeGone?: ((reason: string) => void) | undefined;
  /** Default: from the home's token file, which is created if missing. */
  token?: string | undefined;
  webRoot?: string | undefined;
  /** True: fails with `gateway-running` (conflict) if another process runs a gateway for this home. */
  onlyOne?: boolean | undefined;
  /** Command-line options, for `gateway restart`. */
  args?: readonly string[] | undefined;
  /** Overrides for tests. */
  limits?: Partial<GatewayLimits> | undefined;
}

export interface Gateway {
  readonly url: string;
  readonly port: number;
  /** The wanted port, if another program has it and `orFreePort` chose a free one. */
  readonly takenPort: number | undefined;
  readonly token: string;
  /**
   * Refuses new connections and calls, and tells the clients. Closes them once `until` (such as the
   * pipeline's drain) has settled and running calls are answered.
   */
  close(options?: { until?: Promise<unknown> | undefined }): Promise<void>;
}

const HOST = "127.0.0.1";
const ANSWER_GRACE_MS = 1000;

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { parts } = options;
  const { home, config, logger } = parts;
  const token = options.token ?? (await ensureToken(gatewayLayout(home).tokenFile, logger));
  const { maxBodyBytes, requestsPerMinute } = config.gateway;
  const limits = { ...DEFAULT_LIMITS, maxBodyBytes, requestsPerMinute, ...options.limits };
  const core = createGatewayCore(parts, token, limits);
  const pages = options.webRoot === undefined ? undefined : createStaticFiles(options.webRoot);

  const server = createHttpServer(core, pages);
  core.freeConnections = () => server.closeIdleConnections();
  const sockets = attachWsServer(server, core);
  let takenPort: number | undefined;
  try {
    takenPort = await listenAndAnnounce(core, server, options);
  } catch (error) {
    // A gateway that listens but cannot be found would keep its process alive.
    await closeGateway(core, server, sockets);
    await withdrawGateway(home, urlOf(core)).catch(() => undefined);
    throw error;
  }
  const url = urlOf(core);
  const { onHomeGone } = options;
  const stopWatching = onHomeGone === undefined ? undefined : await watchHome(home, onHomeGone);

  let closing: Promise<void> | undefined;
  return {
    url,
    port: core.port,
    takenPort,
    token,
    close: async ({ until } = {}) => {
      stopWatching?.();
      closing ??= closeGateway(core, server, sockets, until);
      await closing;
      await withdrawGateway(home, url);
    },
  };
}

async function listenAndAnnounce(core: GatewayCore, server: Server, options: GatewayOptions) {
  const { home, config, logger, version, startedAt } = core.parts;
  const wanted = options.port ?? config.gateway.port;
  core.port = await listen(server, wanted, home).catch(async (error: unknown) => {
    const isTaken = hasCode(error, "port-in-use");
    if (isTaken && options.orFreePort === true) return await listen(server, 0, home);
    throw error;
  });
  const url = urlOf(core);
  const isAnnounced = await announceGateway(home, { url, port: core.port, version, startedAt, args: options.args });
  if (!isAnnounced && options.onlyOne === true) throw alreadyRunning(await findGateway(home));
  if (!isAnnounced) logger.warn("commands find another gateway of this home", { url });
  return wanted === 0 || core.port === wanted ? undefined : wanted;
}

function urlOf({ port }: GatewayCore): string {
  return `http://${HOST}:${port}`;
}

function createHttpServer(core: GatewayCore, pages: ReturnType<typeof createStaticFiles> | undefined): Server {
  const { requestTimeoutMs } = core.limits;
  const answer = getRequestListener(createHttpApp(core, pages).fetch, { overrideGlobalObjects: false });
  const server = createServer(
    {
      // A client that sends a byte now and then cannot keep a connection for ever.
      headersTimeout: Math.min(10_000, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(2000, requestTimeoutMs / 2),
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
    },
    (request, response) => {
      void answer(request, response).then(() => limitReading(response, requestTimeoutMs));
    },
  );
  server.on("connection", (socket) => core.connections.add(socket));
  return server;
}

/** Closes the connection of a client that does not read its answer. */
function limitReading(response: ServerResponse, ms: number): void {
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
  } finally {
    server.off("error", opened.reject).off("listening", opened.resolve);
  }
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function listenFailed(error: unknown, port: number, home: string): Promise<HoldfastError> {
  const code = systemErrorCode(error);
  const running = code === "EADDRINUSE" ? await findGateway(home) : undefined;
  if (running?.port === port) return alreadyRunning(running);
  if (code === "EADDRINUSE") {
    return new HoldfastError("conflict", "port-in-use", `Another program listens on ${HOST}:${port}`, {
      hint: "Choose another port with --port (0 for any free one), or set gateway.port in the configuration.",
      data: { port },
      cause: error,
    });
  }
  return new HoldfastError("unavailable", "listen-failed", `Cannot listen on ${HOST}:${port}: ${code ?? "unknown"}`, {
    hint: "Ports below 1024 need special rights; choose another one with --port, or set gateway.port.",
    data: { port },
    cause: error,
  });
}

/** `running` is undefined if it has ended meanwhile. */
export function alreadyRunning(running: RunningGateway | undefined): HoldfastError {
  const place = running === undefined ? "" : ` at ${running.url} (process ${running.process.pid})`;
  return new HoldfastError("conflict", "gateway-running", `A gateway of this home is already running${place}`, {
    hint: "Use that one, or stop it with `holdfast gateway stop`.",
    data: running === undefined ? undefined : { url: running.url, pid: running.process.pid },
  });
}

async function closeGateway(core: GatewayCore, server: Server, sockets: WsServer, until?: Promise<unknown>) {
  core.isClosing = true;
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  sockets.send({ type: "gateway.closing", reason: "the gateway is stopping" });
  await until?.catch(() => undefined);
  await within(ANSWER_GRACE_MS, Promise.allSettled(core.calls));
  // An answer is sent a moment after its call has ended.
  await new Promise((resolve) => setImmediate(resolve));
  sockets.close("the gateway is stopping");
  server.closeIdleConnections();
  await within(ANSWER_GRACE_MS, closed);
  server.closeAllConnections();
  await closed;
}
