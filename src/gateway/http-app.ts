/**
 * HTTP routes. Every route lists its checks in order. There are no CORS headers: no other site may read an
 * answer.
 */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { HoldfastError } from "../base/errors.ts";
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
import { httpStatusOf, outgoingError } from "./outgoing-error.ts";
import { checkAnnouncedLength, readBody, parseBoundedJson } from "./request-body.ts";
import { type StaticFiles, securityHeaders } from "./static-files.ts";
import { readNonce } from "./ws-server.ts";

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

  app.use("/rpc/*", async (c, next) => {
    const header = headersOf(c.env.incoming);
    checkHost(header, core.port);
    checkOrigin(header, core.port);
    core.checkToken(bearerToken(header), c.env.incoming.socket);
    takeShare(core, `owner:${addressOf(c)}`);
    await next();
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
  return channel?.name === "telegram" && "handleWebhook" in channel;
}
