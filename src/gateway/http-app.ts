/**
 * The HTTP side. Every route names its checks in order; a route that is not listed does not exist. There
 * are no CORS headers anywhere: no other site may read an answer.
 */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HoldfastError } from "../base/errors.ts";
import {
  bearerToken,
  checkHost,
  checkOrigin,
  checkVisitor,
  headersOf,
  refuseOrigin,
  tooManyRequests,
} from "./access.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import type { GatewayCore } from "./gateway-core.ts";
import { httpStatusOf, outgoingError } from "./outgoing-error.ts";
import { type StaticFiles, securityHeaders } from "./static-files.ts";
import { findTelegramAccount } from "./webhooks.ts";
import { readNonce } from "./ws-connect.ts";

interface Env {
  Bindings: HttpBindings;
}

type Ctx = Context<Env>;

export function createHttpApp(core: GatewayCore, pages: StaticFiles | undefined): Hono<Env> {
  const app = new Hono<Env>();
  const limitBody = bodyLimit({
    maxSize: core.limits.maxBodyBytes,
    onError: () => {
      throw bodyTooLarge(core.limits.maxBodyBytes);
    },
  });

  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders(core.port))) c.header(name, value);
  });
  app.onError((error, c) => answerError(error, core, c));

  app.get("/health", (c) => {
    admitVisitor(core, c);
    return c.json({ ok: !core.isClosing });
  });

  // Counts against nobody: strangers who ask would use up what the owner's programs need.
  app.get("/challenge", async (c) => {
    const header = headersOf(c.env.incoming);
    checkHost(header, core.port);
    checkOrigin(header, core.port);
    return c.json({ ok: true, payload: { proof: await core.prove(readNonce(c.req.query("nonce"))) } });
  });

  app.use("/rpc/*", async (c, next) => {
    const header = headersOf(c.env.incoming);
    checkHost(header, core.port);
    checkOrigin(header, core.port);
    core.checkToken(bearerToken(header), addressOf(c));
    takeShare(core, `owner:${addressOf(c)}`);
    await next();
  });
  app.post("/rpc/:method", limitBody, async (c) => {
    const params = await readParams(c);
    const payload = await core.call(c.req.param("method"), params, { permission: "admin", signal: c.req.raw.signal });
    return c.json({ ok: true, payload });
  });

  // Telegram comes through a tunnel or a proxy under a public name, and brings a secret of its own. Behind
  // that name everybody has one address: who has no secret uses up nothing and is not listened to.
  app.use("/webhooks/*", async (c, next) => {
    refuseOrigin(headersOf(c.env.incoming));
    await next();
  });
  app.post("/webhooks/telegram/:account", limitBody, async (c) => {
    const channel = findTelegramAccount(core.parts.channels, c.req.param("account"));
    if (channel === undefined) return c.body(null, 404);
    const secretToken = headersOf(c.env.incoming)("x-telegram-bot-api-secret-token");
    if (!channel.knowsSecret(secretToken)) return c.body(null, 401);
    takeShare(core, `webhook:${addressOf(c)}`);
    const { status } = await channel.handleWebhook({ secretToken, body: await readBody(c) });
    return c.body(null, status);
  });

  app.get("*", async (c) => {
    admitVisitor(core, c);
    const file = await pages?.read(decodedPath(c));
    if (file !== undefined) return c.body(file.content, 200, file.headers);
    throw notFound(c.req.path === "/" ? "The page was not built" : "There is nothing at this address");
  });
  app.notFound((c) => answerError(notFound("There is nothing at this address"), core, c));
  return app;
}

/** Refused requests do not count: a page of another site cannot use up the share of the owner's browser. */
function admitVisitor(core: GatewayCore, c: Ctx): void {
  const header = headersOf(c.env.incoming);
  checkHost(header, core.port);
  checkVisitor(header);
  takeShare(core, `visitor:${addressOf(c)}`);
}

function takeShare(core: GatewayCore, client: string): void {
  const wait = core.requests.take(client);
  if (wait !== undefined) throw tooManyRequests(wait);
}

async function readParams(c: Ctx): Promise<unknown> {
  const type = c.req.header("content-type") ?? "";
  // A form could send anything else across sites without asking first.
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new HoldfastError("usage", "content-type", "A call is JSON", {
      hint: "Send the header Content-Type: application/json.",
    });
  }
  const text = await readBody(c);
  return text.trim() === "" ? {} : parseBoundedJson(text);
}

async function readBody(c: Ctx): Promise<string> {
  try {
    return await c.req.text();
  } catch (error) {
    // Whoever hangs up in the middle has made no mistake of ours: nothing for the log.
    if (!c.env.incoming.destroyed) throw error;
    throw new HoldfastError("interrupted", "request-broken-off", "The request broke off before its end", {
      hint: "Send it again.",
      cause: error,
    });
  }
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
      // What is left of a body that was refused must not be taken for the next request.
      ...(status === 413 ? { Connection: "close" } : {}),
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

function bodyTooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "body-too-large", `A request may have ${maxBytes} bytes at most`, {
    hint: "Send less, or raise gateway.maxBodyBytes in the configuration.",
    data: { maxBytes },
  });
}

function notFound(message: string): HoldfastError {
  return new HoldfastError("not-found", "no-such-address", message, {
    hint: "Methods are at POST /rpc/<method>; the page is at /.",
  });
}
