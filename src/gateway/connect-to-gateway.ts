/** For commands: the gateway of a home, found, with the token from its file. */
import { HoldfastError } from "../base/errors.ts";
import { packageVersion } from "../base/package.ts";
import { gatewayLayout } from "../config/layout.ts";
import { type RpcCaller, type RpcClient, connectRpc, createHttpCaller } from "../rpc/client.ts";
import { type RunningGateway, findGateway } from "./runtime-file.ts";
import { readToken } from "./token-file.ts";

export interface GatewayAccess extends RunningGateway {
  token: string;
}

/** Refused with kind `unavailable`, code `gateway-not-running`, when there is none. */
export async function requireGateway(home: string): Promise<GatewayAccess> {
  const running = await findGateway(home);
  const token = running === undefined ? undefined : await readToken(gatewayLayout(home).tokenFile);
  if (running !== undefined && token !== undefined) return { ...running, token };
  throw new HoldfastError("unavailable", "gateway-not-running", "No gateway runs for this home", {
    hint: "Start one with `holdfast gateway`.",
    data: { home },
  });
}

export async function connectToGateway({ home, name = "cli" }: { home: string; name?: string }): Promise<RpcClient> {
  const { url, token } = await requireGateway(home);
  return await connectRpc({ url, token, client: { name, version: packageVersion() } });
}

/** For one call without events. */
export async function gatewayCaller({ home }: { home: string }): Promise<RpcCaller> {
  return createHttpCaller(await requireGateway(home));
}
