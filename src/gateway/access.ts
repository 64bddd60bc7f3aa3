/**
 * Who may call the gateway. The loopback interface is open to other users of the machine, to every page in
 * the owner's browser, and to names that resolve to 127.0.0.1. Therefore:
 *
 * - `Host` must name this gateway: another name is DNS rebinding.
 * - `Origin` must be absent or this gateway's: anything else is a page of another site.
 * - The token must be right. Hashes of it are compared in constant time.
 */
import type { IncomingMessage } from "node:http";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError } from "../base/errors.ts";
import { clientText } from "../rpc/protocol.ts";

export type HeaderReader = (name: string) => string | undefined;

/** Joins repeated headers: a proxy may have used a different one than we would. */
export function headersOf(request: IncomingMessage): HeaderReader {
  return (name) => request.headersDistinct[name]?.join(", ");
}

export function checkHost(header: HeaderReader, port: number): void {
  if (ownHosts(port).has((header("host") ?? "").toLowerCase())) return;
  throw new HoldfastError("forbidden", "host-refused", "The Host header does not name this gateway", {
    hint: `Use http://127.0.0.1:${port}.`,
  });
}

export function checkOrigin(header: HeaderReader, port: number): void {
  const origin = header("origin");
  const isOwn = origin === undefined || (origin.startsWith("http://") && ownHosts(port).has(origin.slice(7)));
  const site = header("sec-fetch-site");
  if (isOwn && (site === undefined || site === "same-origin" || site === "none")) return;
  throw otherSite(
    `Only the gateway's page at http://127.0.0.1:${port} and programs without an Origin header may call.`,
  );
}

/** For public files: other sites may link to them, but neither embed nor fetch them. */
export function checkVisitor(header: HeaderReader): void {
  const site = header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  if (header("sec-fetch-mode") === "navigate" && header("sec-fetch-dest") === "document") return;
  throw otherSite("Open the gateway's page itself.");
}

function otherSite(hint: string): HoldfastError {
  return new HoldfastError("forbidden", "origin-refused", "The request comes from another site", { hint });
}

/** For requests that no page has a reason to send. */
export function refuseOrigin(header: HeaderReader): void {
  if (header("origin") === undefined && header("sec-fetch-site") === undefined) return;
  throw new HoldfastError("forbidden", "origin-refused", "Web pages may not use this address", {
    hint: "Only programs may.",
  });
}

/** Not `[::1]`: the gateway does not listen there. */
function ownHosts(port: number): Set<string> {
  const names = ["127.0.0.1", "localhost"];
  return new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]));
}

/** How long a mark is valid; allows for clock skew. */
const MARK_MS = 60_000;

export function createTokenCheck(token: string) {
  const { createHash, createHmac, timingSafeEqual } = nodeCrypto();
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return {
    matches: (given: string | undefined) => timingSafeEqual(digest(given ?? ""), expected),
    matchesMark: (mark: string | undefined, port: number) => {
      const [, at, signed] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(mark ?? "") ?? [];
      if (at === undefined || signed === undefined || Math.abs(Date.now() - Number(at)) > MARK_MS) return false;
      const own = createHmac("sha256", token)
        .update(clientText(port, Number(at)))
        .digest("hex");
      return timingSafeEqual(digest(signed), digest(own));
    },
  };
}

/** Only from `Authorization: Bearer …`: a token in a URL would end up in logs and histories. */
export function bearerToken(header: HeaderReader): string | undefined {
  return /^Bearer ([\w-]{1,512})$/i.exec(header("authorization")?.trim() ?? "")?.[1];
}

export function tokenRefused(given: string | undefined): HoldfastError {
  const hint =
    "The token is in $HOLDFAST_HOME/gateway.token; `holdfast gateway link` prints a link to the page with it.";
  if (given === undefined) return new HoldfastError("forbidden", "token-missing", "No token given", { hint });
  return new HoldfastError("forbidden", "token-wrong", "Wrong token for this gateway", { hint });
}

export function tooManyRequests(retryAfterMs: number): HoldfastError {
  return new HoldfastError("unavailable", "rate-limited", "Too many requests", {
    hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s, or raise gateway.requestsPerMinute.`,
    data: { retryAfterMs },
  });
}
