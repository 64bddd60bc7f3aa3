/** Connects commands to the running gateway of a home, with the token from its file. */
import { HoldfastError } from "../base/errors.ts";
import { packageVersion } from "../base/package.ts";
import { gatewayLayout } from "../config/layout.ts";
import { type RpcClient, connectRpc } from "../rpc/client.ts";
import { type RunningGateway, findGateway } from "./runtime-file.ts";
import { readToken } from "./token-file.ts";

export interface GatewayAccess extends RunningGateway {
  token: string;
}

/** Undefined if no gateway runs on this machine. */
export async function findGatewayAccess(home: string): Promise<GatewayAccess | undefined> {
  const running = await findGateway(home);
  const token = running && (await readToken(gatewayLayout(home).tokenFile));
  return running && token !== undefined ? { ...running, token } : undefined;
}

/** Fails with `gateway-not-running` (unavailable). */
export async function requireGateway(home: string): Promise<GatewayAccess> {
  const access = await findGatewayAccess(home);
  if (access !== undefined) return access;
  throw new HoldfastError("unavailable", "gateway-not-running", "No gateway is running for this home", {
    hint: "Start one with `holdfast gateway`.",
    data: { home },
  });
}

export async function connectToGateway(options: { home: string; name?: string | undefined }): Promise<RpcClient> {
  const { home, name = "cli" } = options;
  const { url, token } = await requireGateway(home);
  return await connectRpc({ url, token, client: { name, version: packageVersion() } });
}
