/**
 * Who may speak to the gateway. It listens on the loopback interface, and yet everything can knock there:
 * other users of the machine, every page that the owner's browser shows, names that resolve to 127.0.0.1.
 *
 * - `Host` must name this gateway: a foreign name is DNS rebinding.
 * - `Origin` must be absent or this gateway's: anything else is a page of another site.
 * - The token must be right. It is compared by hashes of one length in constant time.
 */
import type { IncomingMessage } from "node:http";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError } from "../base/errors.ts";

export type HeaderReader = (name: string) => string | undefined;

/** As they came, all of them: of a header that is there twice, whoever stands between may have read the other one. */
export function headersOf(request: IncomingMessage): HeaderReader {
  return (name) => request.headersDistinct[name]?.join(", ");
}

export function checkHost(header: HeaderReader, port: number): void {
  if (ownHosts(port).has((header("host") ?? "").toLowerCase())) return;
  throw new HoldfastError("forbidden", "host-refused", "The request names another host than this gateway", {
    hint: `Use http://127.0.0.1:${port}.`,
  });
}

export function checkOrigin(header: HeaderReader, port: number): void {
  const origin = header("origin");
  const isOwn = origin === undefined || (origin.startsWith("http://") && ownHosts(port).has(origin.slice(7)));
  const site = header("sec-fetch-site");
  if (isOwn && (site === undefined || site === "same-origin" || site === "none")) return;
  throw new HoldfastError("forbidden", "origin-refused", "The request comes from a page of another site", {
    hint: `Only the gateway's own page at http://127.0.0.1:${port} and programs without an origin may ask.`,
  });
}

/** For what everybody may see: other sites may link to it, but neither embed it nor ask for it in a loop. */
export function checkVisitor(header: HeaderReader): void {
  const site = header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  if (header("sec-fetch-mode") === "navigate" && header("sec-fetch-dest") === "document") return;
  throw new HoldfastError("forbidden", "origin-refused", "The request comes from a page of another site", {
    hint: "Open the gateway's page itself.",
  });
}

/** For what no page has any reason to send. */
export function refuseOrigin(header: HeaderReader): void {
  if (header("origin") === undefined && header("sec-fetch-site") === undefined) return;
  throw new HoldfastError("forbidden", "origin-refused", "No page may ask for this", { hint: "Use a program." });
}

/** Not `[::1]`: nothing of ours listens there, and what does is somebody else's. */
function ownHosts(port: number): Set<string> {
  const names = ["127.0.0.1", "localhost"];
  return new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]));
}

export interface TokenCheck {
  matches: (given: string | undefined) => boolean;
}

export function createTokenCheck(token: string): TokenCheck {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return { matches: (given) => timingSafeEqual(digest(given ?? ""), expected) };
}

/** From `Authorization: Bearer …` alone: a token in an address would end up in logs and histories. */
export function bearerToken(header: HeaderReader): string | undefined {
  return /^Bearer ([\w-]{1,512})$/i.exec(header("authorization")?.trim() ?? "")?.[1];
}

export function tokenRefused(given: string | undefined): HoldfastError {
  return new HoldfastError(
    "forbidden",
    given === undefined ? "token-missing" : "token-wrong",
    given === undefined ? "The gateway's token is missing" : "The token is not the gateway's",
    {
      hint: "It is in gateway.token under $HOLDFAST_HOME; `holdfast gateway link` prints the link with it for the page.",
    },
  );
}

export function tooManyRequests(retryAfterMs: number): HoldfastError {
  return new HoldfastError("unavailable", "rate-limited", "Too many requests", {
    hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s, or raise gateway.requestsPerMinute.`,
    data: { retryAfterMs },
  });
}
