/**
 * HTTP routes. Every route lists its checks in order. There are no CORS headers: no other site may read an
 * answer.
 */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import type { Channel } from "../channels/channel.ts";
import type { TelegramChannel } from "../channels/telegram/channel.ts";
import { STOPPING } from "../rpc/check-health.ts";
import {
  bearerToken,
  checkHost,
  checkOrigin,
  checkVisitor,
  headersOf,
  refuseOrigin,
  tooManyRequests,
} from "./access.ts";
import type { GatewayCore } from "./gateway-core.ts";
import { httpStatusOf, outgoingError, checkAnnouncedLength, readBody, parseBoundedJson } from "./request-body.ts";
import { readNonce } from "./ws-server.ts";
import { readFile, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { lazy } from "../base/async.ts";

interface Env {
  Bindings: HttpBindings;
}

type Ctx = Context<Env>;

export function createHttpApp(core: GatewayCore, pages: StaticFiles | undefined): Hono<Env> {
  const app = new Hono<Env>();
  const { maxBodyBytes } = core.limits;

  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders(core.port))) c.header(name, value);
  });
  app.onError((error, c) => answerError(error, core, c));

  // Needs no token, so a problem is described without names.
  app.get("/health", async (c) => {
    checkVisit(core, c);
    takeHealthShare(core, c);
    const { problems } = core.isClosing ? { problems: [STOPPING] } : await core.health();
    const [first] = problems;
    return first === undefined ? c.json({ ok: true }) : c.json({ ok: false, reason: first.summary }, 503);
  });

  // Not rate-limited: strangers could use up the share of the owner's programs.
  app.get("/challenge", async (c) => {
    const header = headersOf(c.env.incoming);
    checkHost(header, core.port);
    checkOrigin(header, core.port);
    core.checkMark(c.req.query("client"), c.env.incoming.socket);
    return c.json({ ok: true, payload: { proof: await core.prove(readNonce(c.req.query("nonce"))) } });
  });

  const checkOwner: MiddlewareHandler<Env> = async (c, next) => {
    const header = headersOf(c.env.incoming);
    checkHost(header, core.port);
    checkOrigin(header, core.port);
    core.checkToken(bearerToken(header), c.env.incoming.socket);
    takeShare(core, `owner:${addressOf(c)}`);
    await next();
  };
  app.use("/rpc/*", checkOwner);
  app.get("/metrics", checkOwner, async (c) => {
    const { renderMetrics } = await import("./metrics.ts");
    return c.body(await renderMetrics(core.parts), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  app.post("/rpc/:method", async (c) => {
    const params = await readParams(c, maxBodyBytes);
    const payload = await core.call(c.req.param("method"), params, { permission: "admin", signal: c.req.raw.signal });
    return c.json({ ok: true, payload });
  });

  // Telegram calls through a tunnel or proxy under a public name, with its own secret. Everyone behind that
  // name has the same address, so a request without the secret is refused before it is counted.
  app.use("/webhooks/*", async (c, next) => {
    refuseOrigin(headersOf(c.env.incoming));
    await next();
  });
  app.post("/webhooks/telegram/:account", async (c) => {
    checkAnnouncedLength(c.env.incoming, maxBodyBytes);
    const channel = core.parts.channels.find("telegram", c.req.param("account"))?.channel;
    if (!isTelegram(channel)) return c.body(null, 404);
    const secretToken = headersOf(c.env.incoming)("x-telegram-bot-api-secret-token");
    if (!channel.knowsSecret(secretToken)) return c.body(null, 401);
    core.connections.trust(c.env.incoming.socket);
    takeShare(core, `webhook:${addressOf(c)}`);
    const body = await readBody(c.env.incoming, maxBodyBytes);
    const { status } = await channel.handleWebhook({ secretToken, body });
    return c.body(null, status);
  });

  app.get("*", async (c) => {
    // Not rate-limited: the owner's browser has no token yet, and a flood would use up its share.
    checkVisit(core, c);
    const file = await pages?.read(decodedPath(c));
    if (file !== undefined) return c.body(file.content, 200, file.headers);
    throw notFound(c.req.path === "/" ? "The page was not built" : "Nothing at this address");
  });
  app.notFound((c) => answerError(notFound("Nothing at this address"), core, c));
  return app;
}

function checkVisit(core: GatewayCore, c: Ctx): void {
  const header = headersOf(c.env.incoming);
  checkHost(header, core.port);
  checkVisitor(header);
}

/** The token is optional; a request with it is counted separately from strangers. */
function takeHealthShare(core: GatewayCore, c: Ctx): void {
  const token = bearerToken(headersOf(c.env.incoming));
  if (token !== undefined) core.checkToken(token, c.env.incoming.socket);
  takeShare(core, `${token === undefined ? "visitor" : "owner"}:${addressOf(c)}`);
}

function takeShare(core: GatewayCore, client: string): void {
  const wait = core.requests.take(client);
  if (wait !== undefined) throw tooManyRequests(wait);
}

async function readParams(c: Ctx, maxBytes: number): Promise<unknown> {
  const type = c.req.header("content-type") ?? "";
  // A form on another site can send any other type without a preflight.
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new HoldfastError("usage", "content-type", "A call must be JSON", {
      hint: "Send the header Content-Type: application/json.",
    });
  }
  const text = await readBody(c.env.incoming, maxBytes);
  return text.trim() === "" ? {} : parseBoundedJson(text);
}

function answerError(error: unknown, core: GatewayCore, c: Ctx): Response {
  const report = outgoingError(error, core.logger, `${c.req.method} ${c.req.path.slice(0, MAX_LOGGED_PATH)}`);
  const status = httpStatusOf(error);
  const retryAfterMs = error instanceof HoldfastError ? error.data["retryAfterMs"] : undefined;
  return new Response(JSON.stringify({ ok: false, error: report }), {
    status,
    headers: {
      ...securityHeaders(core.port),
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
      ...(status === 429 && typeof retryAfterMs === "number"
        ? { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) }
        : {}),
    },
  });
}

const MAX_LOGGED_PATH = 100;

function addressOf(c: Ctx): string {
  return c.env.incoming.socket.remoteAddress ?? "unknown";
}

function decodedPath(c: Ctx): string {
  try {
    return decodeURIComponent(new URL(c.req.url).pathname);
  } catch {
    return "";
  }
}

function notFound(message: string): HoldfastError {
  return new HoldfastError("not-found", "no-such-address", message, {
    hint: "Methods are at POST /rpc/<method>; the page is at /.",
  });
}

function isTelegram(channel: Channel | undefined): channel is TelegramChannel {
  return channel !== undefined && "handleWebhook" in channel;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
};

const INDEX = "/index.html";

type StaticFiles = ReturnType<typeof createStaticFiles>;

export function createStaticFiles(root: string) {
  const files = lazy(async () => await listFiles(root));
  return {
    read: async (path: string) => {
      const name = path === "/" ? INDEX : path;
      // Serves a rebuilt page from the next visit on.
      if (name === INDEX) files.clear();
      if (!(await files.get()).has(name)) return undefined;
      const content = await readUnlessGone(join(root, name));
      return content === undefined ? undefined : { content, headers: cacheHeaders(name) };
    },
  };
}

/** Regular files only: a link could lead outside. */
async function listFiles(root: string): Promise<Set<string>> {
  const items = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw fileError(error, "read folder", root);
  });
  const files = items.filter((item) => item.isFile() && TYPES[extname(item.name)] !== undefined);
  return new Set(files.map(({ parentPath, name }) => join(parentPath, name).slice(root.length)));
}

async function readUnlessGone(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

function cacheHeaders(name: string): Record<string, string> {
  // Names of assets contain a hash of their content.
  const isHashed = name.startsWith("/assets/");
  return {
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : name === INDEX ? "no-store" : "no-cache",
  };
}

/** For every answer: no foreign resources, no frames, no guessed types. */
function securityHeaders(port: number): Record<string, string> {
  const own = ["127.0.0.1", "localhost"].map((host) => `ws://${host}:${port}`).join(" ");
  return {
    "Content-Security-Policy":
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; ` +
      `manifest-src 'self'; connect-src 'self' ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
}
