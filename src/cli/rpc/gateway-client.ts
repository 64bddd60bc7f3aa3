/**
 * The way from a command to the gateway of this home: over HTTP for what is asked once. It is found by what
 * it has written down about itself; a command that cannot do without one starts it.
 */
import { HoldfastError } from "../../base/errors.ts";
import { type GatewayAccess, requireGateway as requireAccess } from "../../gateway/connect-to-gateway.ts";
import { type RpcCaller, createHttpCaller } from "../../rpc/client.ts";
import type { Setup } from "../context.ts";

export interface GatewayHandle extends RpcCaller, GatewayAccess {
  /** Opens the page and signs in: what is behind `#` stays in the browser and reaches no log. */
  pageLink: string;
}

/** In place of the link where it could be written down: whoever has it is the owner. */
export const SIGN_IN = "`holdfast gateway link` prints the link that signs you in";

/** Refused with kind `unavailable`, code `gateway-not-running`, when there is none. */
export async function requireGateway({ home }: Pick<Setup, "home">): Promise<GatewayHandle> {
  const access = await requireAccess(home);
  const { url, token } = access;
  return { ...access, ...createHttpCaller({ url, token }), pageLink: `${url}/#token=${token}` };
}

export async function findRunningGateway(setup: Pick<Setup, "home">): Promise<GatewayHandle | undefined> {
  try {
    return await requireGateway(setup);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "gateway-not-running") return undefined;
    throw error;
  }
}

/** Starts one in the background where none runs. */
export async function ensureGateway(setup: Setup): Promise<GatewayHandle> {
  const found = await findRunningGateway(setup);
  if (found !== undefined) return found;
  const { startGatewayProcess } = await import("./start-gateway.ts");
  return await startGatewayProcess({ home: setup.home, find: async () => await findRunningGateway(setup) });
}
