/** The first requests of a connection, checked by hand: they must not cost a stranger's gateway the method table. */
import { HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { NONCE } from "../rpc/challenge.ts";
import { type ConnectParams, PERMISSIONS, PROTOCOL_VERSION } from "../rpc/frames.ts";

/** The question that a client may ask before it shows the token. */
export function readNonce(nonce: unknown): string {
  if (typeof nonce === "string" && NONCE.test(nonce)) return nonce;
  throw new HoldfastError("usage", "invalid-params", "invalid challenge params: nonce is 32 to 128 hex digits", {
    hint: "Send random ones.",
  });
}

export function readConnect(params: unknown): ConnectParams {
  if (!isRecord(params)) throw invalidConnect("params are missing");
  const { minProtocol, maxProtocol, token, client, permission: wanted } = params;
  if (!isVersion(minProtocol) || !isVersion(maxProtocol))
    throw invalidConnect("minProtocol and maxProtocol are numbers");
  if (token !== undefined && typeof token !== "string") throw invalidConnect("token is text");
  if (!isRecord(client) || typeof client["name"] !== "string") throw invalidConnect("client has a name");
  const permission = PERMISSIONS.find((known) => known === wanted);
  // A word that is not known must not end up as more than was meant.
  if (wanted !== undefined && permission === undefined) throw invalidConnect(`permission is ${PERMISSIONS.join(", ")}`);
  const { name, version } = client;
  return {
    minProtocol,
    maxProtocol,
    ...(token === undefined ? {} : { token }),
    client: { name, ...(typeof version === "string" ? { version } : {}) },
    ...(permission === undefined ? {} : { permission }),
  };
}

export function agreeOnProtocol({ minProtocol, maxProtocol }: ConnectParams): number {
  if (minProtocol <= PROTOCOL_VERSION && PROTOCOL_VERSION <= maxProtocol) return PROTOCOL_VERSION;
  throw new HoldfastError(
    "unsupported",
    "protocol-mismatch",
    `This gateway speaks version ${PROTOCOL_VERSION}, the client ${minProtocol} to ${maxProtocol}`,
    { hint: "Use the client that came with this version of Holdfast.", data: { protocol: PROTOCOL_VERSION } },
  );
}

function isVersion(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

function invalidConnect(rule: string): HoldfastError {
  return new HoldfastError("usage", "invalid-params", `invalid connect params: ${rule}`, {
    hint: "Send minProtocol, maxProtocol, token and client.",
  });
}
